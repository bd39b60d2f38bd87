"""What must be measured for the models by which a recorded program is predicted.

Messages are measured between ranks of one node, and of two, if the program ran on several; each
collective operation on its sizes and groups. Smaller sizes are measured as well: parts of a program
become smaller on more ranks.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations

from isochrone.applications.predict.levels import SIZES
from isochrone.applications.traces.trace import SENDS, Trace
from isochrone.base.operations import COLLECTIVES
from isochrone.measure.presets import Preset, ranks_of_all_classes

MODES = {
    "blocking": (),
    "nonblocking": ("--mode", "nonblocking", "--window", "64"),
    "window": ("--window", "64"),
    "bidirectional": ("--mode", "bidirectional"),
}
"""Of messages: alone, by what they follow each other, whether sends wait, both directions."""

LARGE = 1 << 20
"""Bytes beyond which a library has no further protocol, most likely."""

SMALL, SEVERAL = 8, 512
"""Bytes of the smallest block of a collective operation; at least up to the second, for a fit."""

ONCE = ("--repeats", "1", "--warmup", "0")
"""In a simulation each repetition takes the same time; a barrier before it takes time as well."""

MAP = "latency-map"

Sweep = tuple[Preset, int]
"""What is measured, and the number of ranks."""


def sweeps(
    traces: Sequence[Trace],
    hosts: Sequence[str],
    max_ranks: int,
    to: int,
    *,
    simulated: bool,
    mapped: bool,
) -> list[Sweep]:
    """Return the measurements that a prediction of a program needs.

    Parameters
    ----------
    traces
        The program on several numbers of ranks.
    hosts
        Of the ranks of the largest.
    max_ranks
        Ranks on which collective operations are measured.
    to
        Ranks for which the program is predicted: its groups become larger in proportion at most.
    mapped
        Whether a latency map of the machine is known.
    """
    measurements = [*_messages(traces, hosts), *_collectives(traces, hosts, max_ranks, to)]
    if not mapped and len(set(hosts)) > 1:
        sizes = ",".join(map(str, SIZES))
        between = Preset(MAP, MAP, ("--bytes", sizes), "how far nodes are from each other")
        measurements.insert(0, (between, min(max_ranks, to)))
    if not simulated:
        return measurements
    options = {
        MAP: (*ONCE, "--retest", "0"),
        "point-to-point": ONCE,
        "collective": (*ONCE, "--sync", "window"),
    }
    return [
        (replace(preset, options=(*preset.options, *options[preset.experiment])), ranks)
        for preset, ranks in measurements
    ]


def _messages(traces: Sequence[Trace], hosts: Sequence[str]) -> Iterator[Sweep]:
    sizes = [
        event.bytes
        for trace in traces
        for events in trace.ranks
        for event in events
        if event.op in SENDS
    ]
    if not sizes:
        return
    pairs: dict[str, tuple[int, int]] = {}
    for a, b in combinations(range(len(hosts)), 2):
        pairs.setdefault("node" if hosts[a] == hosts[b] else "network", (a, b))
    of = f"0,{_range(1, max(LARGE, *sizes), 2)}"
    for path, (a, b) in pairs.items():
        for mode, options in MODES.items():
            yield (
                Preset(
                    f"messages-{path}-{mode}",
                    "point-to-point",
                    ("--pairs", f"{a}-{b}", *options, "--bytes", of),
                    mode,
                ),
                b + 1,
            )


def _collectives(
    traces: Sequence[Trace], hosts: Sequence[str], max_ranks: int, to: int
) -> Iterator[Sweep]:
    by_op: dict[str, set[tuple[float, tuple[int, ...]]]] = defaultdict(set)
    for trace in traces:
        called = {(e.op, e.bytes, e.members) for events in trace.ranks for e in events}
        for op, size, members in called:
            if op in COLLECTIVES:
                by_op[op].add((size, trace.groups[members]))
    largest = max(traces, key=lambda trace: len(trace.ranks))
    for op, calls in by_op.items():
        sizes, groups = zip(*calls, strict=True)
        options = () if op == "barrier" else ("--bytes", _range(SMALL, max(SEVERAL, *sizes), 4))
        counts = {len(group) for group in groups}
        share = max(counts) / len(largest.ranks)
        group = min(
            max_ranks, int(to * share)
        )  # the largest of the prediction that can be measured
        asked_on = {group, *(1 << k for k in range(1, group.bit_length()))}
        counts |= {*ranks_of_all_classes(max_ranks)} if op == "barrier" else asked_on
        if len(set(hosts)) > 1 and not any(_on_one_node(group, hosts) for group in groups):
            counts = {ranks for ranks in counts if not _on_one_node(range(ranks), hosts)}
        for ranks in sorted(counts - {1}):
            yield Preset(op, "collective", ("--op", op, *options), f"{op} of a program"), ranks


def _on_one_node(ranks: Sequence[int], hosts: Sequence[str]) -> bool:
    return max(ranks) < len(hosts) and len({hosts[rank] for rank in ranks}) == 1


def _range(first: int, last: float, by: int) -> str:
    """Return sizes, each so many times the one before, up to at least the last."""
    size = first
    while size < last:
        size *= by
    return f"{first}:{size}:x{by}"
