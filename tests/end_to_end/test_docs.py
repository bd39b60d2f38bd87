"""The documentation: it builds without a warning, and what it says of commands is so."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

import isochrone as package
from beds.command_line import Command
from beds.mpis import PATIENCE, ROOT
from beds.pages import DOCS, command_lines, written
from browser import program
from isochrone.base import registry
from isochrone.cli.main import parser

SHOWN = [ROOT / "README.md", DOCS / "index.md", DOCS / "gallery.md", *DOCS.glob("tutorials/*.md")]
"""Pages whose command lines stand for themselves: they are typed as they are."""


class Links(HTMLParser):
    """What a page points to, what it loads, and what may be pointed to in it."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.anchors: set[str] = set()
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if "id" in given:
            self.anchors.add(given["id"])
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if "src" in given:
            self.loaded.append(given["src"])
        if tag == "link" and given.get("rel") in ("stylesheet", "preload", "icon", "preconnect"):
            self.loaded.append(given["href"])


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, as `make docs` builds it."""
    folder = tmp_path_factory.mktemp("site")
    command = [
        sys.executable,
        "-m",
        "sphinx",
        "-q",
        "-W",
        "--keep-going",
        "-d",
        folder / "doctrees",
        DOCS,
        folder / "html",
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    return folder / "html"


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Links]:
    """What is in each page of the site."""
    return {path: Links(path) for path in site.rglob("*.html")}


def test_the_makefile_builds_it_as_here() -> None:
    """A warning is an error in `make docs`, too."""
    assert "sphinx -q -W --keep-going" in (ROOT / "Makefile").read_text()


def test_every_link_leads_to_a_page_and_a_place_in_it(pages: dict[Path, Links]) -> None:
    """Pages, pictures, files to download, headings; addresses elsewhere are well-formed."""
    assert len(pages) > 40
    wrong = []
    for page, found in pages.items():
        for link in [*found.links, *found.loaded]:
            parts = urlsplit(link)
            if parts.scheme:
                if parts.scheme not in ("http", "https", "mailto") or " " in link:
                    wrong.append((page.name, link))
                continue
            target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            known = pages[target].anchors if target in pages else set()
            if not target.is_file() or (parts.fragment and unquote(parts.fragment) not in known):
                wrong.append((page.name, link))
    assert wrong == []


def test_nothing_is_loaded_from_elsewhere(site: Path, pages: dict[Path, Links]) -> None:
    """No script, style, font or picture: the site is read where there is no network."""
    for page, found in pages.items():
        assert [one for one in found.loaded if urlsplit(one).netloc] == [], page.name
    for style in site.rglob("*.css"):
        assert not re.search(r"(@import|url\()\s*['\"]?(https?:)?//", style.read_text("utf-8"))


def test_every_page_is_in_the_list_beside_it(site: Path, pages: dict[Path, Links]) -> None:
    """Who opens the first page finds all others."""
    listed = {urlsplit(link).path for link in pages[site / "commands/index.html"].links}
    sources = {os.path.relpath(page, DOCS / "commands") for page in DOCS.rglob("*.md")}
    missed = {page.removesuffix(".md") for page in sources} - {
        link.removesuffix(".html") for link in listed
    }
    assert missed - {"index"} == set()


@pytest.mark.browser
def test_the_search_works_from_a_folder(site: Path, tmp_path: Path) -> None:
    """A browser refuses to fetch anything there; the index is a script."""
    done = subprocess.run(
        [
            program(),
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--virtual-time-budget=20000",
            f"--user-data-dir={tmp_path}",
            "--dump-dom",
            f"{(site / 'search.html').as_uri()}?q=aggregators",
        ],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    found = re.findall(
        r'<a href="([^"?#]*)[^"]*"[^>]*>[^<]*</a>', done.stdout.split("search-results")[1]
    )
    assert "collective-io.html" in found, done.stderr


@pytest.mark.parametrize("command", registry.names("cli.commands"))
def test_the_reference_of_a_command_has_all_its_options(
    command: str, site: Path, isochrone: Command
) -> None:
    """What `--help-all` says, of each kind of a command that has several."""
    text = (site / f"commands/{command}.html").read_text("utf-8")
    inner = f"cli.commands.{command}"
    kinds = registry.names(inner) if inner in registry.FAMILIES else [""]
    for kind in kinds:
        said = isochrone(command, *filter(None, [kind]), "--help-all").stdout
        options = set(re.findall(r"(?<![\w-])--[a-z][\w-]*(?=[\s,\]])", said))
        assert options
        assert {one for one in options if one not in text} == set()


def test_the_reference_of_python_has_all_public_names(site: Path, pages: dict[Path, Links]) -> None:
    anchors = pages[site / "python.html"].anchors
    assert {f"isochrone.{name}" for name in package.__all__} <= anchors


def test_every_view_and_every_kind_of_result_is_in_the_gallery() -> None:
    """With a picture, and the command that draws it."""
    sections = re.split(r"^## ", (DOCS / "gallery.md").read_text("utf-8"), flags=re.MULTILINE)[1:]
    shown = set()
    for section in sections:
        kind = re.search(r"\(`([\w-]+)`\)$", section, re.MULTILINE)
        assert kind, section[:60]
        for part in section.split("\n### ")[1:]:
            view = part.splitlines()[0]
            drawn = re.search(r"\(pictures/gallery/([\w-]+\.png)\)", part)
            assert drawn and f"--view {view} " in part and f"-o {drawn[1]}\n" in part, view
            picture = DOCS / "pictures/gallery" / drawn[1]
            assert picture.read_bytes().startswith(b"\x89PNG") and picture.stat().st_size < 200_000
            shown.add((view, kind[1]))
    names = registry.names("*.figures")
    kinds = {name: registry.load("*.figures", name).VIEW.kinds for name in names}
    assert {view for view, _ in shown} == set(names)
    assert {kind for _, kind in shown} == {kind for drawn in kinds.values() for kind in drawn}
    assert [(view, kind) for view, kind in shown if kind not in kinds[view]] == []


@pytest.mark.parametrize("page", SHOWN, ids=lambda page: page.stem)
def test_the_commands_that_a_page_shows_can_be_typed(
    page: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each parses; options of an experiment are known to the probe alone."""
    lines = list(command_lines(page.read_text("utf-8")))
    assert lines
    for words in lines:
        try:
            args, rest = parser().parse_known_args(words[1:])
        except SystemExit:
            pytest.fail(f"{' '.join(words)}: {capsys.readouterr().err}")
        assert args.passes_options_on or not rest, words


def slug(heading: str) -> str:
    """The name of a heading in a link, as it is made where a checkout is shown."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def test_links_between_files_of_the_checkout_lead_somewhere() -> None:
    """README.md and CONTRIBUTING.md are read there, and so are the pages."""
    wrong = []
    for page in written():
        text = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
        for link in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`]*`", "", text)):
            path, _, anchor = link.partition("#")
            if urlsplit(link).scheme:
                continue
            target = (page.parent / path).resolve() if path else page
            headings = []
            if target.suffix == ".md" and target.exists():
                headings = re.findall(r"^#+ (.*)$", target.read_text("utf-8"), re.MULTILINE)
            if not target.exists() or (anchor and anchor not in map(slug, headings)):
                wrong.append((page.name, link))
    assert wrong == []


def test_the_readme_is_short_and_begins_with_what_to_do() -> None:
    """What it is, a picture, how to install it, one command: on the first screen."""
    lines = (ROOT / "README.md").read_text("utf-8").splitlines()
    assert len(lines) <= 120
    first = "\n".join(lines[:25])
    for part in (
        "![",
        "make demo",
        "make test",
        "pip install",
        "isochrone demo",
        "isochrone measure latency-map",
    ):
        assert part in first
