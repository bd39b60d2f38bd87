"""Labels of curves: what differs between them, and nothing else."""

from __future__ import annotations

from pathlib import Path

from beds.golden import Golden
from isochrone.runfile.run import Run
from isochrone.sweep.curves import Curve, curves
from isochrone.sweep.labels import distinguish, ranks_per_node
from isochrone.views.head import library
from made_up.sweeps import bisection, collective, point_to_point

SIZES = (8, 64)


def drawn(*runs: Run) -> list[tuple[Run, Curve]]:
    return [(run, curve) for run in runs for curve in curves(run)]


def test_runs_with_1_2_and_4_ranks_per_node_are_labelled_so(golden: Golden) -> None:
    """As in the figures of Barton 2003: everything else is common, and said once."""
    found = distinguish(drawn(*(point_to_point(per_node=k, sizes=SIZES) for k in (1, 2, 4))))
    golden(found.each)
    golden(found.common)


def test_modes_libraries_and_origins_tell_curves_apart() -> None:
    one, two, three = (point_to_point(sizes=SIZES, mode=m) for m in ("blocking", "put", "put"))
    two.header["mpi"] = {"library": "Open MPI v5.0.11, package: Debian"}
    three.header["clock"]["simulated"] = True
    found = distinguish(drawn(one, two, three))
    assert found.each == [
        "blocking, MPICH 5.0.2",
        "put, Open MPI 5.0.11",
        "put, MPICH 5.0.2, simulated",
    ]


def test_operations_and_rank_counts_tell_curves_apart() -> None:
    found = distinguish(drawn(collective(ranks=8, sizes=SIZES), collective(ranks=16, sizes=SIZES)))
    assert found.each == [
        "bcast, 8 ranks",
        "allreduce, 8 ranks",
        "bcast, 16 ranks",
        "allreduce, 16 ranks",
    ]
    pairing = (bisection(sizes=SIZES, pairing=p) for p in ("halves", "neighbours"))
    assert distinguish(drawn(*pairing)).each == ["halves", "neighbours"]


def test_the_same_measurement_twice_is_told_apart_by_its_file_or_a_number() -> None:
    one, two = point_to_point(sizes=SIZES), point_to_point(sizes=SIZES)
    assert distinguish(drawn(one, two)).each == ["1", "2"]
    one.path, two.path = Path("before.jsonl"), Path("after.jsonl")
    assert distinguish(drawn(one, two)).each == ["before", "after"]


def test_a_single_curve_needs_no_label() -> None:
    assert distinguish(drawn(point_to_point(sizes=SIZES))).each == [""]


def test_libraries_in_two_words_and_hostile_ones_made_safe() -> None:
    run = point_to_point(sizes=SIZES)
    for text, short in (
        ("MPICH Version:      4.3.1\nMPICH Release date: x", "MPICH 4.3.1"),
        ("Open MPI v4.1.4, package: Debian OpenMPI", "Open MPI 4.1.4"),
        ("Intel(R) MPI Library 2021.10 for Linux", "Intel(R) MPI 2021.10"),
        ("\x1b[31mmine", "\N{REPLACEMENT CHARACTER}[31mmine"),
    ):
        run.header["mpi"] = {"library": text}
        assert library(run) == short
    run.header["mpi"] = {}
    assert library(run) == ""


def test_ranks_per_node_of_uneven_single_and_unknown_nodes(golden: Golden) -> None:
    golden(ranks_per_node(point_to_point(per_node=3, sizes=SIZES)))
    golden(ranks_per_node(point_to_point(per_node=4, sizes=SIZES)))
    nameless = point_to_point(sizes=SIZES)
    nameless.ranks = []
    assert ranks_per_node(nameless) == ""
