"""The nightly verdict on a run: good, slow, slower than its baseline, or not known.

*Slow* compares the components of a latency map with each other (`map_health`); *slower* compares a
run with earlier runs (`baseline`). A slow component that was not measured again in isolation is
only *possibly slow*. A run that cannot be judged is *not known*, with what to measure.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from msgspec import field
from msgspec.structs import replace

from isochrone.base.documents import Hidden, Inline, shown
from isochrone.base.errors import InputError
from isochrone.base.record import Record
from isochrone.base.text import printable
from isochrone.base.units import format_seconds
from isochrone.base.verdicts import GOOD, NOT_KNOWN, POSSIBLY_SLOW, SLOW, SLOWER
from isochrone.changes.baseline import Change, Reference
from isochrone.changes.comparability import Setting, setting_of, unlike
from isochrone.changes.effects import called
from isochrone.changes.thresholds import BLIND, CHANGE_MARGIN, LATEST, MIN_BASELINE_RUNS
from isochrone.changes.waivers import Rule
from isochrone.latency_map.hierarchy import Known
from isochrone.latency_map.map_health import MapHealth, map_health
from isochrone.latency_map.partitions import numbered
from isochrone.latency_map.slow_part import KINDS, Slow
from isochrone.latency_map.thresholds import MIN_SLOWDOWN, SAMPLE
from isochrone.pages.words import plural
from isochrone.runfile.rules import below_resolution, why_incomparable
from isochrone.runfile.run import Run

VERDICTS = (SLOW, SLOWER, NOT_KNOWN, GOOD)
"""The most severe first: the verdict on several runs is the first that one of them has."""

_PROVES = ("inside", *(kind for kind, traits in KINDS.items() if traits.unit))
"""Kinds of findings that prove their host bad."""

_BLAMED = ("inside", *KINDS)


class Finding(Record):
    """One component that is slow, slower than its baseline, or possibly slow.

    Attributes
    ----------
    verdict
        ``slow``, ``slower`` or ``possibly slow``.
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
        Message size, where the run has several.
    ratio
        Its time over the expected time.
    limit
        Upper limit of normal variation, a ratio; None without a baseline.
    evidence
        One sentence.
    proved
        Whether it proves its host bad.
    allowed
        The waiver that applies; empty if none does.
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
        proved = self.proved and self.verdict != POSSIBLY_SLOW and self.kind in _PROVES
        return self.hosts if proved else ()

    @property
    def suspects(self) -> tuple[str, ...]:
        """The hosts of which one, or what connects them, may be the cause."""
        return self.hosts if self.kind in _BLAMED and not self.bad_hosts else ()


class Memory:
    """What follows from runs, computed once while several runs are judged."""

    def __init__(self) -> None:
        self.known = Known()
        self._about: dict[int, tuple[Run, str, Setting]] = {}
        self._settings: dict[tuple[tuple[str, str], ...], Setting] = {}
        self._unlike: dict[tuple[int, int], str] = {}
        self._latest: tuple[Sequence[int], Reference] | None = None

    def _of(self, run: Run) -> tuple[Run, str, Setting]:
        """Return why a run can be compared with nothing, and its setting: one of those alike."""
        if id(run) not in self._about:
            setting = setting_of(run)
            setting = self._settings.setdefault(tuple(setting.items()), setting)
            why = why_incomparable(run)
            self._about[id(run)] = run, why, setting  # holds the run: its identity stays its own
        return self._about[id(run)]

    def why_not(self, run: Run, other_run: Run) -> str:
        """Say why another run says nothing of this one; empty if it does."""
        (*_, setting), (_, why, other_setting) = self._of(run), self._of(other_run)
        if why or setting is other_setting:
            return why
        if (id(setting), id(other_setting)) not in self._unlike:
            self._unlike[id(setting), id(other_setting)] = unlike(setting, other_setting)
        return self._unlike[id(setting), id(other_setting)]

    def reference(self, runs: Sequence[Run]) -> Reference:
        """Return what comparable earlier runs say."""
        key = [*map(id, runs)]
        if self._latest is None or self._latest[0] != key:
            self._latest = key, Reference(runs, self.known)
        return self._latest[1]


