"""A page on a terminal: sentences and tables, one below the other, without pictures."""

import re
from collections.abc import Iterable
from typing import IO, Any

from rich.cells import cell_len
from rich.console import Console, JustifyMethod
from rich.table import Table as Grid
from rich.text import Text

from isochrone.base.text import printable
from isochrone.pages.page import (
    Block,
    Facts,
    Listing,
    Page,
    Sentence,
    Table,
    Warnings,
    said,
)

STYLES = {
    "": "",
    "strong": "bold",
    "faint": "dim",
    "good": "green",
    "bad": "red",
}

MAX_TERMINAL_TEXT = 2000
"""Characters of one text of a file; the rest is cut."""

WIDEST_TEXT = 40
"""A column of longer texts may be wrapped; numbers never are."""

_TRAILING = re.compile(r"[ \t]+((?:\x1b\[[0-9;]*m)*)$", re.MULTILINE)


class _Console(Console):
    """Removes the blanks at the ends of lines with which rich fills tables."""

    def print(self, *objects: Any, **options: Any) -> None:
        """Print, without them."""
        with self.capture() as captured:
            super().print(*objects, **options)
        self.file.write(_TRAILING.sub(r"\1", captured.get()))


def console(file: IO[str] | None = None) -> Console:
    """Return a console for standard output, or for a file."""
    return _Console(file=file, highlight=False, markup=False, emoji=False, soft_wrap=True)


def render(page: Page, to: Console | None = None) -> None:
    """Print a page."""
    to = to or console()
    _print(to, " · ".join(page.line), "bold")
    if page.partial is not None:
        _print(to, f"  {_stated(page.partial)}", "yellow")
    for section in page.sections:
        if said(section, "terminal"):
            print_blocks(section.blocks, to)


def print_blocks(blocks: Iterable[Block], to: Console | None = None) -> None:
    """Print those blocks that are for a terminal."""
    to = to or console()
    for block in blocks:
        if said(block, "terminal"):
            _print_block(to, block)


def _print_block(console: Console, block: Block) -> None:
    match block:
        case Sentence():
            _print(console, _stated(block), STYLES[block.tone])
        case Listing():
            _print(console, f"{block.title}:", STYLES[block.tone])
            for item in block.items:
                _print(console, f"  {_stated(item)}", STYLES[item.tone])
            if block.more:
                _print(console, f"  … {block.more}")
        case Warnings():
            for text in block.items:
                _print(console, f"Warning: {text}", "yellow")
        case Table():
            _print_table(console, block.on("terminal"))
        case Facts():
            if block.title:
                facts = " · ".join(f"{name}={value}" for name, value in block.items)
                _print(console, f"{block.title}: {facts}")
            elif block.items:
                facts = " · ".join(f"{name} {value}" for name, value in block.items)
                _print(console, f"  {facts}", "dim")


def _print(console: Console, text: str, style: str = "") -> None:
    """Print one line, without the control characters that a text of a file may hold."""
    console.print(printable(text, MAX_TERMINAL_TEXT), style=style, markup=False)


def _stated(sentence: Sentence) -> str:
    return f"{sentence.about}: {sentence.text}" if sentence.about else sentence.text


def _print_table(console: Console, table: Table) -> None:
    console.print()
    if table.title:
        _print(console, f"{table.title}:")
    grid = Grid(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    needed = 0
    for k, column in enumerate(table.columns):
        title = printable(column.title)
        cells = [printable(row.cells[k], MAX_TERMINAL_TEXT) for row in table.rows]
        width = max(map(cell_len, (title, *cells)))
        wraps = width > WIDEST_TEXT and not column.right
        needed += 2 + (WIDEST_TEXT if wraps else width)
        side: JustifyMethod = "right" if column.right else "left"
        grid.add_column(Text(title), justify=side, no_wrap=not wraps)
    for row in table.rows:
        grid.add_row(
            *(Text(printable(cell, MAX_TERMINAL_TEXT)) for cell in row.cells),
            style=STYLES[row.tone] or None,
        )
    # A table that is wider than the terminal is wrapped by it; rich would cut its cells.
    console.width = max(console.width, needed)
    console.print(grid)
    if table.more:
        _print(console, f"… {table.more}")
