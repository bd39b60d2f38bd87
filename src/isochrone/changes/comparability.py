"""Which runs are comparable: same experiment, hosts and settings.

The setting of a run is what it measured, where and how. These parts of it must agree:

* `THING`, for a comparison, and for launches of one command. Other differences are listed, because
  they may explain a change;
* `PLACE`, for a history. Other differences are marked where they occur;
* everything, for a baseline.

For a history or a baseline, maps need only share hosts and message sizes (`SHARED`).
"""

import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from isochrone.base.documents import Hidden, Inline, shown
from isochrone.base.errors import InputError
from isochrone.base.record import Record
from isochrone.base.text import printable
from isochrone.pages.options import HOW_LONG, RECORDED
from isochrone.runfile.environment import Differing, differing
from isochrone.runfile.rules import why_incomparable
from isochrone.runfile.run import LAUNCH, Run

THING = (
    "experiment",
    "number of ranks",
    "definition of the times",
    "option mode",
    "option window",
    "option layout",
    "option stride",
    "option cache",
    "option sync",
    "option root",
)
"""Options only as far as they change the definition of the times; missing options may differ."""

PLACE = (
    *THING[:3],
    "kind",
    "times",
    "hosts",
    "option bytes",
    "option shape",
    "option placement",
)

_PARTS = ("hosts", "option bytes")
SHARED = (*_PARTS, "number of ranks", "MPI library")
"""In which maps may differ, the first two as long as they share something."""

_SYNTHETIC = ("bytes", "shape", "placement")
"""Options of a synthetic machine that define the measurement; all others describe the machine."""

_NOTES = ("preset", "algorithm")
"""Notes that are settings."""

_OWN = (LAUNCH, "arguments", "like")
"""Notes that do not describe the machine."""

Setting = dict[str, str]
"""Values by name."""


class Difference(NamedTuple):
    """One value that differs."""

    what: str
    here: str
    there: str


def setting_of(run: Run) -> Setting:
    """Return what a run measured, where and how."""
    about = run.about
    values = {
        "experiment": about.experiment,
        "kind": about.kind,
        "number of ranks": about.ranks,
        "times": about.origin,
        "definition of the times": about.quantity,
        "hosts": ", ".join(f"{host} x {n}" for host, n in sorted(Counter(run.hosts).items())),
        "MPI library": " ".join(about.mpi.library.split()),
        "memory": about.memory or "host",
        **{
            f"option {name}": value
            for name, value in sorted(about.options.items())
            if name in _SYNTHETIC or (not about.made_up and name not in HOW_LONG | RECORDED)
        },
        **{name: about.notes[name] for name in _NOTES if name in about.notes},
        **{f"setting {name}": value for name, value in sorted(about.settings.items())},
    }
    return {
        name: printable(value, len(str(value)) if name == "hosts" else 2000)
        for name, value in values.items()
    }


def differences(setting: Setting, other_setting: Setting) -> list[Difference]:
    """List the values that differ; missing ones are ``not set``."""
    return [
        Difference(name, setting.get(name, "not set"), other_setting.get(name, "not set"))
        for name in dict.fromkeys([*setting, *other_setting])
        if setting.get(name) != other_setting.get(name)
    ]


def thing(run: Run) -> tuple[str | None, ...]:
    """Return the values that launches of one command have in common."""
    return tuple(map(setting_of(run).get, (*THING, "preset")))


def check_comparable(runs: Sequence[Run]) -> None:
    """Refuse runs of different measurements.

    Raises
    ------
    InputError
        Names the first difference.
    """
    first = thing(runs[0])
    for run in runs[1:]:
        for name, left, right in zip(THING, first, thing(run), strict=False):
            if left != right and None not in (left, right):
                raise InputError(
                    f"not comparable: {name} is {printable(left or '?', 60)} in one run and "
                    f"{printable(right or '?', 60)} in the other",
                    where=run.where,
                )


def unlike(setting: Setting, other_setting: Setting) -> str:
    """Say why runs of two settings cannot be compared; empty if they can.

    Maps are compared by the hosts and message sizes that they share; see `SHARED`.
    """
    mismatches = differences(setting, other_setting)
    if setting["kind"] == other_setting["kind"] == "latency-map" and "" not in _hosts(
        setting
    ) | _hosts(other_setting):
        mismatches = [
            two
            for two in mismatches
            if two.what not in SHARED or (two.what in _PARTS and not _common(two))
        ]
    return "; ".join(map(_as_text, mismatches[:3])) + (
        f"; and {len(mismatches) - 3} more" if len(mismatches) > 3 else ""
    )


def other_settings(setting: Setting, other_setting: Setting) -> list[Difference]:
    """List the values that differ, but for hosts if some have the same number of ranks."""
    mismatches = differences(setting, other_setting)
    if set(setting["hosts"].split(", ")) & set(other_setting["hosts"].split(", ")):
        mismatches = [two for two in mismatches if two.what not in ("hosts", "number of ranks")]
    return mismatches


