"""Which earlier runs a run can be held against: same kind, same place, same settings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from isochrone.base.documents import Hidden, Inline, shown
from isochrone.base.text import printable
from isochrone.runfile.rules import below_resolution
from isochrone.runfile.run import NO_END, Run

__all__ = [
    "Difference", "Group", "Setting", "differences", "grouped", "groups_of", "setting_of",
    "why_not",
]  # fmt: skip

_HOW_LONG: Final = (
    "again", "max-repeats", "max-time", "min-repeats", "precision", "repeats", "retest",
    "time-limit", "warmup",
)  # fmt: skip
"""Options that say how much is measured, and not what."""

_MADE_UP: Final = ("bytes", "shape", "placement")
"""Options of a made-up machine that say what is measured; all others are what is true of it."""

_NOTES: Final = ("preset", "algorithm")
"""Notes that are settings."""

Setting = dict[str, str]
"""What must agree, by what it is called."""


@dataclass(frozen=True)
class Difference:
    """One thing that does not agree."""

    what: str
    here: str
    there: str


def setting_of(run: Run) -> Setting:
    """Return all that must agree between runs that are held against each other."""
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
    made_up = about.made_up
    for name in sorted(about.options):
        if name in _MADE_UP or (not made_up and name not in _HOW_LONG):
            found[f"option {name}"] = about.options[name]
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


def why_not(run: Run, other: Run) -> str:
    """Say why another run says nothing of this one; empty if it does."""
    if not other.complete:
        return NO_END
    found = differences(setting_of(run), setting_of(other))
    return "; ".join(_said(one) for one in found[:3]) + (
        f"; and {len(found) - 3} more" if len(found) > 3 else ""
    )


def _said(one: Difference) -> str:
    if one.what == "hosts":
        return _hosts(one.here, one.there)
    return f"{one.what} is {printable(one.there, 60)}, not {printable(one.here, 60)}"


def _hosts(here: str, there: str) -> str:
    """Say which hosts differ, rather than all."""
    sides: Sequence[set[str]] = [set(text.split(", ")) for text in (here, there)]
    only = [", ".join(sorted(one - other)[:3]) for one, other in (sides, sides[::-1])]
    return f"other hosts: {printable(only[1] or 'none', 60)} instead of {printable(only[0], 60)}"


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
    runs: list[Kept]


@dataclass(frozen=True)
class Group:
    """Runs that can be held against each other, the oldest first."""

    setting: Setting
    runs: Hidden[list[Run]]

    @property
    @shown
    def about(self) -> Inline[Alike]:
        """What they are, for a document."""
        first = self.runs[0]
        kept = [Kept(run.where, run.about.started, run.complete) for run in self.runs]
        return Alike(first.experiment, first.kind, first.size, kept)


def groups_of(runs: Sequence[Run]) -> list[Group]:
    """Sort runs into those that can be held against each other; partial ones are left out."""
    found = grouped(runs, lambda setting: tuple(sorted(setting.items())))
    return [Group(group[0][1], [run for run, _ in group]) for group in found]


def grouped(
    runs: Sequence[Run], key: Callable[[Setting], Hashable]
) -> list[list[tuple[Run, Setting]]]:
    """Put complete runs together whose settings have the same key, each with its setting.

    Those with times of 0 are left out: they can be compared with nothing.

    The runs of a group, and the groups by their first ones, are in the order of their dates.
    """
    found: dict[Hashable, list[tuple[Run, Setting]]] = {}
    for run in sorted(runs, key=lambda run: (run.about.started, run.where)):
        if run.complete and not below_resolution(run):
            setting = setting_of(run)
            found.setdefault(key(setting), []).append((run, setting))
    return list(found.values())
