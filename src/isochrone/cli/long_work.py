"""Before anything that takes long: how long, and on a terminal whether to go on."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from isochrone.base.errors import IsochroneError
from isochrone.base.units import Seconds
from isochrone.console.options import add_flag

if TYPE_CHECKING:
    from isochrone.measure.estimate import Expected

LONG = 600.0
"""Seconds from which on a person is asked, unless ``limits.ask-after`` says otherwise."""


def add_yes(parser: ArgumentParser) -> None:
    """Add ``--yes``."""
    add_flag(parser, "--yes", "do not ask before measurements of more than ten minutes",
        expert=True)  # fmt: skip


def agree(found: Expected | None, args: Namespace) -> None:
    """Say how long it will take if that is long; on a terminal ask whether to go on.

    Raises
    ------
    IsochroneError
        If the user does not want that. Nothing was started.
    """
    if found is None or found.seconds <= limit_of(args):
        return
    text = f"this will take {found.how} {duration(found.seconds)}"
    asks = sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()
    if args.yes or not asks:
        print(f"isochrone: {text}", file=sys.stderr, flush=True)
        return
    print(f"isochrone: {text}. Continue? [y/N] ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise IsochroneError(
            "nothing was measured", hint="for a shorter run use --time-limit or --repeats"
        )


def limit_of(args: Namespace) -> Seconds:
    """Return the seconds from which on work is long."""
    return float(getattr(args, "ask_after", LONG))


def duration(seconds: Seconds) -> str:
    """Write a duration as a person plans: 12 s, 3.5 min, 2.5 h."""
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.1f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
