"""Algorithms that are forced in a simulation take the time that they take on paper."""

from __future__ import annotations

import numpy as np
import pytest

from beds.simulation import Simulation
from isochrone.measure.platforms import parse

MACHINE = "nodes:8 cores:1"
SMALL, LARGE = 8, 1048576

# messages one after the other, latencies or transfers, until the last of 8 ranks has its data
STEPS = [
    ("bcast=flattree", SMALL, 1),  # all sends begin at once
    ("bcast=flattree", LARGE, 7),  # and share the link of the root
    ("bcast=binomial_tree", SMALL, 3),
    ("bcast=binomial_tree", LARGE, 3),
    ("reduce=flat_tree", LARGE, 7),
    ("reduce=binomial", LARGE, 3),
]


@pytest.mark.few(3)
@pytest.mark.parametrize(("algorithm", "size", "steps"), STEPS)
def test_a_forced_algorithm_is_the_one_that_is_used(
    simulation: Simulation, algorithm: str, size: int, steps: int
) -> None:
    """A tree needs log2(p) steps, a root that serves all alone one transfer for each."""
    machine = parse(MACHINE)
    options = ("--op", algorithm.partition("=")[0], "--bytes", str(size), "--repeats", "2")
    run = simulation.measure("collective", machine, "--algorithm", algorithm, *options)
    seconds = float(np.median(run.tables["sample"]["seconds"]))
    assert seconds == pytest.approx(steps * machine.one_way(0, 7, size), rel=0.02)
    assert run.notes["algorithm"] == algorithm


def test_a_selector_stands_for_the_choice_of_another_library(simulation: Simulation) -> None:
    """`ompi` sends small messages to 8 ranks down a tree of its own, `default` a binomial one."""
    machine = parse(MACHINE)
    options = ("--op", "allgather", "--bytes", "1024", "--repeats", "2")
    times = set()
    for selector in ("ompi", "default"):
        run = simulation.measure(
            "collective", machine, "--algorithm", f"selector={selector}", *options
        )
        times.add(round(float(np.median(run.tables["sample"]["seconds"])), 8))
    assert len(times) == 2
