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


CYCLIC = "".join(f"node-{n}\n" for n in (0, 1, 2, 3)) * 4


WRONG = [
    ("gather=mvapich2_two_level", ("gather", "library")),  # takes ranks to be on nodes in blocks
    ("bcast=SMP_linear", ("bcast", "4x4")),  # right on 16 ranks, wrong on the 4 of a row or column
]


@pytest.mark.parametrize(("algorithm", "wrong"), WRONG)
def test_what_returns_wrong_data_is_named_and_not_timed(
    simulation: Simulation, algorithm: str, wrong: tuple[str, str]
) -> None:
    """All else is measured, and the hosts are right: the probe collects them by messages."""
    options = ("--op", "gather,bcast", "--grid", "4x4", "--bytes", "8,1024", "--repeats", "2")
    run = simulation.measure_file(
        "collective",
        parse("nodes:4 cores:4").xml(),
        CYCLIC,
        "--algorithm",
        algorithm,
        *options,
        code=3,
    )
    warned = [one["text"] for one in run.warnings if one["code"] == "wrong-result"]
    assert len(warned) == 1
    assert (algorithm.partition("=")[2] if wrong[1] == "library" else wrong[1]) in warned[0]
    assert run.complete
    assert [rank.host for rank in run.ranks] == CYCLIC.split()
    timed = {(row["op"], row["grid"]) for row in run.tables["sample"].rows()}
    assert timed == {(op, grid) for op in ("bcast", "gather") for grid in ("library", "4x4")} - {
        wrong
    }


@pytest.mark.parametrize(("more", "code"), [("", 3), (",bcast=default", 0)])
def test_a_deadlock_of_the_library_is_said(simulation: Simulation, more: str, code: int) -> None:
    """SimGrid makes communicators with the broadcast of the selector, which may fail; then try
    another one. It ends with 0 nevertheless.
    """
    machine = parse("nodes:4 cores:6")  # a row of 8 ranks is on nodes in parts of 6 and 2
    options = ("--op", "reduce", "--grid", "3x8", "--bytes", "64", "--repeats", "1")
    run = simulation.measure_file(
        "collective",
        machine.xml(),
        machine.hosts(),
        *options,
        "--algorithm",
        f"selector=mpich{more}",
        code=code,
    )
    failed = [one["text"] for one in run.warnings if one["code"] == "failed"]
    assert ["deadlock" in text for text in failed] == ([True] if code else [])