class Earlier(Record):
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


class Check(Record):
    """The verdict on one run.

    Attributes
    ----------
    run
        What was judged.
    findings
        Findings, including waived ones, most severe first.
    doubts
        What cannot be judged, and what to measure; a sentence each.
    judged
        What the verdict is based on; a sentence each.
    earlier
        Number of comparable earlier runs; None without a baseline. The latest `LATEST` of them
        are compared with.
    left_out
        Earlier runs that are not comparable: file and reason.
    visible
        Smallest detectable slowdown, a ratio, by kind.
    hosts
        Of each host of a map, its typical round trip with other hosts over the usual one.
    pairs_measured
        Number of pairs of ranks of a map that were measured.
    fit
        Whether later runs can be compared with this one: it is complete, and nothing in it is
        slow, possibly slow, or far off without an explanation. The verdict may be ``not known``,
        for example because there are too few earlier runs.
    """

    run: Hidden[Run]
    findings: list[Finding]
    doubts: list[str]
    judged: list[str]
    earlier: int | None = None
    left_out: list[LeftOut] = field(default_factory=list)
    visible: dict[str, float] = field(default_factory=dict)
    hosts: dict[str, float] = field(default_factory=dict)
    pairs_measured: int = 0
    fit: bool = False

    @property
    @shown
    def about(self) -> Inline[Judged]:
        """Which run it is."""
        return Judged(self.run.where, self.run.experiment, self.run.kind, self.run.size)

    @property
    @shown
    def verdict(self) -> str:
        """One of `VERDICTS`."""
        verdicts = {finding.verdict for finding in self.findings if not finding.allowed}
        failing = [verdict for verdict in (SLOW, SLOWER) if verdict in verdicts]
        return failing[0] if failing else NOT_KNOWN if self.doubts else GOOD

    @property
    @shown
    def bad_hosts(self) -> list[str]:
        """The hosts proved bad and not waived, in the order of the findings."""
        return _hosts(finding.bad_hosts for finding in self.findings if not finding.allowed)

    @property
    @shown
    def suspects(self) -> list[str]:
        """The hosts that may be bad, without the bad ones."""
        named = _hosts(finding.suspects for finding in self.findings if not finding.allowed)
        bad = self.bad_hosts
        return [host for host in named if host not in bad]


