"""Pages as one HTML file that needs nothing else: no network, and no script but its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

import isochrone
from isochrone.base.errors import InputError
from isochrone.base.files import whole_file
from isochrone.base.record import Record
from isochrone.base.table import grouped
from isochrone.base.text import printable
from isochrone.pages.common import kind_of, page_of, provenance
from isochrone.pages.html.findings import finding_of, in_order
from isochrone.pages.html.script import allowed_by, as_text, joined
from isochrone.pages.html.svg import drawn
from isochrone.pages.page import (
    AS_USUAL,
    Asked,
    Block,
    Later,
    LiveMap,
    Page,
    Picture,
    Section,
    Table,
    said,
)
from isochrone.runfile.run import Run

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

MAX_PAGE_TEXT = 1000
"""Characters of one text of a file; nobody reads more."""

_TEMPLATE = "page.html.j2"


class _Explored(Record):
    """A map to look into: its still picture and its data, if these are not too large."""

    picture: Picture
    data: dict[str, object] | None


class _Part(Record):
    """A heading, and below it blocks.

    The first ``shown`` blocks are seen at once, the others are folded below the heading.
    """

    id: str
    title: str
    blocks: list[Block | _Explored]
    shown: int


class _Article(Record):
    """All that is said of one run."""

    id: str
    title: str
    page: Page
    parts: list[_Part]

    @property
    def is_explored(self) -> bool:
        """Whether it has a map to look into."""
        blocks = (block for part in self.parts for block in part.blocks)
        return any(isinstance(block, _Explored) and block.data for block in blocks)


def write_report(
    runs: Sequence[Run], path: Path, asked: Asked = AS_USUAL, before: Sequence[Section] = ()
) -> None:
    """Write the report of one or several runs. The file appears whole or not at all.

    Parameters
    ----------
    runs
        What the report is of.
    path
        The HTML file.
    asked
        What the user wants to see of each.
    before
        Sections on all of them, which come first.

    Raises
    ------
    InputError
        If there is no run, jinja2 or matplotlib is not installed, or the file cannot be written.
    """
    if not runs:
        raise InputError("no run is given", hint="give at least one run file")
    runs = in_order(runs)
    together = _together(runs)
    pages = [page_of(run, asked) for run in runs]
    titles = [page.title for page in pages]
    titles = [  # those that are equal get the names of their files
        f"{title} ({run.path.name})" if run.path and titles.count(title) > 1 else title
        for run, title in zip(runs, titles, strict=True)
    ]
    shared = [section for sections in together.values() for section in sections]
    articles = []
    for number, (run, page, title) in enumerate(zip(runs, pages, titles, strict=True), 1):
        single = run.kind not in together
        sections = [section for section in page.sections if single or not section.alone]
        parts = _parts([*sections, provenance(run)], f"run-{number}", title)
        articles.append(_Article(f"run-{number}", title, page, parts))
    several = len(articles) > 1
    _write(
        path,
        title=f"{len(articles)} measurements" if several else articles[0].page.title,
        findings=[finding_of(article.page, article.id, article.title) for article in articles]
        if several
        else [],
        before=_parts(before, "before", ""),
        together=_parts(shared, "together", ""),
        articles=articles,
    )


# --- what is said ---------------------------------------------------------------------------------


def _together(runs: Sequence[Run]) -> dict[str, Sequence[Section]]:
    """Return what is said of several runs of one kind, by kind."""
    by_kind = {}
    for kind, members in grouped((kind_of(run), run) for run in runs).items():
        sections = kind.together(members) if kind is not None and len(members) > 1 else ()
        if sections:
            by_kind[members[0].kind] = sections
    return by_kind


def _parts(sections: Sequence[Section], name: str, called: str) -> list[_Part]:
    """Put the blocks of sections with the same title together; leave out what is not for us.

    The first part is shown, and the first picture with what is above it; all else is folded.
    """
    blocks: dict[str, list[Block | _Explored]] = {}
    for section in sections:
        if said(section, "report"):
            blocks.setdefault(section.title, []).extend(_blocks(section, called))
    parts: list[_Part] = []
    no_picture = True
    for number, (title, part_blocks) in enumerate(blocks.items(), start=1):
        pictures = [
            k for k, block in enumerate(part_blocks, 1) if isinstance(block, Picture | _Explored)
        ]
        unfolded = 0 if parts or len(pictures) > 1 else len(part_blocks)
        if pictures and no_picture:
            unfolded, no_picture = max(unfolded, pictures[0]), False
        if part_blocks:
            parts.append(_Part(f"{name}-{number}", title, part_blocks, unfolded))
    return parts


def _blocks(section: Section, called: str) -> Iterator[Block | _Explored]:
    for block in section.blocks:
        if isinstance(block, Later):
            yield from block.make()
        elif isinstance(block, LiveMap):
            yield _Explored(block.picture, block.data(called))
        elif said(block, "report"):
            yield block.on("report") if isinstance(block, Table) else block


# --- how it is written ----------------------------------------------------------------------------


def _environment() -> Environment:
    """Return a template engine that escapes every text, and takes control characters out of it."""
    try:
        from jinja2 import DictLoader, Environment, StrictUndefined
        from markupsafe import Markup
    except ImportError as error:
        raise InputError(
            "reports need the package jinja2",
            hint="try: pip install matplotlib pillow jinja2",
        ) from error

    def clean(value: object) -> object:
        """Leave alone only what is markup already."""
        if isinstance(value, str) and not isinstance(value, Markup):
            return printable(value, MAX_PAGE_TEXT)
        return value

    def picture(block: Picture, prefix: str) -> Markup:
        return Markup(drawn(block, prefix))

    environment = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        finalize=clean,
        trim_blocks=True,
        lstrip_blocks=True,
        loader=DictLoader({_TEMPLATE: _resource(_TEMPLATE)}),
    )
    environment.filters |= {
        "trusted": Markup,
        "picture": picture,
        "capital": _capital,
        "pieces": _pieces,
        "lines": _lines,
        "data": lambda data: Markup(as_text(data)),
        "allowed": lambda script: Markup(allowed_by(script)),
        "macro": lambda block: type(block).__name__.lower().strip("_"),
    }
    return environment


def _capital(text: str) -> str:
    """Write the first letter as at the beginning of a sentence."""
    text = text.lstrip()
    return text[:1].upper() + text[1:]


def _pieces(text: str, stress: Sequence[str]) -> list[tuple[str, bool]]:
    """Cut a text into pieces, each with whether it is stressed."""
    pieces = []
    for phrase in stress:
        before, hit, after = text.partition(phrase)
        if hit:
            pieces += [(before, False), (hit, True)]
            text = after
    return [(piece, stressed) for piece, stressed in [*pieces, (text, False)] if piece]


def _lines(text: str, stress: Sequence[str]) -> list[list[tuple[str, bool]]]:
    """Cut a text into its lines, each into pieces as `_pieces` does."""
    lines: list[list[tuple[str, bool]]] = [[]]
    for piece, stressed in _pieces(text, stress):
        first, *others = piece.split("\n")
        lines[-1].append((first, stressed))
        lines += [[(line, stressed)] for line in others]
    return lines


def _resource(name: str) -> str:
    return (resources.files("isochrone.pages.html") / name).read_text("utf-8")


def write_page(page: Page, path: Path) -> None:
    """Write a page that is of no single run. The file appears whole or not at all.

    Raises
    ------
    InputError
        If jinja2 or matplotlib is not installed, or the file cannot be written.
    """
    article = _Article("run-1", page.title, page, _parts(page.sections, "run-1", page.title))
    _write(path, title=page.title, findings=[], before=[], together=[], articles=[article])


def _write(path: Path, *, articles: Sequence[_Article], **context: object) -> None:
    """Write a page of articles; what comes before them is in the other parts."""
    text = (
        _environment()
        .get_template(_TEMPLATE)
        .render(
            articles=articles,
            several=len(articles) > 1,
            style=_resource("style.css"),
            script=joined() if any(article.is_explored for article in articles) else "",
            version=isochrone.__version__,
            **context,
        )
    )
    with whole_file(path) as stream:
        stream.write(text.encode())
