"""Whether two runs measured the same: the same thing, at the same place, with the same settings.

All that a run measured, where and how, is its setting. Of it must agree, for runs that are

* compared, and for launches of one command: `THING`. What else differs is listed, as it may
  explain a change;
* drawn as one history: `PLACE`. What else differs is marked where it changes;
* what others of a machine are compared with: all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from isochrone.base.documents import Hidden, Inline, shown
from isochrone.base.errors import InputError
from isochrone.base.text import printable
from isochrone.runfile.rules import below_resolution
from isochrone.runfile.run import LAUNCH, NO_END, Run
from isochrone.runfile.surroundings import Differing, differing

THING: Final = (
    "experiment", "number of ranks", "definition of the times", "option mode", "option window",
    "option layout", "option stride", "option cache", "option sync", "option root",
)  # fmt: skip
"""Of options only those that change what a time is; an option that one run lacks may differ."""

PLACE: Final = (
    *THING[:3], "kind", "times", "hosts", "option bytes", "option shape", "option placement",
)  # fmt: skip

_HOW_LONG: Final = (
    "again", "max-repeats", "max-time", "min-repeats", "precision", "repeats", "retest",
    "time-limit", "warmup",
)  # fmt: skip
"""Options that say how much is measured, and not what."""

_MADE_UP: Final = ("bytes", "shape", "placement")
"""Options of a made-up machine that say what is measured; all others are what is true of it."""

_NOTES: Final = ("preset", "algorithm")
"""Notes that are settings."""

_OWN: Final = (LAUNCH, "arguments", "like")
"""Notes that say nothing of the machine."""

Setting = dict[str, str]
"""What may have to agree, by what it is called."""


class Difference(NamedTuple):
    """One thing that does not agree."""

    what: str
    here: str
    there: str


def setting_of(run: Run) -> Setting:
    """Return all that a run measured, where and how."""
    about = run.about
    found: dict[str, Any] = {
        "experiment": about.experiment,
        "kind": about.kind,
        "number of ranks": about.ranks,
        "times": about.origin,
        "definition of the times": about.quantity,
        "hosts": ", ".join(f"{host} x {n}" for host, n in sorted(Counter(run.hosts).items())),
        "MPI library": " ".join(about.mpi.library.split()),
        "memory": about.memory or "host",
    }
    found |= {
        f"option {name}": value
        for name, value in sorted(about.options.items())
        if name in _MADE_UP or (not about.made_up and name not in _HOW_LONG)
    }
    found |= {name: about.notes[name] for name in _NOTES if name in about.notes}
    found |= {f"setting {name}": value for name, value in sorted(about.settings.items())}
    return {what: printable(value, 2000) for what, value in found.items()}


def differences(one: Setting, other: Setting) -> list[Difference]:
    """List what does not agree; what one does not have is ``not set``."""
    return [
        Difference(what, one.get(what, "not set"), other.get(what, "not set"))
        for what in dict.fromkeys([*one, *other])
        if one.get(what) != other.get(what)
    ]


def thing(run: Run) -> tuple[str | None, ...]:
    """Return what a run measured: runs of a folder that agree in it are launches of one command."""
    return tuple(map(setting_of(run).get, (*THING, "preset")))


def check_alike(runs: Sequence[Run]) -> None:
    """Refuse runs that measured different things.

    Raises
    ------
    InputError
        Says what differs.
    """
    first = thing(runs[0])
    for other in runs[1:]:
        for what, left, right in zip(THING, first, thing(other), strict=False):
            if left != right and None not in (left, right):
                raise InputError(
                    f"not the same thing: {what} is {printable(left or '?', 60)} in one and "
                    f"{printable(right or '?', 60)} in the other",
                    where=other.where,
                )


def why_not(run: Run, other: Run) -> str:
    """Say why another run says nothing of this one; empty if it does."""
    return NO_END if not other.complete else unlike(setting_of(run), setting_of(other))


def unlike(one: Setting, other: Setting) -> str:
    """Say in what settings differ; empty if in nothing."""
    found = differences(one, other)
    return "; ".join(map(_said, found[:3])) + (
        f"; and {len(found) - 3} more" if len(found) > 3 else ""
    )


def _said(one: Difference) -> str:
    if one.what != "hosts":
        return f"{one.what} is {printable(one.there, 60)}, not {printable(one.here, 60)}"
    here, there = (set(hosts.split(", ")) for hosts in one[1:])  # those that differ, not all
    only = [printable(", ".join(sorted(hosts)[:3]), 60) for hosts in (here - there, there - here)]
    return f"other hosts: {only[1] or 'none'} instead of {only[0]}"


class Kept(NamedTuple):
    """A run of a baseline."""

    file: str
    started: str
    complete: bool


class Alike(NamedTuple):
    """Runs of one experiment."""

    experiment: str
    kind: str
    ranks: int
    setting: Setting
    runs: list[Kept]


@dataclass(frozen=True)
class Group:
    """Runs that can be compared, the oldest first, each with its setting."""

    runs: Hidden[list[Run]]
    settings: Hidden[list[Setting]]

    @property
    @shown
    def about(self) -> Inline[Alike]:
        """What they are, for a document."""
        first = self.runs[0]
        kept = [Kept(run.where, run.about.started, run.complete) for run in self.runs]
        return Alike(first.experiment, first.kind, first.size, self.settings[0], kept)


def groups_of(runs: Sequence[Run], names: Sequence[str] | None = None) -> list[Group]:
    """Put complete runs together whose settings agree, in what is named or in all.

    Those with times of 0 are left out: they can be compared with nothing.

    The runs of a group, and the groups by their first ones, are in the order of their dates.
    """
    found: dict[tuple[Any, ...], Group] = {}
    for run in sorted(runs, key=lambda run: (run.about.started, run.where)):
        if run.complete and not below_resolution(run):
            setting = setting_of(run)
            key = tuple(map(setting.get, names)) if names else tuple(sorted(setting.items()))
            group = found.setdefault(key, Group([], []))
            group.runs.append(run)
            group.settings.append(setting)
    return list(found.values())


def environment(
    before: Sequence[Run], after: Sequence[Run]
) -> tuple[list[Differing], list[dict[str, str]]]:
    """List what differs around the measurement: what explains a change, and all.

    All are first what explains a change, then the clock, options, launcher, hosts and binding.
    """
    explains = differing([run.about for run in before], [run.about for run in after])
    found = [{"what": one.what, "before": one.before, "after": one.after} for one in explains]
    sides = [_surroundings(before), _surroundings(after)]
    for what in dict.fromkeys(key for side in sides for key in side):
        left, right = (side.get(what, "not known") for side in sides)
        if left != right:
            found.append({"what": what, "before": left, "after": right})
    return explains, found


def _surroundings(runs: Sequence[Run]) -> dict[str, str]:
    found: dict[str, set[str]] = {}
    for run in runs:
        about, hosts = run.about, Counter(run.hosts)
        notes = sorted(about.notes.keys() - set(_OWN))  # launcher, platform, version …
        for what, value in (
            ("clock source", about.clock.source),
            ("probe", about.probe),
            ("times", run.origin),
            *((f"option {key}", value) for key, value in sorted(about.options.items())),
            *((key, about.notes[key]) for key in notes),
            ("hosts", ", ".join(hosts)),
            ("ranks per host", list(hosts.values())),
            ("processor of each rank", [rank.cpu for rank in run.ranks]),
        ):
            if value or what not in ("clock source", "probe"):
                found.setdefault(what, set()).add(printable(value, 120))
    return {what: " and ".join(sorted(values)) for what, values in found.items()}
