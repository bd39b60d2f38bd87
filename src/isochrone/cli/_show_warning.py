"""How ``isochrone show`` prints what to be wary of."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["print_warning"]


def print_warning(console: Console, text: str) -> None:
    """Print one warning; its text comes from a file."""
    from isochrone.text import printable

    console.print(f"Warning: {printable(text, 400)}", style="yellow", markup=False)
