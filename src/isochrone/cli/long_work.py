"""Before anything that takes long: how long, and whether to go on."""

from __future__ import annotations

import os
import sys
from argparse import Namespace, _ActionsContainer
from collections.abc import Sequence
from typing import TYPE_CHECKING

from isochrone.base.errors import InputError, IsochroneError
from isochrone.base.units import Seconds
from isochrone.console.options import add_flag
from isochrone.measure.launcher import BATCH_JOB

if TYPE_CHECKING:
    from pathlib import Path

    from isochrone.measure.estimate import Expected
    from isochrone.measure.launchable import Launchable

ASK_AFTER_SECONDS = 600.0
"""Seconds from which on a person is asked, unless ``limits.ask-after`` says otherwise."""


def add_yes(parser: _ActionsContainer) -> None:
    """Add ``--yes``."""
    add_flag(parser, "--yes", "start measurements of more than ten minutes", expert=True)


def agree(estimate: Expected | None, args: Namespace, plan: Sequence[str] = ()) -> None:
    """Say how long it will take if that is long, and whether it may start.

    It may with ``--yes``, in a batch job, or if the user at a terminal says so.

    Parameters
    ----------
    estimate
        How long it will take, if that is known.
    args
        The command line.
    plan
        A line for each measurement, printed if nothing may start.

    Raises
    ------
    InputError
        If there is no ``--yes`` and nobody to ask. Nothing was started.
    IsochroneError
        If the user does not want it. Nothing was started.
    """
    if estimate is None or estimate.seconds <= limit_of(args):
        return
    text = f"this will take {estimate.how} {duration(estimate.seconds)}"
    asks = sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()
    if args.yes or any(variable in os.environ for variable in BATCH_JOB):
        print(f"isochrone: {text}", file=sys.stderr, flush=True)
        return
    if not asks:
        raise InputError(
            f"{text}; nothing was measured",
            details=plan,
            hint="to start: --yes; for a shorter run: --time-limit or --repeats",
        )
    print(f"isochrone: {text}. Continue? [y/N] ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise IsochroneError(
            "nothing was measured", hint="for a shorter run use --time-limit or --repeats"
        )


def agree_to(plan: Sequence[tuple[Launchable, int]], folder: Path, args: Namespace) -> None:
    """Ask, as `agree` does, before so many launches of each; a folder takes what is tried."""
    from isochrone.measure.estimate import expected

    lines = [f"{job.experiment}, {job.ranks} ranks, launches: {runs}" for job, runs in plan]
    agree(expected(plan, folder, limit_of(args)), args, lines)


def limit_of(args: Namespace) -> Seconds:
    """Return the seconds from which on work is long."""
    return float(getattr(args, "ask_after", ASK_AFTER_SECONDS))


def duration(seconds: Seconds) -> str:
    """Write a duration as a person plans: 12 s, 3.5 min, 2.5 h."""
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.1f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
