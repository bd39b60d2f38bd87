"""Pages as one HTML file that needs nothing else: no network, no script."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Final

import isochrone
from isochrone.base.errors import InputError
from isochrone.base.files import whole_file
from isochrone.base.text import printable
from isochrone.pages.common import kind_of, page_of, provenance
from isochrone.pages.html.svg import drawn
from isochrone.pages.model import fitted
from isochrone.pages.page import AS_USUAL, Asked, Block, Fit, Page, Picture, Section, Table, said
from isochrone.runfile.run import Run

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

__all__ = ["write_report"]

LONGEST: Final = 1000
"""Characters of one text of a file; nobody reads more."""

_TEMPLATE: Final = "page.html.j2"


@dataclass(frozen=True)
class _Part:
    """A heading, and below it blocks with the names of the macros that render them."""

    id: str
    title: str
    blocks: list[tuple[str, Block]]


@dataclass(frozen=True)
class _Article:
    """All that is said of one run."""

    id: str
    page: Page
    parts: list[_Part]


def write_report(runs: Sequence[Run], path: Path, asked: Asked = AS_USUAL) -> None:
    """Write the report of one or several runs. The file appears whole or not at all.

    Raises
    ------
    InputError
        If there is no run, jinja2 or matplotlib is not installed, or the file cannot be written.
    """
    if not runs:
        raise InputError("no run to report", hint="name at least one run file")
    environment = _environment()
    together = _together(runs)
    shared = [section for sections in together.values() for section in sections]
    articles = [
        _article(run, f"run-{number}", asked, alone=run.kind not in together)
        for number, run in enumerate(runs, start=1)
    ]
    several = len(articles) > 1
    text = environment.get_template(_TEMPLATE).render(
        title=f"{len(articles)} measurements" if several else articles[0].page.title,
        together=_parts(shared, "together"),
        articles=articles,
        several=several,
        style=_resource("style.css"),
        version=isochrone.__version__,
    )
    with whole_file(path) as stream:
        stream.write(text.encode())


# --- what is said ---------------------------------------------------------------------------------


def _together(runs: Sequence[Run]) -> dict[str, Sequence[Section]]:
    """Return what is said of several runs of one kind, by kind."""
    groups: dict[str, list[Run]] = {}
    for run in runs:
        groups.setdefault(run.kind, []).append(run)
    found = {}
    for name, members in groups.items():
        kind = kind_of(members[0])
        sections = kind.together(members) if kind is not None and len(members) > 1 else ()
        if sections:
            found[name] = sections
    return found


def _article(run: Run, name: str, asked: Asked, *, alone: bool) -> _Article:
    page = page_of(run, asked)
    sections = [section for section in page.sections if alone or not section.alone]
    return _Article(name, page, _parts([*sections, provenance(run)], name))


def _parts(sections: Sequence[Section], name: str) -> list[_Part]:
    """Put the blocks of sections with the same title together; leave out what is not for us."""
    blocks: dict[str, list[tuple[str, Block]]] = {}
    for section in sections:
        if said(section, "report"):
            found = [(type(block).__name__.lower(), block) for block in _blocks(section)]
            blocks.setdefault(section.title, []).extend(found)
    return [
        _Part(f"{name}-{number}", title, found)
        for number, (title, found) in enumerate(blocks.items(), start=1)
        if found
    ]


def _blocks(section: Section) -> Iterator[Block]:
    for block in section.blocks:
        if isinstance(block, Fit):
            yield from fitted(block)
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
            "a report needs jinja2, which is not installed",
            hint="try: pip install 'isochrone[report]'",
        ) from error

    def clean(value: object) -> object:
        """Leave alone only what is markup already."""
        if isinstance(value, str) and not isinstance(value, Markup):
            return printable(value, LONGEST)
        return value

    def picture(block: Picture, prefix: str) -> Markup:
        return Markup(drawn(block, prefix))

    environment = Environment(
        autoescape=True, undefined=StrictUndefined, finalize=clean, trim_blocks=True,
        lstrip_blocks=True, loader=DictLoader({_TEMPLATE: _resource(_TEMPLATE)}),
    )  # fmt: skip
    environment.filters |= {
        "trusted": Markup, "picture": picture, "capital": _capital, "pieces": _pieces,
        "lines": _lines,
    }  # fmt: skip
    return environment


def _capital(text: str) -> str:
    """Write the first letter as at the beginning of a sentence."""
    text = text.lstrip()
    return text[:1].upper() + text[1:]


def _pieces(text: str, stress: Sequence[str]) -> list[tuple[str, bool]]:
    """Cut a text into pieces, each with whether it is stressed."""
    pieces = []
    for part in stress:
        before, found, after = text.partition(part)
        if found:
            pieces += [(before, False), (found, True)]
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
