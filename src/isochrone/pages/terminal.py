"""A page on a terminal: sentences and tables, one below the other, without pictures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from isochrone.base.text import printable
from isochrone.pages.page import (
    Block,
    Facts,
    Listing,
    Page,
    Row,
    Section,
    Sentence,
    Table,
    Tone,
    Warnings,
)

__all__ = ["print_sections", "render"]

STYLES: Final[dict[Tone, str]] = {
    "": "", "strong": "bold", "faint": "dim", "good": "green", "bad": "red",
}  # fmt: skip

LONGEST: Final = 2000
"""Characters of one text of a file; nobody reads more."""

WIDEST_TEXT: Final = 40
"""A column of longer texts may be wrapped. Numbers never are: one without its unit is wrong."""


def render(page: Page) -> None:
    """Print a page."""
    console = Console(highlight=False, soft_wrap=True)
    _print(console, " · ".join(page.line), "bold")
    if page.partial is not None:
        _print(console, f"  {_stated(page.partial)}", "yellow")
    print_sections(page.sections, console)


def print_sections(sections: Sequence[Section], console: Console | None = None) -> None:
    """Print the parts of sections that are for a terminal."""
    console = console or Console(highlight=False, soft_wrap=True)
    for section in sections:
        if section.only != "report":
            for block in section.blocks:
                _print_block(console, block)


def _print_block(console: Console, block: Block) -> None:
    match block:
        case Sentence() if block.only != "report":
            _print(console, _stated(block), STYLES[block.tone])
        case Listing() if block.only != "report":
            _print_listing(console, block)
        case Warnings():
            for text in block.items:
                _print(console, f"Warning: {text}", "yellow")
        case Table() if block.only != "report":
            _print_table(console, block)
        case Facts() if block.only != "report":
            _print_facts(console, block)
        case _:  # what a terminal cannot show
            pass


def _print(console: Console, text: str, style: str = "") -> None:
    """Print one line. It may hold a text of a file, of which a terminal must obey nothing."""
    console.print(printable(text, LONGEST), style=style, markup=False)


def _stated(sentence: Sentence) -> str:
    return f"{sentence.about}: {sentence.text}" if sentence.about else sentence.text


def _print_listing(console: Console, listing: Listing) -> None:
    _print(console, f"{listing.title}:", STYLES[listing.tone])
    for item in listing.items:
        _print(console, f"  {_stated(item)}", STYLES[item.tone])
    if listing.more:
        _print(console, f"  … {listing.more}")


def _print_facts(console: Console, facts: Facts) -> None:
    """Print names and values on one line."""
    if facts.title:
        _print(console, f"{facts.title}: " + " · ".join(f"{k}={v}" for k, v in facts.items))
    elif facts.items:
        _print(console, "  " + " · ".join(f"{k} {v}" for k, v in facts.items), "dim")


def _print_table(console: Console, table: Table) -> None:
    console.print()
    if table.title:
        _print(console, f"{table.title}:")
    shown = [k for k, column in enumerate(table.columns) if column.only != "report"]
    grid = Grid(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    least = 0
    for k in shown:
        column = table.columns[k]
        width = max(map(cell_len, _column(table.columns[k].title, k, table.rows)))
        wraps = width > WIDEST_TEXT and not column.right
        least += 2 + (WIDEST_TEXT if wraps else width)
        grid.add_column(
            Text(printable(column.title)), justify="right" if column.right else "left",
            no_wrap=not wraps,
        )  # fmt: skip
    for row in table.rows:
        cells = (Text(printable(row.cells[k], LONGEST)) for k in shown)
        grid.add_row(*cells, style=STYLES[row.tone] or None)
    # A table that is wider than the terminal is wrapped by it; rich would cut its cells.
    console.print(grid, width=max(console.width, least))
    if table.more:
        _print(console, f"… {table.more}")


def _column(title: str, k: int, rows: Sequence[Row]) -> Iterator[str]:
    yield title
    for row in rows:
        yield printable(row.cells[k], LONGEST)
