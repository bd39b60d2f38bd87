"""Before anything that takes long: how long, and on a terminal whether to go on."""

from __future__ import annotations

import argparse
import contextlib
import re
import sys
import time
from collections.abc import Sequence
from functools import reduce
from operator import add
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from isochrone.base.errors import IsochroneError
from isochrone.base.units import Seconds
from isochrone.cli.experiments import options_of
from isochrone.cli.launches import Launchable
from isochrone.console.measuring import follow
from isochrone.measure.expectation import TRIAL_LIMIT, Expected, Work, time_limit, work_of
from isochrone.runfile.file import read

__all__ = ["add_yes", "agree", "duration", "expected", "limit_of"]

LONG: Final = 600.0
"""Seconds from which on a person is asked, unless ``limits.ask-after`` says otherwise."""

_USUAL: Final = re.compile(r"\(default ([^\s,)]\S*?)\)")
_COUNTED: Final = ("--bytes", "--op")


def add_yes(parser: argparse.ArgumentParser) -> None:
    """Add ``--yes``."""
    parser.add_argument(
        "--yes", action="store_true",
        help="do not ask before what will take more than ten minutes",
    )  # fmt: skip


def agree(found: Expected | None, args: argparse.Namespace) -> None:
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
    print(f"isochrone: {text}. Go on? [y/N] ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise IsochroneError("nothing was measured", hint="--time-limit or --repeats shorten it")


def limit_of(args: argparse.Namespace) -> Seconds:
    """Return the seconds from which on work is long."""
    return float(getattr(args, "ask_after", LONG))


def expected(
    plan: Sequence[tuple[Launchable, int]], folder: Path, limit: Seconds
) -> Expected | None:
    """Return how long launches will take in all; None if it is not known, or surely not long.

    Parameters
    ----------
    plan
        What is launched, and how often.
    folder
        Where ranks may write; a trial does, if there is need of one.
    limit
        Seconds that are long.
    """
    first = plan[0][0]
    most = _most(first)
    launches = sum(runs for _, runs in plan)
    if not first.setup.launcher.stands_alone:  # virtual time says nothing of ours
        return None
    if most is not None and most * launches <= limit:
        return None
    usual = _usual(first)  # experiment and probe are the same in the whole plan
    works = [work_of(what.experiment, what.options, what.ranks, usual) for what, _ in plan]
    counted = [work for work in works if work is not None]
    if len(counted) < len(works):
        return None if most is None else Expected(most * launches, "at most")
    bound = sum(work.bound() * runs for work, (_, runs) in zip(counted, plan, strict=True))
    if bound <= limit:
        return None
    found = _tried(plan, counted, folder)
    if found is None:
        return None if most is None else Expected(most * launches, "at most")
    each = [one.limited(most) for one in found]
    repeated = [Expected(one.seconds * runs, one.how)
                for one, (_, runs) in zip(each, plan, strict=True)]  # fmt: skip
    return reduce(add, repeated)


def _most(what: Launchable) -> Seconds | None:
    """Return the seconds after which a launch is ended; None: never."""
    limits = [time_limit(what.options), what.timeout]
    return min((seconds for seconds in limits if seconds is not None), default=None)


def _usual(what: Launchable) -> dict[str, str]:
    """Return what the probe takes for options that are not given, of those that count."""
    return {
        option.name: found[1]
        for option in options_of(what.setup.built, what.experiment)
        if option.name in _COUNTED and (found := _USUAL.search(option.help))
    }


def _tried(
    plan: Sequence[tuple[Launchable, int]], works: Sequence[Work], folder: Path
) -> list[Expected] | None:
    """Make a trial with the most ranks, and return what it says of each; None if nothing."""
    what, work = plan[-1][0], works[-1]
    with TemporaryDirectory(prefix=".trial-", dir=folder) as scratch:
        path = Path(scratch) / "trial.jsonl"
        options = work.trial_options()
        tokens = what.setup.tokens(what.experiment, options, what.ranks, path)
        began = time.monotonic()
        with contextlib.suppress(IsochroneError):  # the measurement itself will say what is wrong
            follow(tokens, path, title="trial", timeout=3 * TRIAL_LIMIT, quiet=True)
            wall, trial = time.monotonic() - began, read(path)
            found = [one.expected(trial, wall) for one in works]
            return None if any(one is None for one in found) else [one for one in found if one]
    return None


def duration(seconds: Seconds) -> str:
    """Write a duration as a person plans: 12 s, 3.5 min, 2.5 h."""
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.1f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