def check(
    run: Run,
    earlier: Earlier | None = None,
    rules: Sequence[Rule] = (),
    *,
    threshold: float = MIN_SLOWDOWN,
    margin: float = CHANGE_MARGIN,
    memory: Memory | None = None,
) -> Check:
    """Judge a run.

    Parameters
    ----------
    run
        Of any kind; all but latency maps need earlier runs.
    earlier
        The runs it is compared with.
    rules
        Waivers.
    threshold
        Threshold: components of a map that add a smaller fraction of the time are not slow.
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
    is_map = len(run.tables.get("pair", ())) > 0
    judgement, far_off = Check(run, [], [], []), False
    zeros = below_resolution(run)
    if zeros:
        return replace(judgement, doubts=[f"{zeros}: use a larger --window or a finer clock"])
    if is_map:
        health = map_health(run, threshold, memory.known)
        judgement, far_off = _by_itself(run, health), health.far_off
    elif run.kind == "latency-map":
        judgement.doubts.append("the map has no pairs: measure again")
    elif earlier is None:
        judgement.doubts.append(
            f"a run of {printable(run.experiment, 40)} can only be judged with --baseline"
        )
    if earlier is not None:
        judgement = _against(judgement, earlier, margin, memory, settles=is_map and not far_off)
    findings = [
        replace(
            finding,
            allowed=next(
                (
                    rule.text
                    for rule in rules
                    if rule.covers(
                        finding.kind, finding.hosts, finding.ranks, finding.level, finding.ratio
                    )
                ),
                "",
            ),
        )
        for finding in judgement.findings
    ]
    doubts = list(judgement.doubts)
    count = sum(finding.verdict == POSSIBLY_SLOW and not finding.allowed for finding in findings)
    if count:
        components = "1 component is" if count == 1 else f"{count} components are"
        doubts.append(f"{components} possibly slow, not confirmed: measure again")
    findings.sort(key=lambda finding: (bool(finding.allowed), finding.verdict == POSSIBLY_SLOW))
    fit = run.complete and not far_off and all(finding.allowed for finding in findings)
    return replace(judgement, findings=findings, doubts=doubts, fit=fit)


def slower_pairs(run: Run, earlier: Sequence[Run]) -> list[tuple[int, int]]:
    """Return pairs of ranks of a map that should be measured again, alone.

    Of each node, rank or pair that is slower than in earlier runs, at most `SAMPLE`; none if one of
    them was measured again twice. Of two such times the shorter counts: a burst of other traffic
    hits a pair hardly twice.
    """
    table, chosen = run.pairs(), dict[tuple[int, int], None]()
    i, j, node = table["i"], table["j"], numbered(run.hosts)
    again = np.flatnonzero(table.flag("retest"))
    points = np.column_stack([i, j, table["bytes"]])[again]
    _, point, count = np.unique(points, axis=0, return_inverse=True, return_counts=True)
    twice = again[count[point.ravel()] > 1]
    for finding in check(run, Earlier("", earlier)).findings:
        ends = np.isin(i, finding.ranks).astype(int) + np.isin(j, finding.ranks)
        affected = ends == 1 if finding.kind in ("node", "rank", "switch") else ends == 2
        if finding.kind == "pair" and len(finding.ranks) > 2:
            affected &= node[i] != node[j]
        if finding.verdict == SLOWER and finding.ranks and not affected[twice].any():
            rows = np.flatnonzero(affected)[:: max(1, np.sum(affected) // SAMPLE)][:SAMPLE]
            chosen |= dict.fromkeys(zip(i[rows].tolist(), j[rows].tolist(), strict=True))
    return list(chosen)


def together(checks: Sequence[Check]) -> str:
    """Return the verdict on several runs."""
    verdicts = {judgement.verdict for judgement in checks}
    return next(verdict for verdict in VERDICTS if verdict in verdicts)


def hosts_of(checks: Sequence[Check]) -> tuple[list[str], list[str]]:
    """Return the bad hosts of several runs, and the suspects without them, each once."""
    bad = _hosts(judgement.bad_hosts for judgement in checks)
    return bad, [
        host for host in _hosts(judgement.suspects for judgement in checks) if host not in bad
    ]


def _by_itself(run: Run, health: MapHealth) -> Check:
    several = len(health.found) > 1
    findings = [
        _slow(component, size if several else None, proved)
        for component, size, proved in health.slow
    ]
    nodes = len(set(run.hosts) - {""})
    where = plural(nodes, "node") if nodes else "unknown nodes"
    judged = [f"compared {plural(run.size, 'rank')} on {where} with each other"]
    doubts, visible = list(health.doubts), {}
    if math.isfinite(health.detectable):
        visible["node"] = health.detectable
        percent = f"{100 * (health.detectable - 1):.0f} %"
        if health.detectable > BLIND:
            doubts.append(f"a node {percent} slower might not be found: measure more --repeats")
        elif not health.slow:
            judged[0] += f": a node {percent} slower would have been found"
    judged += [
        # rounded down: 9.99 % is below a threshold of 10 %
        f"{component.name} is {math.floor(1000 * (component.ratio - 1)) / 10:.3g} % slower: "
        "below the threshold"
        for component, _ in health.minor
    ]
    return Check(
        run,
        findings,
        doubts,
        judged,
        visible=visible,
        hosts=health.hosts,
        pairs_measured=health.measured,
    )


def _slow(component: Slow, nbytes: int | None, proved: bool) -> Finding:
    evidence = component.evidence
    if not proved:
        evidence += "; inconclusive: a slow link or switch would look the same"
    if not component.retested:
        evidence += "; not yet confirmed"
    return Finding(
        SLOW if component.retested else POSSIBLY_SLOW,
        component.kind,
        component.name,
        component.hosts,
        component.ranks,
        None,
        nbytes,
        component.ratio,
        None,
        evidence,
        proved,
    )


def _against(
    judgement: Check, earlier: Earlier, margin: float, memory: Memory, *, settles: bool
) -> Check:
    """Compare a run with earlier ones; ``settles``: they answer what the map left open."""
    reasons = [
        (earlier_run, memory.why_not(judgement.run, earlier_run)) for earlier_run in earlier.runs
    ]
    runs = [earlier_run for earlier_run, why in reasons if not why]
    judgement = replace(
        judgement,
        earlier=len(runs),
        left_out=[LeftOut(earlier_run.where, why) for earlier_run, why in reasons if why],
    )
    try:
        if len(runs) < MIN_BASELINE_RUNS:
            available = f"{len(runs)} comparable earlier run{'' if len(runs) == 1 else 's'}"
            raise InputError(
                f"{available} in {printable(earlier.folder, 200)}, {MIN_BASELINE_RUNS} needed "
                "(5 recommended): "
                "isochrone baseline add"
            )
        if not judgement.run.complete:
            raise InputError("a partial run cannot be compared with earlier runs")
        runs = runs[-LATEST:]
        compared = memory.reference(runs).judge(judgement.run, margin)
    except InputError as error:
        return replace(judgement, doubts=[*judgement.doubts, error.what])
    latest = "the latest " if len(runs) < (judgement.earlier or 0) else ""
    blind = {kind: ratio for kind, ratio in compared.visible.items() if ratio > BLIND}
    doubts = [] if settles else list(judgement.doubts)
    doubts += [
        f"earlier runs vary: smallest detectable slowdown {ratio:.1f}x "
        f"({kind.replace('inside', 'inside of a node')}); add runs"
        for kind, ratio in blind.items()
    ]
    judged = [
        *judgement.judged,
        f"compared with {latest}{len(runs)} earlier runs",
        *compared.notes,
        *(
            f"{printable(earlier_run.where, 200)} is an outlier in {outliers} of {compared.items} "
            "times, ignored there"
            for earlier_run, outliers in zip(runs, compared.odd, strict=True)
            if outliers
        ),
    ]
    findings = [*judgement.findings, *map(_slower, compared.worse)]
    visible = {kind: max(ratio, 1 + margin) for kind, ratio in compared.visible.items()}
    return replace(
        judgement,
        findings=findings,
        doubts=doubts,
        judged=judged,
        visible=judgement.visible | visible,
    )


def _slower(change: Change) -> Finding:
    quantity = change.what
    relative = "" if quantity.kind in ("level", "curve") else " relative to the rest of the run"
    reference = (
        "its baseline"
        if change.runs >= MIN_BASELINE_RUNS
        else f"the usual of {quantity.kind}s like it"
    )
    evidence = (
        f"{change.ratio:.2f}x {reference}{relative} (normal variation up to {change.limit:.2f}x): "
        f"median {format_seconds(change.seconds)}, baseline {format_seconds(change.usual)}"
    )
    return Finding(
        SLOWER,
        quantity.kind,
        called(quantity.kind, quantity.who),
        quantity.hosts,
        quantity.ranks,
        quantity.level if quantity.kind == "level" else None,
        quantity.nbytes,
        change.ratio,
        change.limit,
        evidence,
        change.proved,
    )


def _hosts(groups: Any) -> list[str]:
    return list(dict.fromkeys(host for group in groups for host in group if host))
