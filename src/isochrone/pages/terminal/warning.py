"""How ``isochrone show`` prints what to be wary of."""

from __future__ import annotations

from rich.console import Console

from isochrone.base.text import printable

__all__ = ["print_warning"]


def print_warning(console: Console, text: str) -> None:
    """Print one warning; its text comes from a file."""
    console.print(f"Warning: {printable(text, 400)}", style="yellow", markup=False)
