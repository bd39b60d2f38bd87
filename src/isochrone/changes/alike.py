"""Whether two runs measured the same thing, and what differs around them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

from isochrone.base.errors import InputError
from isochrone.base.text import printable
from isochrone.runfile.run import LAUNCH, Run
from isochrone.runfile.surroundings import Differing, differing

__all__ = ["around", "check_alike", "environment", "thing"]

_WHAT: Final = ("mode", "window", "layout", "stride", "cache", "sync", "root")
"""Options that change what a time is; others, such as limits, may differ and are listed."""

_OWN: Final = (LAUNCH, "arguments", "like")
"""Notes that say nothing of the machine."""


def thing(run: Run) -> tuple[Any, ...]:
    """Return what a run measured: runs of a folder that agree in it are launches of one command."""
    options = (printable(run.options.get(key), 200) for key in _WHAT)
    return (run.experiment, run.size, run.quantity, run.notes.get("preset"), *options)


def check_alike(runs: Sequence[Run]) -> None:
    """Refuse runs that measured different things.

    Raises
    ------
    InputError
        Says what differs.
    """
    first = runs[0]
    for other in runs[1:]:
        pairs = [
            ("experiment", first.experiment, other.experiment),
            ("number of ranks", first.size, other.size),
            ("definition of the times", first.quantity or "?", other.quantity or "?"),
        ]
        for key in _WHAT:
            if key in first.options and key in other.options:
                pairs.append((f"option {key}", first.options[key], other.options[key]))
        for what, left, right in pairs:
            if left != right:
                raise InputError(
                    f"not the same thing: {what} is {printable(left, 60)} in one and "
                    f"{printable(right, 60)} in the other",
                    where=other.where,
                )


def around(before: Sequence[Run], after: Sequence[Run]) -> list[Differing]:
    """List what differs around the measurement and explains a change."""
    return differing([run.about for run in before], [run.about for run in after])


def environment(
    before: Sequence[Run], after: Sequence[Run], explains: Sequence[Differing]
) -> list[dict[str, str]]:
    """List all that differs around the measurement, first what `around` found.

    Then come the clock, options, launcher, hosts and binding.
    """
    found = [{"what": one.what, "before": one.before, "after": one.after} for one in explains]
    sides = [_surroundings(before), _surroundings(after)]
    for what in dict.fromkeys(key for side in sides for key in side):
        left, right = (side.get(what, "not known") for side in sides)
        if left != right:
            found.append({"what": what, "before": left, "after": right})
    return found


def _surroundings(runs: Sequence[Run]) -> dict[str, str]:
    found: dict[str, list[str]] = {}

    def add(what: str, value: object) -> None:
        text = printable(value, 120)
        if text not in found.setdefault(what, []):
            found[what].append(text)

    for run in runs:
        about, hosts = run.about, Counter(run.hosts)
        for what, value in (
            ("clock source", about.clock.source),
            ("probe", about.probe),
        ):
            if value:
                add(what, value)
        add("times", run.origin)
        for key in sorted(about.options):
            add(f"option {key}", about.options[key])
        for key in sorted(about.notes.keys() - set(_OWN)):  # launcher, platform, version …
            add(key, about.notes[key])
        add("hosts", ", ".join(hosts))
        add("ranks per host", list(hosts.values()))
        add("processor of each rank", [rank.cpu for rank in run.ranks])
    return {what: " and ".join(sorted(values)) for what, values in found.items()}
