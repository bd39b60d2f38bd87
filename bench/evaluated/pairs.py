"""All pairs of simulated machines with a known slow component."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from evaluated import peers
from evaluated.section import Bed, Page, Rows, Section, Table, enumerated, isochrone, percent, span
from isochrone.formats.importers import npz
from isochrone.latency_map.topology import analyse
from isochrone.measure.platforms import Platform, parse
from isochrone.runfile.file import read
from isochrone.runfile.run import Run

TITLE = "Round trips of all pairs, and slow components"
TABLES = ("pairs", "peers")

BASE = "nodes:16 cores:2 switches:4"
MACHINES: dict[str, tuple[str, set[str] | None]] = {
    "nothing slow": (BASE, set()),
    "node x3": (f"{BASE} slow-node:5*3", {"node-5"}),
    "pair x10": (f"{BASE} slow-pair:2-9*10", {"node-2", "node-9"}),
    "switch x10": (f"{BASE} slow-switch:1*10", {f"node-{k}" for k in range(4, 8)}),
    "link x10": ("torus:4x4 slow-link:x-5*10", None),
}
"""Machines, and the hosts of what is slow: none, or None for a link that belongs to no host."""

WORDS = {
    "nothing slow": "a machine without a slow component",
    "node x3": "a slow node",
    "pair x10": "a slow pair",
    "switch x10": "a slow switch",
    "link x10": "a slow link of a torus",
}
"""What is to be found on each machine."""

SCHEDULES = ("serial", "isolated", "rounds")
SIZES = (64, 1 << 18)
COLUMNS = (
    "machine",
    "schedule",
    "error 64 B",
    "error 256 KiB",
    "largest error",
    "simulated ms",
    "verdict",
)
PEER_COLUMNS = (
    "program",
    "machine",
    "error 64 B",
    "error 256 KiB",
    "largest error",
    "simulated ms",
    "listed pairs with a slow host",
    "verdict of Isochrone from its times",
)
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
            isochrone(
                "measure",
                "latency-map",
                "-n",
                ranks,
                "--platform",
                platform,
                "--quiet",
                "--schedule",
                schedule,
                "--bytes",
                ",".join(map(str, SIZES)),
                "--repeats",
                3,
                "-o",
                out,
                "--force",
            )
            rows.append((name, schedule, *_judged(read(out), machine, slow)))
        others += _maps_of_others(bed, platform, name, machine, slow, wrong)
        others += _pairs_of_others(bed, platform, name, machine, wrong)
    others = sorted(others) if bed.peers else bed.measured_before("peers")
    notes = [f"{peers.TITLES[peer]} is not in the table: {why}." for peer, why in wrong.items()]
    tables = [Table("pairs", COLUMNS, rows)]
    if others:
        tables.append(Table("peers", PEER_COLUMNS, others))
    return Section(tables, notes=notes)


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
        yield (
            peers.TITLES[peer],
            name,
            *(percent(float(np.nanmean(one))) for one in off),
            percent(max(float(np.nanmax(one)) for one in off)),
            f"{1e3 * sum(one.seconds for one in maps):.3g}",
            _listed(maps[0], nodes, slow),
            _named(_imported(bed, maps[0], nodes), slow),
        )


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
            yield (
                f"{peers.TITLES[peer]}, {len(FEW)} pairs",
                name,
                *(percent(np.mean(v)) for v in off.values()),
                percent(max(map(max, off.values()))),
                f"{1e3 * took:.3g} (all sizes)",
                "–",
                "–",
            )


def _truth(machine: Platform, size: int) -> Matrix:
    """Return the seconds of one way, from row to column."""
    nodes = machine.node_of_rank()
    return np.array([[machine.one_way(a, b, size) for b in nodes] for a in nodes])


def _imported(bed: Bed, found: peers.Map, nodes: list[int]) -> Run:
    """Return the times of a program of others as a run."""
    trip = 1e6 * (found.one_way + found.one_way.T)
    file = bed.folder / "map.npz"
    np.savez(
        file,
        avg=trip,
        stddev=np.zeros_like(trip),
        hosts=[f"node-{k}" for k in nodes],
        bytes=SIZES[0],
    )
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


def page(facts: dict[str, str], tables: dict[str, Rows]) -> Page:
    """Say what the tables show."""
    rows, others = tables["pairs"], tables.get("peers", [])
    found = [
        _summary(
            f"Isochrone, `{schedule}`",
            [(schedule, *row[:1], *row[2:]) for row in rows if row[1] == schedule],
        )
        for schedule in ("isolated", "serial", "rounds")
    ]
    for name in sorted({row[0] for row in others}):
        found.append(_summary(name, [(*row[:6], row[7]) for row in others if row[0] == name]))
    trees = [row for row in rows if row[0] != "link x10" and row[1] == "isolated"]
    exact = span([cell for row in trees for cell in row[2:4]])
    missed = [WORDS[row[0]] for row in rows if row[1] == "isolated" and row[-1] != "correct"]
    return Page(
        "Is the time of every pair correct, and is the slow component found?",
        f"correct verdicts on {found[0][1]} machines; mean error of times {exact} on machines with switches",
        f"{enumerated(missed)} is not found" if missed else "times on a torus",
        "All pairs of five simulated machines with 16 to 32 ranks are measured. On four of them, the network is a tree of "
        "switches. The first has no slow component, the second a slow node, the third a slow pair, and the fourth a slow switch. "
        "The fifth machine is a torus with a slow link. The true time of a message is the sum of the latencies of its links, plus its size "
        "divided by the smallest bandwidth.\n\n"
        "Isochrone measures with three [schedules](latency-map.md#schedules). The default `isolated` measures pairs at the "
        "same time only if they share no node. `serial` measures one pair at a time, and `rounds` keeps all ranks busy. "
        "OSU and IMB measured only five pairs of each machine, so they have no verdict.\n\n"
        "A verdict is correct if it reports exactly the hosts of the slow component: for example, all hosts of a slow switch. A mean error is the mean over the pairs of a machine. The "
        "table has the smallest and the largest mean error of all machines. The last column is the simulated time to measure both "
        "message sizes on the machine without a slow component.",
        (
            "program",
            "correct verdicts",
            "mean error, 64 B",
            "mean error, 256 KiB",
            "simulated time",
        ),
        found,
        OTHERS if others else "",
        [*_fails(rows), *_fails_of_others(rows, others)],
    )


OTHERS = """\
The other programs print no verdict about hosts. So Isochrone analysed the times of LinkTest, hp2p, mpiGraph and
network_tests2. hp2p and mpiGraph send messages between all pairs at once, and mpiGraph measures bandwidth. So their
times are not those of a single message."""


def _summary(name: str, rows: Rows) -> Row:
    """Return the row of a program or schedule: of it, a machine, errors, time and verdict."""
    alone = rows[0][-1] == "–"  # single pairs, no map
    right = sum(row[-1] == "correct" for row in rows)
    time = next(row[5] for row in rows if row[1] == "nothing slow")
    return (
        name,
        "–" if alone else f"{right} of {len(rows)}",
        span([row[2] for row in rows]),
        span([row[3] for row in rows]),
        "–" if alone else f"{time} ms",
    )


def _fails(rows: Rows) -> list[str]:
    said = []
    for word, what in (
        ("false alarm", "reported, although it is not slow"),
        ("missed", "not found"),
    ):
        for name in WORDS:
            where = [f"`{row[1]}`" for row in rows if row[0] == name and row[-1] == word]
            with_it = f"the schedule {enumerated(where)}" if len(where) < 3 else "any schedule"
            if where:
                said.append(f"{WORDS[name].capitalize()} is {what} with {with_it}.")
    worst = {row[:2]: row[4] for row in rows}
    said.append(
        "On the torus, pairs that `isolated` measures at the same time share links. So the error of a "
        f"single pair at 256 KiB is up to {worst['link x10', 'isolated']}. Use `serial` on a torus."
    )
    most = span([row[4] for row in rows if row[1] == "rounds"]).split(" to ")[-1]
    said.append(
        f"With `rounds`, pairs share links on every machine, and the error of a single pair is up to {most}."
    )
    return said


def _fails_of_others(rows: Rows, others: Rows) -> list[str]:
    own = {row[0]: float(row[5]) for row in rows if row[1] == "isolated"}
    said = []
    faster = sorted({row[0] for row in others if "(" not in row[5] and float(row[5]) < own[row[1]]})
    if faster:
        said.append(
            f"{enumerated(faster)} need less simulated time than `isolated` on some machines."
        )
    false = sorted({row[0] for row in others if row[-1] == "false alarm"})
    if false:
        said.append(f"From the times of {enumerated(false)}, Isochrone raises false alarms.")
    load = sorted({row[0] for row in others if row[1] == "link x10" and row[-1] == "correct"})
    if load:
        said.append(
            f"The slow link of the torus is found only from the times of {enumerated(load)}."
        )
    return said
