"""What ``isochrone tune collective-io`` says while it works, and at its end."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from isochrone.base.text import printable
from isochrone.base.units import format_seconds
from isochrone.pages import terminal

__all__ = ["NEAR", "print_outcome", "teller"]

NEAR = frozenset({"tmpfs", "ramfs", "ext", "xfs", "btrfs", "zfs", "overlay"})
"""File systems of one host: memory, and local disks."""


def teller(*, quiet: bool) -> Callable[[str], None]:
    """Return what prints a line as work goes on; beside the document if that is all there is."""
    stream = sys.stderr if quiet else sys.stdout

    def tell(text: str) -> None:
        print(printable(text, 500), file=stream, flush=True)

    return tell


def print_outcome(document: Mapping[str, Any], folder: Path) -> None:
    """Print what was gained, and how to use it."""
    console = terminal.console()
    near = sorted({*document.get("filesystems", [])} & NEAR)
    if near:
        console.print(
            f"The files are on {' and '.join(near)}, in the memory or on a disk of one host: what "
            "is gained here need not be gained on a parallel file system",
            style="bold yellow", markup=False,
        )  # fmt: skip
    for name, key in (("Collective calls", "gain"), ("The whole program", "whole_gain")):
        gain = document[key]
        if gain is not None:
            console.print(_gained(name, gain), markup=False)
    if document["kept"] is None:
        console.print(
            f"Nothing gained: leave it as it is ({printable(document['why'], 400)}).",
            style="bold", markup=False,
        )  # fmt: skip
    else:
        words = document["proposed"]["words"]
        console.print(f"Kept: {printable(words, 400)}", style="bold", markup=False)
        console.print("To use it, without changing the program:", markup=False)
        for line in document["use"]:
            console.print(f"  {printable(line, 1400)}", markup=False)
    for warning in document["warnings"]:
        console.print(f"Warning: {printable(warning, 400)}", style="yellow", markup=False)
    if document.get("advice"):
        console.print(f"To try: {printable(document['advice'], 900)}", markup=False)
    console.print(f"The report and all recordings are in {printable(folder, 400)}", markup=False)


def _gained(name: str, gain: Mapping[str, Any]) -> str:
    return (
        f"{name}: {format_seconds(gain['given'], 3)} as given, "
        f"{format_seconds(gain['proposed'], 3)} as proposed: {gain['ratio']:.2f} times as fast "
        f"(95 % interval {gain['low']:.2f} to {gain['high']:.2f}, {gain['launches']} starts each)"
    )