def _hosts(setting: Setting) -> set[str]:
    return {host.rpartition(" x ")[0] for host in setting["hosts"].split(", ")}


def _common(difference: Difference) -> set[str]:
    """Return what two lists have in common: names of hosts, or message sizes."""
    left, right = (
        {entry.partition(" x ")[0] for entry in re.split(", *", text.strip("[]"))}
        for text in difference[1:]
    )
    return left & right


def _as_text(difference: Difference) -> str:
    if difference.what != "hosts":
        return (
            f"{difference.what} is {printable(difference.there, 60)}, "
            f"not {printable(difference.here, 60)}"
        )
    left, right = (set(hosts.split(", ")) for hosts in difference[1:])
    only = [printable(", ".join(sorted(hosts)[:3]), 60) for hosts in (left - right, right - left)]
    return f"other hosts: {only[1] or 'none'} instead of {only[0]}"


class BaselineRun(NamedTuple):
    """A run of a baseline."""

    file: str
    started: str
    complete: bool


class Comparable(NamedTuple):
    """Comparable runs."""

    experiment: str
    kind: str
    ranks: int
    setting: Setting
    runs: list[BaselineRun]


class Group(Record):
    """Comparable runs, the oldest first, each with its setting; the last says what they are."""

    runs: Hidden[list[Run]]
    settings: Hidden[list[Setting]]

    @property
    @shown
    def about(self) -> Inline[Comparable]:
        """What they are, for a document."""
        last = self.runs[-1]
        runs = [BaselineRun(run.where, run.about.started, run.complete) for run in self.runs]
        return Comparable(last.experiment, last.kind, last.size, self.settings[-1], runs)


def groups_of(runs: Sequence[Run]) -> list[Group]:
    """Group complete runs that are comparable.

    Runs without a result or with times of 0 are left out. Runs, and groups by their first run, are
    ordered by date.
    """
    usable = [run for run in runs if not why_incomparable(run)]
    usable.sort(key=lambda run: (run.about.started, run.where))
    settings = [setting_of(run) for run in usable]
    return [
        Group([usable[k] for k in alike], [settings[k] for k in alike])
        for alike in comparable(settings)
    ]


def comparable(settings: Sequence[Setting], names: Sequence[str] | None = None) -> list[list[int]]:
    """Return the numbers of settings that are comparable in the named values, or in all.

    A setting belongs to the first group of which it is comparable with a member.
    """
    groups_by_key: dict[tuple[tuple[str, str], ...], tuple[Setting, list[int]]] = {}
    for index, setting in enumerate(settings):
        values = {name: setting[name] for name in names or setting if name in setting}
        key = tuple(sorted(values.items()))
        if key not in groups_by_key:
            like = (
                group
                for group_values, group in groups_by_key.values()
                if not unlike(values, group_values)
            )
            groups_by_key[key] = values, next(like, [])
        groups_by_key[key][1].append(index)
    return [*{id(group): group for _, group in groups_by_key.values()}.values()]


def environment(
    before: Sequence[Run], after: Sequence[Run]
) -> tuple[list[Differing], list[dict[str, str]]]:
    """List the differences of the environment: likely explanations of a change, and all.

    All differences begin with the likely explanations, followed by clock, options, launcher, hosts
    and binding.
    """
    explains = differing([run.about for run in before], [run.about for run in after])
    mismatches = [
        {"what": explanation.what, "before": explanation.before, "after": explanation.after}
        for explanation in explains
    ]
    sides = [_environment(before), _environment(after)]
    for name in dict.fromkeys(key for side in sides for key in side):
        left, right = (side.get(name, "unknown") for side in sides)
        if left != right:
            mismatches.append({"what": name, "before": left, "after": right})
    return explains, mismatches


def _environment(runs: Sequence[Run]) -> dict[str, str]:
    by_name: dict[str, set[str]] = {}
    for run in runs:
        about, hosts = run.about, Counter(run.hosts)
        notes = sorted(about.notes.keys() - set(_OWN))  # launcher, platform, version …
        for name, value in (
            ("clock source", about.clock.source),
            ("probe", about.probe),
            ("times", run.origin),
            *(
                (f"option {key}", value)
                for key, value in sorted(about.options.items())
                if key not in RECORDED
            ),
            *((key, about.notes[key]) for key in notes),
            ("hosts", ", ".join(hosts)),
            ("ranks per host", list(hosts.values())),
            ("processor of each rank", [rank.cpu for rank in run.ranks]),
        ):
            if value or name not in ("clock source", "probe"):
                by_name.setdefault(name, set()).add(printable(value, 120))
    return {name: " and ".join(sorted(values)) for name, values in by_name.items()}
