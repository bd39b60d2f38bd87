"""Exchanges of collective I/O over message sizes, orders of nodes, aggregators and buffers.

One model, fitted to a hot spot of several sizes, is to predict them all: how long they take, and
which number of aggregators and which buffer is the better one.

    PYTHONPATH=bench:tests python bench/exchange_sizes.py FOLDER     measure into a folder, or
                                                                     predict again what is there
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from pathlib import Path

import numpy as np

from beds.mpis import Mpi
from cluster import lifetime
from cluster.measuring import hostfile, measure
from cluster.plan import Plan
from cluster.running import Cluster
from isochrone import models
from isochrone.base.units import format_bytes, format_seconds
from isochrone.collective_io.patterns.tiles import tile_io
from isochrone.collective_io.predict.node_cost import NodeCost, predict
from isochrone.collective_io.workload.call import Call, aggregators
from isochrone.collective_io.workload.traffic import layout_of
from isochrone.measure import probe
from isochrone.measure.probe import Probe
from isochrone.runfile.file import read
from made_up.jobs import TABLE_II, UNEVEN, shuffled

__all__ = ["exchange_sizes"]

RATE = "200mbit"
HOT_SPOT = ("--bytes", "32KiB,256KiB,1MiB,2MiB", "--warmup", 1, "--repeats", 5, "--time-limit", 190)
ORDERS = TABLE_II | shuffled(6) | {"spread": (4, 1, 2, 1, 4, 1, 2, 1)}
WIDTH, ELEMENT = 1024, 4
WHOLE = 1 << 30
"""A buffer that takes a file domain in one round."""

TURNS = 2
"""Launches of each exchange, in turns."""

MATTERS = 1.1
"""A decision is right or wrong where the measured times differ by more than this factor."""


@dataclass(frozen=True)
class Case:
    """An exchange: the order of the nodes, bytes of a tile, aggregators and their buffer."""

    order: str
    tile: int
    cb_nodes: int = 8
    buffer: int = WHOLE

    def __str__(self) -> str:
        """Name it."""
        buffer = "" if self.buffer == WHOLE else f" buffer {format_bytes(self.buffer)}"
        return f"{self.order} tile {format_bytes(self.tile)} cb_nodes {self.cb_nodes}{buffer}"

    def call(self) -> Call:
        """Return what is predicted."""
        rows = self.tile // (WIDTH * ELEMENT)
        return Call(tile_io(4, 4, (WIDTH, rows), ELEMENT), buffer=self.buffer)


def cases() -> list[Case]:
    """Choose exchanges: messages of 128 KiB to 4 MiB, and those that a decision is between."""
    KiB, MiB = 1 << 10, 1 << 20
    found = [
        Case(order, tile, nodes)
        for order in ("T16-01", "T16-04", "random-1", "spread")
        for tile in (256 * KiB, MiB, 4 * MiB)
        for nodes in (2, 4, 8)
    ]
    found += [Case(order, 4 * MiB) for order in ORDERS if order not in {one.order for one in found}]
    for order in ("T16-01", "spread"):
        found += [Case(order, 4 * MiB, 8, buffer) for buffer in (512 * KiB, 2 * MiB)]
        found += [Case(order, 4 * MiB, 6), Case(order, MiB, 4, MiB)]
    return found


def exchange_sizes(built: Probe, folder: Path) -> None:
    """Measure a hot spot of several sizes and exchanges, and predict these by it."""
    if built.library.startswith("Open MPI"):
        print("\ncollective I/O is measured with MPICH, whose library it is about")
        return
    if why := lifetime.obstacle():
        print(f"\nexchanges of several sizes are not measured: {why}")
        return
    with lifetime.cluster(Plan(UNEVEN, RATE)) as on:
        mpi = Mpi("mpich", built)
        measure(on, mpi, folder / "hot-spot.jsonl", *HOT_SPOT, "--force", experiment="hotspot")
        exchanges(on, mpi, folder)
    judge(folder)


def exchanges(on: Cluster, mpi: Mpi, folder: Path) -> None:
    """Measure all exchanges in turns."""
    times: dict[Case, list[float]] = {case: [] for case in cases()}
    for turn in range(TURNS):
        for case in times:
            times[case] += _exchange(on, mpi, folder / f"exchange-{turn}.jsonl", case)
    rows = [{**asdict(case), "seconds": seconds} for case, seconds in times.items()]
    (folder / "exchanges.json").write_text(json.dumps(rows))


def _exchange(on: Cluster, mpi: Mpi, out: Path, case: Case) -> list[float]:
    hosts = hostfile(on, ORDERS[case.order], out.with_suffix(".hosts"))
    ranks = aggregators(_hosts(case), nodes=case.cb_nodes)
    rows = case.tile // (WIDTH * ELEMENT)
    options = (
        "--phase",
        "exchange",
        "--tiles",
        "4x4",
        "--tile",
        f"{WIDTH}x{rows}",
        "--element",
        ELEMENT,
        "--cb-buffer",
        case.buffer,
        "--repeats",
        2,
        "--force",
        "--aggregators",
        ",".join(map(str, ranks)),
    )
    table = measure(on, mpi, out, *options, experiment="tile-io", hosts=hosts).tables["sample"]
    return [float(one) for one in table["seconds"][table["op"] == "write"]]


def _hosts(case: Case) -> list[str]:
    """Name the host of each rank."""
    return [f"m{k}" for k, ranks in enumerate(ORDERS[case.order]) for _ in range(ranks)]


def predicted(case: Case, model: NodeCost) -> float:
    """Return the seconds that are predicted."""
    hosts = _hosts(case)
    layout = layout_of(hosts)
    servers = aggregators(hosts, nodes=case.cb_nodes)
    return predict(case.call().round_kinds(len(servers)), layout, servers, model).seconds


def measured(folder: Path) -> dict[Case, float]:
    """Return the median seconds of each exchange in a folder."""
    rows = json.loads((folder / "exchanges.json").read_text())
    return {
        Case(**{key: row[key] for key in ("order", "tile", "cb_nodes", "buffer")}): float(
            np.median(row["seconds"])
        )
        for row in rows
    }


def decisions(found: Sequence[Case]) -> Iterator[tuple[Case, Case]]:
    """Yield pairs that differ in the number of aggregators or in their buffer alone."""
    for one, other in combinations(found, 2):
        same_buffer = replace(one, cb_nodes=other.cb_nodes) == other
        if same_buffer or replace(one, buffer=other.buffer) == other:
            yield one, other


def judge(folder: Path, family: str = "auto", *, each: bool = True) -> None:
    """Fit the hot spot, and compare what it predicts with what was measured."""
    model = models.fit([read(folder / "hot-spot.jsonl")], family)
    print(f"\nExchanges of several sizes, aggregators and buffers, {RATE}:")
    for segment in model.segments:
        words = zip(segment.coefficients, segment.terms, strict=True)
        formula = " + ".join(f"{value:.3g} {term}" for value, term in words)
        print(f"{segment.family} {segment.range}: {formula}; R2 = {segment.r2:.4f}")
    cost, found = NodeCost(model), measured(folder)
    said = {case: predicted(case, cost) for case in found}
    off = {case: said[case] / seconds - 1 for case, seconds in found.items()}
    for case, seconds in found.items() if each else ():
        print(
            f"  {case!s:45} {format_seconds(said[case]):>8} {format_seconds(seconds):>8} "
            f"{off[case]:+6.1%}"
        )
    away = np.abs(list(off.values()))
    print(
        f"exchanges {len(off)}: average deviation {away.mean():.1%} (limit 15 %), "
        f"worst {away.max():.1%}"
    )
    pairs = [
        pair
        for pair in decisions(list(found))
        if not 1 / MATTERS < found[pair[0]] / found[pair[1]] < MATTERS
    ]
    wrong = [(a, b) for a, b in pairs if (said[a] < said[b]) != (found[a] < found[b])]
    print(f"decisions where times differ by 10 % {len(pairs)}: wrong {len(wrong)} (limit 0)")
    for a, b in wrong:
        print(
            f"  {a} against {b}: measured {found[a] / found[b]:.2f}, "
            f"predicted {said[a] / said[b]:.2f}"
        )


def main() -> None:
    """Measure if nothing is there yet, and predict."""
    folder = Path(sys.argv[1])
    if (folder / "exchanges.json").exists():
        judge(folder)
    else:
        folder.mkdir(exist_ok=True)
        exchange_sizes(probe.build(probe.find_mpicc()), folder)


if __name__ == "__main__":
    main()
