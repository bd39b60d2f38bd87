"""All pairs of simulated machines with a known slow component."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from evaluated import peers
from evaluated.section import Bed, Section, Table, isochrone, percent
from isochrone.formats.importers import npz
from isochrone.latency_map.topology import analyse
from isochrone.measure.platforms import Platform, parse
from isochrone.runfile.file import read
from isochrone.runfile.run import Run

TITLE = "Pairs: error, disturbance, cost, and the slow component"

BASE = "nodes:16 cores:2 switches:4"
MACHINES: dict[str, tuple[str, set[str] | None]] = {
    "nothing slow": (BASE, set()),
    "node x3": (f"{BASE} slow-node:5*3", {"node-5"}),
    "pair x10": (f"{BASE} slow-pair:2-9*10", {"node-2", "node-9"}),
    "switch x10": (f"{BASE} slow-switch:1*10", {f"node-{k}" for k in range(4, 8)}),
    "link x10": ("torus:4x4 slow-link:x-5*10", None),
}
"""Machines, and the hosts of what is slow: none, or None for a link that belongs to no host."""

SCHEDULES = ("serial", "isolated", "rounds")
SIZES = (64, 1 << 18)
COLUMNS = (
    "machine", "schedule", "error 64 B", "error 256 KiB", "largest error", "simulated ms", "verdict",
)  # fmt: skip
PEER_COLUMNS = (
    "program", "machine", "error 64 B", "error 256 KiB", "largest error", "simulated ms",
    "listed pairs with a slow host", "verdict of Isochrone from its times",
)  # fmt: skip
FEW = ((0, 1), (0, 2), (0, 8), (0, 10), (5, 13))
"""Pairs of ranks for programs that measure one pair in a launch."""
Row = tuple[str, ...]
Matrix = NDArray[np.float64]


def evaluate(bed: Bed) -> Section:
    """Measure each machine with each schedule."""
    rows: list[Row] = []
    others: list[Row] = []
    wrong: dict[str, str] = {}
    for name, (line, slow) in MACHINES.items():
        machine = parse(_with_link(line))
        platform = bed.folder / f"{name.replace(' ', '-')}.xml"
        isochrone("platform", machine.description, "-o", platform, "--force")
        ranks = len(machine.node_of_rank())
        for schedule in SCHEDULES:
            out = bed.folder / "map.jsonl"
            isochrone("measure", "latency-map", "-n", ranks, "--platform", platform, "--quiet",
                      "--schedule", schedule, "--bytes", ",".join(map(str, SIZES)),
                      "--repeats", 3, "-o", out, "--force")  # fmt: skip
            rows.append((name, schedule, *_judged(read(out), machine, slow)))
        others += _maps_of_others(bed, platform, name, machine, slow, wrong)
        others += _pairs_of_others(bed, platform, name, machine, wrong)
    others = sorted(others) if bed.peers else bed.measured_before("peers")
    return Section(
        f"{len(MACHINES)} machines of 16 to 32 ranks in SimGrid, all pairs, 64 B and 256 KiB. The "
        "truth is the sum of the latencies of the links and the size over the smallest bandwidth.",
        [*_found(rows), *_found_by_others(rows, others)],
        [*_fails(rows), *_fails_against_others(rows, others),
         *(f"{peers.TITLES[peer]} is not in the table: {why}." for peer, why in wrong.items())],
        [Table("pairs", COLUMNS, rows, shown=15),
         *([Table("peers", PEER_COLUMNS, others, shown=40)] if others else [])],
    )  # fmt: skip


def _maps_of_others(
    bed: Bed,
    platform: Path,
    name: str,
    machine: Platform,
    slow: set[str] | None,
    wrong: dict[str, str],
) -> Iterator[Row]:
    """Yield a row of each given program that measures all pairs."""
    nodes = machine.node_of_rank()
    for peer in peers.MAPS.keys() & bed.peers.keys() - wrong.keys():
        try:
            maps = [peers.MAPS[peer](bed, platform, len(nodes), size) for size in SIZES]
        except (peers.PeerError, OSError, ValueError) as error:
            wrong[peer] = str(error)
            continue
        off = [
            np.abs(one.one_way / _truth(machine, size) - 1)
            for one, size in zip(maps, SIZES, strict=True)
        ]
        yield (peers.TITLES[peer], name, *(percent(float(np.nanmean(one))) for one in off),
               percent(max(float(np.nanmax(one)) for one in off)),
               f"{1e3 * sum(one.seconds for one in maps):.3g}", _listed(maps[0], nodes, slow),
               _named(_imported(bed, maps[0], nodes), slow))  # fmt: skip


def _pairs_of_others(
    bed: Bed, platform: Path, name: str, machine: Platform, wrong: dict[str, str]
) -> Iterator[Row]:
    """Yield a row of each given program that measures one pair in a launch: of a few pairs."""
    nodes = machine.node_of_rank()
    hosts = platform.with_suffix(".hosts").read_text().split()
    pair = bed.folder / "pair.xml"
    pair.write_text(platform.read_text())
    for peer in peers.MESSAGES.keys() & bed.peers.keys() - wrong.keys():
        off: dict[int, list[float]] = {size: [] for size in SIZES}
        took = 0.0
        for a, b in FEW:
            pair.with_suffix(".hosts").write_text(f"{hosts[a]}\n{hosts[b]}\n")
            try:
                curve, seconds = peers.MESSAGES[peer](bed, pair)
            except (peers.PeerError, OSError, ValueError) as error:
                wrong[peer] = str(error)
                break
            took += seconds
            for size, errors in off.items():
                errors.append(abs(curve[size] / machine.one_way(nodes[a], nodes[b], size) - 1))
        else:
            yield (f"{peers.TITLES[peer]}, {len(FEW)} pairs", name, *(percent(np.mean(v)) for v in off.values()),
                   percent(max(map(max, off.values()))), f"{1e3 * took:.3g} (all sizes)", "–", "–")  # fmt: skip


def _truth(machine: Platform, size: int) -> Matrix:
    """Return the seconds of one way, from row to column."""
    nodes = machine.node_of_rank()
    return np.array([[machine.one_way(a, b, size) for b in nodes] for a in nodes])


def _imported(bed: Bed, found: peers.Map, nodes: list[int]) -> Run:
    """Return the times of a program of others as a run."""
    trip = 1e6 * (found.one_way + found.one_way.T)
    file = bed.folder / "map.npz"
    np.savez(file, avg=trip, stddev=np.zeros_like(trip), hosts=[f"node-{k}" for k in nodes],
             bytes=SIZES[0])  # fmt: skip
    return npz.read(file)


def _listed(found: peers.Map, nodes: list[int], slow: set[str] | None) -> str:
    """Return how many of the pairs that a program lists have a host that is slow."""
    if found.listed is None:
        return "lists none"
    if slow is None:
        return f"lists {len(found.listed)}"
    right = sum(f"node-{nodes[a]}" in slow or f"node-{nodes[b]}" in slow for a, b in found.listed)
    return f"{right} of {len(found.listed)}"


def _with_link(line: str) -> str:
    """Return the line with the name of a link that the torus has."""
    if "slow-link" not in line:
        return line
    first = next(name for name in parse(line.split(" slow-link")[0]).links if name != "loopback")
    return line.replace("x-5", first)


def _judged(run: Run, machine: Platform, slow: set[str] | None) -> Row:
    errors, worst = [], 0.0
    for size in SIZES:
        trip = run.matrix(run.statistic(), size, retested=False)
        off = np.abs(trip / (2 * _truth(machine, size)) - 1)
        errors.append(percent(float(np.nanmean(off))))
        worst = max(worst, float(np.nanmax(off)))
    end = (run.end or {})["seconds"]
    return (*errors, percent(worst), f"{1e3 * end:.3g}", _named(run, slow))


def _named(run: Run, slow: set[str] | None) -> str:
    """Return whether the hosts that are named are the slow ones."""
    found = {frozenset(one.hosts) for one in analyse(run).slow}
    wanted = {frozenset(slow)} if slow else set()
    return (
        "false alarm"
        if found - wanted
        else "missed"
        if slow is None or wanted - found
        else "correct"
    )


def _found(rows: list[Row]) -> list[str]:
    said = []
    for schedule in SCHEDULES:
        own = [row for row in rows if row[1] == schedule]
        right = sum(row[-1] == "correct" for row in own)
        said.append(f"`{schedule}`: the verdict is correct on {right} of {len(own)} machines.")
    cost = {
        row[1]: float(row[5]) for row in rows if row[0] == "nothing slow" and row[1] in SCHEDULES
    }
    said.append(f"The schedule `isolated` takes {cost['serial'] / cost['isolated']:.1f} times less "
                "machine time than `serial` for the same pairs.")  # fmt: skip
    return said


def _fails(rows: list[Row]) -> list[str]:
    said = []
    for word, what in (
        ("false alarm", "A component that is not slow is named"),
        ("missed", "The slow component is not named"),
    ):
        where = [f"{row[0]} (`{row[1]}`)" for row in rows if row[-1] == word]
        if where:
            said.append(f"{what}: {', '.join(where)}.")
    torus = next(row for row in rows if row[:2] == ("link x10", "isolated"))
    said.append(f"On a torus, pairs of `isolated` share links: errors up to {torus[4]} at 256 KiB. "
                "Only `serial` is correct there.")  # fmt: skip
    said.append(
        "`rounds` measures the machine under load: pairs share links, which causes its errors."
    )
    return said


def _found_by_others(rows: list[Row], others: list[Row]) -> list[str]:
    if not others:
        return []
    names = sorted({row[0] for row in others})
    right = {name: sum(row[-1] == "correct" for row in others if row[0] == name) for name in names}
    maps = [f"{name} {right[name]}" for name in names if not name.endswith("pairs")]
    own = next(row for row in rows if row[:2] == ("nothing slow", "isolated"))
    costs = [
        f"{row[0]} {row[5]} ms" for row in others if row[1] == "nothing slow" and "(" not in row[5]
    ]
    return [
        "",
        "Programs of others, on the same machines: none prints a verdict about a host. LinkTest lists as many pairs as "
        "there are ranks, slow or not. hp2p and mpiGraph load the network with all pairs at once by design, and mpiGraph "
        "measures bandwidth: their times are not those of a single message. Number of machines with a correct verdict "
        f"when Isochrone analyses their times: {', '.join(maps)} (of {len(MACHINES)}).",
        f"Simulated time of two maps of 32 ranks: Isochrone {own[5]} ms (`isolated`, 3 repetitions), {', '.join(costs)} "
        "(LinkTest 3 repetitions and one warm-up, in both directions; the others 10).",
    ]


def _fails_against_others(rows: list[Row], others: list[Row]) -> list[str]:
    own = {row[0]: float(row[5]) for row in rows if row[1] == "isolated"}
    faster = sorted({row[0] for row in others if "(" not in row[5] and float(row[5]) < own[row[1]]})
    said = (
        [f"{', '.join(faster)}: less machine time than `isolated` on some or all machines."]
        if faster
        else []
    )
    false = sorted({row[0] for row in others if row[-1] == "false alarm"})
    if false:
        said.append(
            f"From times of {', '.join(false)} Isochrone gives false alarms: these times contain load, or polling."
        )
    load = sorted({row[0] for row in others if row[1] == "link x10" and row[-1] == "correct"})
    if load:
        said.append(
            f"The slow link of the torus is found from the times of {', '.join(load)}, not from ours."
        )
    return said
