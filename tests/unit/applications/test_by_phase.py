"""Phases of many ranks, simulated with arrays, take what they take message by message."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from isochrone.applications.description.lowering import program
from isochrone.applications.description.program import Collective, Program
from isochrone.applications.description.reading import parse
from isochrone.applications.predict.message_times import Cost
from isochrone.applications.simulate.by_phase import ByPhase, plan, simulate
from isochrone.applications.simulate.collectives import Unfolding
from isochrone.applications.simulate.simulation import Clocks, step_by_step
from isochrone.base.arrays import Ints


def clocks(
    ranks: int, *, ppn: int = 1, both: float = 1.0, at_once: bool = True, behind: int = 1 << 20
) -> Clocks:
    """Return a machine of 2 µs and 1 GB/s; between switches with `behind` nodes it takes 6 µs."""

    def between(one: Ints, other: Ints) -> Ints:
        return (one // behind != other // behind).astype(np.int64)

    def message(source: int, target: int, phase: int, size: float) -> Cost:
        gap = 2e-7 + 1e-9 * size
        far = source // ppn // behind != target // ppn // behind
        return Cost((6e-6 if far else 2e-6) + gap, gap, 1e-9 * size, size >= 65536, both)

    def operation(step: Collective, members: tuple[int, ...], size: float) -> Unfolding:
        return Unfolding(5e-6 * math.log2(len(members)) + 1e-9 * size)

    return Clocks(
        operation,
        message,
        lambda step, size, rank: [(step, size)],
        [rank // ppn for rank in range(ranks)],
        at_once,
        between,
    )


def made(phases: list[dict[str, Any]], ranks: int, iterations: int = 30) -> Program:
    app = {"name": "x", "ranks": ranks, "iterations": iterations, "phases": phases}
    return program(parse({"isochrone": "app/1", "apps": [app]}, "test"))


HALO = {"topology": {"halo": {"dimensions": 3}}, "bytes": 20000}
CASES: dict[str, list[dict[str, Any]]] = {
    "halo": [{"compute": "30us"}, {"exchange": HALO}, {"every": 5, "allreduce": {"bytes": 8}}],
    "random": [{"compute": {"time": {"exponential": {"mean": "100us"}}}}, {"exchange": HALO}],
    "overlap": [{"exchange": {**HALO, "compute": {"time": "40us", "imbalance": 1.5}}}],
    "large": [{"compute": "30us"}, {"exchange": {**HALO, "bytes": 100000}}],
    "parts": [
        {"compute": "10us"},
        {"alltoall": {"bytes": 4096, "among": [list(range(k, k + 8)) for k in range(0, 64, 8)]}},
        {"alltoall": {"bytes": 4096, "among": [list(range(k, 64, 8)) for k in range(8)]}},
    ],
    "wavefront": [
        {
            "repeat": {
                "times": 4,
                "phases": [
                    {
                        "exchange": {
                            "topology": {"halo": {"dimensions": 2}},
                            "flow": "stream",
                            "bytes": 4000,
                            "compute": "50us",
                        }
                    }
                ],
            }
        },
        {"reduce": {"bytes": 8}},
    ],
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize(
    "machine", [{}, {"ppn": 4}, {"both": 2.0}, {"at_once": False}, {"behind": 16}]
)
def test_both_ways_take_as_long(name: str, machine: dict[str, Any]) -> None:
    what = made(CASES[name], 64)
    of = clocks(64, **machine)
    exact = step_by_step(what, 0, of, least=30)
    found = ByPhase(what, 0, of, plan(enumerate(what.applications[0].steps), what)).simulate(30, 30)
    assert exact.seconds < found.seconds * (1 + found.coarse)
    assert found.seconds < 1.05 * exact.seconds
    if name not in ("random", "overlap"):  # whose phases overlap
        assert found.seconds == pytest.approx(exact.seconds, rel=0.03)


def test_long_repeats_are_simulated_until_they_are_steady() -> None:
    phases = [{"repeat": {"times": 5000, "phases": CASES["halo"]}}]
    what = made(phases, 64, 1)
    few = made([{"repeat": {"times": 500, "phases": CASES["halo"]}}], 64, 1)
    long = simulate(what, 0, clocks(64)).seconds
    assert long == pytest.approx(10 * simulate(few, 0, clocks(64)).seconds, rel=0.01)


def test_a_message_alone_takes_what_it_costs() -> None:
    """Latency, and the time in the port."""
    what = made([{"exchange": {"topology": {"edges": [[0, 1]]}, "bytes": 1000}}], 2, 1)
    found = ByPhase(what, 0, clocks(2), plan(enumerate(what.applications[0].steps), what)).simulate(
        1, 1
    )
    assert np.allclose(found.ends, [2e-6 + 2e-7 + 1e-6])
