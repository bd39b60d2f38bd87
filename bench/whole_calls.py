"""Whole collective calls on a cluster of namespaces: predicted from one setting, and from three.

Every call is recorded with its parts, setting after setting in turns, write and read. Each setting
is then predicted from others: what is judged is never among what was fitted.

    PYTHONPATH=bench:tests python bench/whole_calls.py FOLDER [--file FILE] [--seconds N]

measures into a folder what is not there yet, for N seconds, and judges what is there. FILE is
where the tiles are written; best in memory that all nodes see. A hot spot in FOLDER/hot-spot.jsonl
(`measure hotspot`, several sizes) is the model; without, exchanges go by the bytes of the hot spot.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path

import msgspec
import numpy as np

from beds.mpis import CROWDED, MPIS, SCRIPTS, Mpi
from cluster import lifetime
from cluster.measuring import hostfile
from cluster.plan import Plan
from cluster.running import Cluster
from isochrone import models
from isochrone.base.units import format_bytes, format_seconds
from isochrone.collective_io.predict.calls_of_runs import measured_calls
from isochrone.collective_io.predict.node_cost import NodeCost
from isochrone.collective_io.predict.whole_call import MeasuredCall, WholeCall
from isochrone.measure import probe
from isochrone.runfile.file import read
from made_up.jobs import TABLE_II, UNEVEN

RATE = "200mbit"
KIB, MIB = 1 << 10, 1 << 20
ORDERS = {"T16-01": UNEVEN, "T16-04": TABLE_II["T16-04"], "spread": (4, 1, 2, 1, 4, 1, 2, 1)}
WIDTH, ELEMENT = 256, 4
TURNS, REPEATS = 3, 3

MATTERS = 1.1
"""A decision is right or wrong where the measured times differ by more than this factor."""


@dataclass(frozen=True, order=True)
class Case:
    """A call: bytes of a tile, order of the nodes, aggregators and their buffer (0: none)."""

    tile: int
    order: str
    cb_nodes: int
    buffer: int

    def __str__(self) -> str:
        """Name it."""
        size, buffer = format_bytes(self.tile), format_bytes(self.buffer)
        served = f"cb_nodes {self.cb_nodes} buffer {buffer}" if self.cb_nodes else "independent"
        return f"tile {size} {self.order} {served}"

    @property
    def name(self) -> str:
        """Of its files."""
        return f"{self.tile}-{self.order}-{self.cb_nodes}-{self.buffer}"

    def options(self) -> list[str]:
        """Return what the probe is told."""
        hints = f"cb_nodes={self.cb_nodes},cb_buffer_size={self.buffer}"
        if not self.cb_nodes:
            hints = "romio_cb_write=disable,romio_cb_read=disable"
        rows = self.tile // (WIDTH * ELEMENT)
        return [
            "--tiles",
            "4x4",
            "--tile",
            f"{WIDTH}x{rows}",
            "--element",
            str(ELEMENT),
            "--phase",
            "file",
            "--hints",
            hints,
            "--repeats",
            str(REPEATS),
        ]


def cases() -> list[Case]:
    """Choose settings that decisions are between."""
    found = [
        Case(MIB, "T16-01", nodes, buffer)
        for nodes, buffer in (
            (2, 16 * MIB),
            (4, 16 * MIB),
            (8, 16 * MIB),
            (8, 512 * KIB),
            (4, 512 * KIB),
            (8, 2 * MIB),
            (0, 0),
        )
    ]
    found += [
        Case(MIB, order, nodes, 16 * MIB) for order in ("T16-04", "spread") for nodes in (4, 8)
    ]
    found += [Case(4 * MIB, "T16-01", nodes, 16 * MIB) for nodes in (4, 8)]
    found += [Case(MIB, "spread", 8, 512 * KIB), Case(4 * MIB, "T16-01", 8, 2 * MIB)]
    small = [replace(case, tile=256 * KIB) for case in found if case.tile == MIB]
    return found + [case for case in small if case.order == "T16-01"]


def measure(on: Cluster, mpi: Mpi, folder: Path, file: Path, until: float) -> None:
    """Record each case in turns, as far as there is time and it is not there yet."""
    mpiexec = mpi.probe.mpicc.with_name("mpiexec")
    for turn in range(TURNS):
        for case in cases():
            out = folder / f"{case.name}-{turn}.jsonl"
            if out.exists() or time.monotonic() > until:
                continue
            hosts = hostfile(on, ORDERS[case.order], out.with_suffix(".hosts"))
            words = [SCRIPTS / "isochrone", "record", "--collective-io", "-o", out, "--"]
            words += [mpiexec, "-f", hosts, "-n", sum(UNEVEN), mpi.probe.path, "tile-io"]
            words += [*case.options(), "--file", file, "--replace"]
            words += ["--out", out.with_suffix(".tiles"), "--force"]
            answer = on.run(*words, environ=CROWDED, timeout=120)
            assert answer.returncode == 0, answer.stderr


def recorded(folder: Path) -> dict[tuple[Case, bool], list[MeasuredCall]]:
    """Return the calls of each case, writes and reads, a launch each."""
    found: dict[tuple[Case, bool], list[MeasuredCall]] = {}
    for case in cases():
        for path in sorted(folder.glob(f"{case.name}-[0-9].jsonl")):
            # the probe compares the file in calls of its own, which are patterns of their own
            for reading in (False, True):
                mine = [one for one in measured_calls([read(path)]) if one.call.reading == reading]
                found.setdefault((case, reading), []).append(mine[0])
    return found


def typical(calls: Sequence[MeasuredCall]) -> MeasuredCall:
    """Return the median of several launches."""
    names = set.intersection(*(set(one.parts) for one in calls))
    parts = {name: float(np.median([one.parts[name] for one in calls])) for name in names}
    whole = float(np.median([one.seconds for one in calls]))
    return msgspec.structs.replace(calls[0], seconds=whole, parts=parts)


@dataclass(frozen=True)
class Guess:
    """What was predicted for a case and what it was fitted to."""

    case: Case
    seconds: float
    low: float
    high: float
    measured: float
    known: tuple[Case, ...]

    @property
    def off(self) -> float:
        """Deviation of the prediction, as a part of the measured time."""
        return self.seconds / self.measured - 1


def guesses(
    truth: dict[Case, MeasuredCall], model: NodeCost | None, settings: int, each: int = 4
) -> Iterator[Guess]:
    """Predict every case from some of the others with its tiles, drawn at random."""
    draws = np.random.default_rng(0)
    for case, own in truth.items():
        others = [one for one in truth if one != case and one.tile == case.tile and one.cb_nodes]
        if not case.cb_nodes or len(others) < settings:
            continue
        for _ in range(each):
            chosen = [others[k] for k in draws.choice(len(others), settings, replace=False)]
            whole = WholeCall.calibrated(model, [truth[one] for one in chosen])
            cost = whole.predict(own.call, own.by_rank, own.aggregators)
            yield Guess(case, cost.seconds, cost.low, cost.high, own.seconds, tuple(chosen))


def decisions(
    truth: dict[Case, MeasuredCall], model: NodeCost | None, settings: int
) -> Iterator[tuple[Case, Case, float, float]]:
    """Yield pairs that differ in cb_nodes, or in the buffer, or order: measured and predicted.

    With one setting, the first of the pair is the one that was measured, as in `tune`.
    """
    draws = np.random.default_rng(1)
    listed = [case for case in truth if case.cb_nodes]
    for one, other in combinations(listed, 2):
        alike = (one.order != other.order) + (one.cb_nodes != other.cb_nodes)
        if one.tile != other.tile or alike + (one.buffer != other.buffer) != 1:
            continue
        rest = [case for case in listed if case.tile == one.tile and case not in (one, other)]
        if len(rest) < settings - 1:
            continue
        known = [one, *(rest[k] for k in draws.choice(len(rest), settings - 1, replace=False))]
        whole = WholeCall.calibrated(model, [truth[case] for case in known])
        said = [
            whole.predict(truth[c].call, truth[c].by_rank, truth[c].aggregators).seconds
            for c in (one, other)
        ]
        yield one, other, truth[one].seconds / truth[other].seconds, said[0] / said[1]


def judge(folder: Path, *, every: bool = True) -> None:
    """Compare what is predicted with what was measured."""
    found = recorded(folder)
    hot = folder / "hot-spot.jsonl"
    model = NodeCost(models.fit([read(hot)], "auto")) if hot.exists() else None
    for reading in (False, True):
        truth = {case: typical(calls) for (case, way), calls in found.items() if way == reading}
        print(f"\n{'Reads' if reading else 'Writes'}; seconds of parts, medians of launches")
        for case, one in truth.items():
            parts = ", ".join(
                f"{name} {format_seconds(one.parts[name])}" for name in sorted(one.parts)
            )
            print(f"  {case!s:52} {format_seconds(one.seconds):>8}: {parts}")
        for tile in sorted({case.tile for case in truth}):
            print(f" tiles of {format_bytes(tile)}")
            own = {case: one for case, one in truth.items() if case.tile == tile}
            for settings in (1, 3):
                _accuracy(list(guesses(own, model, settings)), settings, every=every)
                _signs(list(decisions(own, model, settings)))


def _accuracy(found: Sequence[Guess], settings: int, *, every: bool) -> None:
    if not found:
        return
    away = np.abs([one.off for one in found])
    covered = np.mean([one.low <= one.measured <= one.high for one in found])
    print(
        f"from {settings} other setting(s), {len(found)} predictions: average deviation "
        f"{away.mean():.1%} (limit 20 %), median {np.median(away):.1%}, worst {away.max():.1%}; "
        f"{covered:.0%} within the interval"
    )
    for one in sorted(found, key=lambda one: -abs(one.off))[: 5 if every else 0]:
        print(
            f"    {one.case!s:52} {format_seconds(one.seconds)} for "
            f"{format_seconds(one.measured)}, from {'; '.join(map(str, one.known))}"
        )


def _signs(found: Sequence[tuple[Case, Case, float, float]]) -> None:
    """Say how many decisions are right; buffers that hold a whole domain are one setting twice."""
    same = [abs(np.log(row[2])) for row in found if abs(np.log(row[3])) < 1e-6]
    noise = float(np.exp(max(same, default=0.0)))
    pairs = [row for row in found if abs(np.log(row[3])) >= 1e-6]
    pairs = [row for row in pairs if not 1 / MATTERS < row[2] < MATTERS]
    wrong = [row for row in pairs if (row[2] > 1) != (row[3] > 1)]
    beyond = [row for row in pairs if not 1 / noise < row[2] < noise]
    still = [row for row in wrong if row in beyond]
    print(
        f"  decisions that matter {len(pairs)}: wrong {len(wrong)}; equal settings differ by up "
        f"to {noise:.2f}, beyond that {len(beyond)}: wrong {len(still)}"
    )
    for one, other, measured, said in wrong:
        print(f"    {one} against {other}: measured {measured:.2f}, predicted {said:.2f}")


def main() -> None:
    """Measure what is missing, and judge."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--file", type=Path)
    parser.add_argument("--seconds", type=float, default=0.0)
    args = parser.parse_args()
    args.folder.mkdir(exist_ok=True)
    if args.seconds:
        built = probe.build(MPIS["mpich-wheel"])
        with lifetime.cluster(Plan(UNEVEN, RATE)) as on:
            until = time.monotonic() + args.seconds
            measure(on, Mpi("mpich", built), args.folder, args.file or args.folder / "tiles", until)
    judge(args.folder)


if __name__ == "__main__":
    main()
