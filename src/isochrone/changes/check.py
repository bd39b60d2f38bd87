"""The nightly verdict on a run: good, slow, worse than earlier runs, or not known.

*Slow* is what a latency map says by itself (`map_health`); *worse* is what a run says against
earlier runs of the same thing (`baseline`). What looks slow and was not measured again alone is a
*suspect*: nothing unconfirmed is called slow. Nothing else is ever good by silence: what cannot be
judged is *not known*, and says what to measure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple

from isochrone.base.documents import Hidden, Inline, shown
from isochrone.base.errors import InputError
from isochrone.base.text import printable
from isochrone.base.units import format_seconds
from isochrone.changes.alike import Setting, setting_of, unlike
from isochrone.changes.allowed import Rule
from isochrone.changes.baseline import BLIND, ENOUGH, LATEST, MARGIN, Change, Reference
from isochrone.changes.quantities import called
from isochrone.latency_map.diagnosis import LEAST
from isochrone.latency_map.known import Known
from isochrone.latency_map.map_health import MapHealth, map_health
from isochrone.latency_map.slow import KINDS, Slow
from isochrone.runfile.rules import below_resolution
from isochrone.runfile.run import NO_END, Run

VERDICTS: Final = ("slow", "worse", "not known", "good")
"""The first that is true of any part is the verdict on the whole."""

_PROVES: Final = ("inside", *(kind for kind, what in KINDS.items() if what.unit))
"""Kinds of findings that prove their host bad."""

_BLAMED: Final = ("inside", *KINDS)


@dataclass(frozen=True)
class Finding:
    """One thing that is slow, worse than before, or may be slow.

    Attributes
    ----------
    verdict
        ``slow``, ``worse`` or ``suspect``.
    kind
        ``node``, ``inside`` (of a node), ``rank``, ``pair``, ``switch``, ``uplink``, ``level``,
        ``curve`` or ``point``.
    who
        For a person. Host names come from elsewhere: escape them.
    hosts, ranks
        What it concerns.
    level
        Number of the level, if it is one.
    nbytes
        Message size, if it is of one of several.
    ratio
        Its time over what it should be.
    limit
        Ratio that chance stays below; None of what a map says by itself.
    evidence
        What was seen, in a sentence.
    proved
        Whether it proves its host bad, if it is of one.
    allowed
        The rule that allows it; empty if none does.
    """

    verdict: str
    kind: str
    who: str
    hosts: tuple[str, ...]
    ranks: tuple[int, ...]
    level: int | None
    nbytes: int | None
    ratio: float
    limit: float | None
    evidence: str
    proved: bool = True
    allowed: str = ""

    @property
    def bad_hosts(self) -> tuple[str, ...]:
        """The hosts that it proves bad."""
        sure = self.proved and self.verdict != "suspect"
        return self.hosts if sure and self.kind in _PROVES else ()

    @property
    def suspects(self) -> tuple[str, ...]:
        """The hosts of which one may be the cause, or what is between them."""
        return self.hosts if self.kind in _BLAMED and not self.bad_hosts else ()


class Memory:
    """What follows from runs, computed once while several runs are judged."""

    def __init__(self) -> None:
        self.known = Known()
        self._about: dict[int, tuple[Run, str, int]] = {}
        self._numbers: dict[tuple[tuple[str, str], ...], int] = {}
        self._settings: list[Setting] = []
        self._unlike: dict[tuple[int, int], str] = {}
        self._references: dict[tuple[int, ...], Reference] = {}

    def _of(self, run: Run) -> tuple[Run, str, int]:
        """Return why a run can be compared with nothing, and the number of its setting."""
        if id(run) not in self._about:
            setting = setting_of(run)
            number = self._numbers.setdefault(tuple(setting.items()), len(self._numbers))
            if number == len(self._settings):
                self._settings.append(setting)
            why = below_resolution(run) or ("" if run.complete else NO_END)
            self._about[id(run)] = run, why, number  # holds the run: its identity stays its own
        return self._about[id(run)]

    def why_not(self, run: Run, other: Run) -> str:
        """Say why another run says nothing of this one; empty if it does."""
        (*_, here), (_, why, there) = self._of(run), self._of(other)
        if why or here == there:
            return why
        if (here, there) not in self._unlike:
            self._unlike[here, there] = unlike(self._settings[here], self._settings[there])
        return self._unlike[here, there]

    def reference(self, runs: Sequence[Run]) -> Reference:
        """Return what comparable earlier runs say."""
        key = tuple(map(id, runs))
        if key not in self._references:
            self._references.clear()  # one is used again, if any
            self._references[key] = Reference(runs, self.known)
        return self._references[key]


@dataclass(frozen=True)
class Earlier:
    """The runs of a baseline.

    Attributes
    ----------
    folder
        Where they are.
    runs
        All of them but the one that is judged, the oldest first.
    """

    folder: str
    runs: Sequence[Run]


class LeftOut(NamedTuple):
    """An earlier run that is not comparable, and why."""

    file: str
    why: str


class Judged(NamedTuple):
    """A run that was judged."""

    file: str
    experiment: str
    kind: str
    ranks: int


@dataclass(frozen=True)
class Check:
    """The verdict on one run.

    Attributes
    ----------
    run
        What was judged.
    findings
        What is slow, worse or a suspect, allowed or not, the worst first.
    doubts
        What cannot be judged, and what to measure; a sentence each.
    judged
        What the verdict rests on: a sentence each.
    earlier
        Number of comparable earlier runs; None without a baseline. The latest `LATEST` of them
        are compared with.
    left_out
        Earlier runs that are not comparable: file and reason.
    visible
        Ratio from which on something worse would be seen, by kind.
    """

    run: Hidden[Run]
    findings: list[Finding]
    doubts: list[str]
    judged: list[str]
    earlier: int | None = None
    left_out: list[LeftOut] = field(default_factory=list)
    visible: dict[str, float] = field(default_factory=dict)

    @property
    @shown
    def about(self) -> Inline[Judged]:
        """Which run it is."""
        return Judged(self.run.where, self.run.experiment, self.run.kind, self.run.size)

    @property
    @shown
    def verdict(self) -> str:
        """One of `VERDICTS`."""
        said = {one.verdict for one in self.findings if not one.allowed}
        known = [word for word in VERDICTS[:2] if word in said]
        return known[0] if known else "not known" if self.doubts else "good"

    @property
    @shown
    def bad_hosts(self) -> list[str]:
        """The hosts proved bad and not allowed, in the order of the findings."""
        return _hosts(one.bad_hosts for one in self.findings if not one.allowed)

    @property
    @shown
    def suspects(self) -> list[str]:
        """The hosts that may be bad, without those that are."""
        named = _hosts(one.suspects for one in self.findings if not one.allowed)
        bad = self.bad_hosts
        return [host for host in named if host not in bad]


def check(
    run: Run,
    earlier: Earlier | None = None,
    rules: Sequence[Rule] = (),
    *,
    least: float = LEAST,
    margin: float = MARGIN,
    memory: Memory | None = None,
) -> Check:
    """Judge a run.

    Parameters
    ----------
    run
        Of any kind; of what no map is, only earlier runs tell whether it is good.
    earlier
        The runs it is compared with.
    rules
        What is allowed.
    least
        What adds less than this part of the time to a map's round trips is not called slow.
    margin
        What is slower than before by less than this part is not worse.
    memory
        The same for all runs of a command: what follows from a run is computed once.

    Raises
    ------
    InputError
        If the run is damaged.
    """
    memory = Memory() if memory is None else memory
    is_map = bool(len(run.tables["pair"])) if "pair" in run.tables else False
    found = Check(run, [], [], [])
    zeros = below_resolution(run)
    if zeros:
        return replace(found, doubts=[f"{zeros}: measure more repetitions at once"])
    if is_map:
        health = map_health(run, least, memory.known)
        found = _by_itself(run, health)
    elif run.kind == "latency-map":
        found.doubts.append("it holds no pairs: measure again")
    elif earlier is None:
        found.doubts.append(
            f"a run of {printable(run.experiment, 40)} says nothing by itself: give --baseline"
        )
    if earlier is not None:
        settled = is_map and not health.far_off
        found = _against(found, earlier, margin, memory, settles=settled)
    findings = [
        replace(one, allowed=next((
            rule.text for rule in rules
            if rule.covers(one.kind, one.hosts, one.ranks, one.level, one.ratio)
        ), "")) for one in found.findings
    ]  # fmt: skip
    doubts = list(found.doubts)
    count = sum(one.verdict == "suspect" and not one.allowed for one in findings)
    if count:
        suspects = "1 suspect" if count == 1 else f"{count} suspects"
        doubts.append(f"{suspects}, not confirmed (--strict fails on it): measure again")
    findings.sort(key=lambda one: (bool(one.allowed), one.verdict == "suspect"))
    return replace(found, findings=findings, doubts=doubts)


def together(checks: Sequence[Check]) -> str:
    """Return the verdict on several runs."""
    said = {one.verdict for one in checks}
    return next(word for word in VERDICTS if word in said)


def hosts_of(checks: Sequence[Check]) -> tuple[list[str], list[str]]:
    """Return the bad hosts of several runs, and the suspects without them, each once."""
    bad = _hosts(one.bad_hosts for one in checks)
    return bad, [host for host in _hosts(one.suspects for one in checks) if host not in bad]


def _by_itself(run: Run, health: MapHealth) -> Check:
    several = len(health.found) > 1
    findings = [
        _slow(part, size if several else None, proved) for part, size, proved in health.slow
    ]
    nodes = len(set(run.hosts) - {""})
    judged = [f"{run.size} ranks on {nodes or 'unknown'} nodes held against each other"]
    judged += [
        f"{part.name} is {100 * (part.ratio - 1):.0f} % slower: too little to act on"
        for part, _ in health.minor
    ]
    return Check(run, findings, list(health.doubts), judged)


def _slow(part: Slow, nbytes: int | None, proved: bool) -> Finding:
    evidence = part.evidence
    if not proved:
        evidence += "; not proved: a slow link near it, or a slow switch, looks so, too"
    if not part.retested:
        evidence += "; not measured again alone"
    return Finding(
        "slow" if part.retested else "suspect", part.kind, part.name, part.hosts, part.ranks, None,
        nbytes, part.ratio, None, evidence, proved,
    )  # fmt: skip


def _against(
    found: Check, earlier: Earlier, margin: float, memory: Memory, *, settles: bool
) -> Check:
    """Compare a run with earlier ones; ``settles``: they answer what the map left open."""
    reasons = [(one, memory.why_not(found.run, one)) for one in earlier.runs]
    runs = [one for one, why in reasons if not why]
    found = replace(
        found, earlier=len(runs), left_out=[LeftOut(one.where, why) for one, why in reasons if why]
    )
    if len(runs) < ENOUGH:
        number = f"{len(runs)} comparable earlier run{'' if len(runs) == 1 else 's'}"
        doubt = (
            f"{number} in {printable(earlier.folder, 200)}: it needs {ENOUGH}, better 5, of "
            "separate starts: isochrone baseline add"
        )
        return replace(found, doubts=[*found.doubts, doubt])
    if not found.run.complete:
        return replace(found, doubts=[*found.doubts, "a partial run cannot be held against others"])
    try:
        runs = runs[-LATEST:]
        compared = memory.reference(runs).judge(found.run, margin)
    except InputError as error:
        return replace(found, doubts=[*found.doubts, error.what])
    latest = "the latest " if len(runs) < (found.earlier or 0) else ""
    blind = {kind: ratio for kind, ratio in compared.visible.items() if ratio > BLIND}
    doubts = [] if settles else list(found.doubts)
    doubts += [
        f"earlier runs differ so much that a {kind} is seen to be worse from {ratio:.1f} times on "
        "only: add more of them"
        for kind, ratio in blind.items()
    ]
    judged = [
        *found.judged, f"compared with {latest}{len(runs)} earlier runs", *compared.notes,
        *(f"{printable(one.where, 200)} is not usual in {number} of {compared.items} times, and "
          "left out there" for one, number in zip(runs, compared.odd, strict=True) if number),
    ]  # fmt: skip
    findings = [*found.findings, *map(_worse, compared.worse)]
    return replace(found, findings=findings, doubts=doubts, judged=judged, visible=compared.visible)


def _worse(change: Change) -> Finding:
    what = change.what
    beside = "" if what.kind in ("level", "curve") else " over the rest of its run"
    evidence = (
        f"{change.ratio:.2f} times its usual time{beside}, chance stays below "
        f"{change.limit:.2f}: median {format_seconds(change.seconds)}, "
        f"usually {format_seconds(change.usual)}"
    )
    return Finding(
        "worse", what.kind, called(what.kind, what.who), what.hosts, what.ranks,
        what.level if what.kind == "level" else None, what.nbytes, change.ratio, change.limit,
        evidence, change.proved,
    )  # fmt: skip


def _hosts(groups: Any) -> list[str]:
    return list(dict.fromkeys(host for group in groups for host in group if host))
