"""Forms of collective operations on real MPIs: verified, timed, and beside a computation."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

import pytest

from beds.golden import Golden
from beds.mpis import Mpi
from beds.shim import Shim
from isochrone.base.errors import MeasurementError
from isochrone.base.operations import COLLECTIVES
from isochrone.runfile.file import read
from isochrone.sweep.curves import curves

NONBLOCKING = [f"i{op}" for op in COLLECTIVES]
PERSISTENT = [f"{op}_persistent" for op in COLLECTIVES]
FAULTY = {"debian-mpich": {f"{op}_persistent" for op in ("gather", "scatter", "allgather")}}
"""MPICH 4.0 copies a rank's own block when such a request is made, not when it is started."""

ONE_SIDED = {
    *(f"{op}_{form}" for op in ("alltoall", "allgather", "exchange") for form in ("put", "get")),
    "scatter_put",
    "gather_get",
}
"""Those with equal blocks, one way if they have a root."""

QUICK = ("--op", "all", "--form", "all", "--bytes", "8,1KiB", "--repeats", "2", "--retest", "0")


@pytest.mark.smoke
@pytest.mark.parametrize(("sync", "progress"), [("barrier", "thread"), ("window", "test")])
def test_every_form_of_every_operation_is_timed_on_every_mpi(
    every_mpi: Mpi, tmp_path: Path, sync: str, progress: str
) -> None:
    """Rooted ones with each root, so that each has its persistent request."""
    options = (*QUICK, "--sync", sync, "--root", "rotating", "--progress", progress)
    out = tmp_path / "run.jsonl"
    faulty = FAULTY.get(every_mpi.name, set())
    with pytest.raises(MeasurementError) if faulty else nullcontext():
        every_mpi.run("collective", *options, ranks=2, out=out)
    run = read(out)
    assert {
        text["text"].split()[0] for text in run.warnings if text["code"] == "wrong-result"
    } == faulty
    by_op = {curve.key["op"]: curve for curve in curves(run)}
    assert set(by_op) == {*COLLECTIVES, *NONBLOCKING, *PERSISTENT} - faulty
    for op, curve in by_op.items():
        beside = op not in COLLECTIVES
        assert [point.overlap is not None for point in curve.points] == [beside] * len(curve.points)
    for row in run.tables["sample"].rows():
        if row["op"] not in COLLECTIVES:
            assert 0 < row["compute"] <= row["overall"]
            assert row["post"] + row["complete"] > 0


def test_each_form_is_verified_before_it_is_timed(mpich_shim: Shim, tmp_path: Path) -> None:
    """All deliver one wrong byte here: only what delivers nothing to rank 0 is timed."""
    out = tmp_path / "run.jsonl"
    with pytest.raises(MeasurementError):
        mpich_shim.run("collective", *QUICK, ranks=3, out=out, wrong=0, nodes="2,1")
    run = read(out)
    named = {text["text"].split()[0] for text in run.warnings if text["code"] == "wrong-result"}
    barriers = {"barrier", "ibarrier", "barrier_persistent"}
    of_ranks_before = {"exscan", "iexscan", "exscan_persistent"}  # rank 0 gets nothing
    assert named == {*COLLECTIVES, *NONBLOCKING, *PERSISTENT} - barriers - of_ranks_before
    assert set(run.tables["sample"]["op"]) == barriers | of_ranks_before
    assert run.complete


@pytest.mark.smoke
@pytest.mark.parametrize(
    "neighbours", [("--neighbours", "2"), ("--topology", "graph")], ids=" ".join
)
def test_messages_and_accesses_move_the_blocks_of_operations(
    every_mpi: Mpi, tmp_path: Path, neighbours: tuple[str, str]
) -> None:
    """Three ranks: the two neighbours of a rank differ."""
    options = (*neighbours, "--bytes", "8,1KiB", "--repeats", "2", "--retest", "0")
    timed = set()
    for ops, forms in (
        ("exchange", "all"),
        ("alltoall,allgather,scatter,exchange", "put,put_local"),
        ("alltoall,allgather,gather,exchange", "get,get_local"),
    ):
        out = tmp_path / f"{forms[:3]}.jsonl"
        run = every_mpi.run("collective", "--op", ops, "--form", forms, *options, ranks=3, out=out)
        timed |= {curve.key["op"] for curve in curves(run)}
        beside = {c.key["op"] for c in curves(run) for p in c.points if p.overlap is not None}
        assert beside == ({"iexchange", "exchange_persistent"} if forms == "all" else set())
    local = {f"{op}_local" for op in ONE_SIDED}
    assert timed == ONE_SIDED | local | {"exchange", "iexchange", "exchange_persistent"}


def test_wrong_data_of_messages_and_accesses_are_noticed(mpich_shim: Shim, tmp_path: Path) -> None:
    out = tmp_path / "run.jsonl"
    for ops, form in (("exchange", "all"), ("all", "put"), ("all", "get")):
        options = ("--op", ops, "--form", form, "--bytes", "8,1KiB", "--repeats", "2")
        with pytest.raises(MeasurementError):
            mpich_shim.run("collective", *options, ranks=3, out=out, wrong=0)
        run = read(out)
        assert "sample" not in run.tables, form
        out.unlink()


@pytest.mark.parametrize(
    "options",
    [
        ("--form", "teleport"),
        ("--form", "put"),
        ("--form", "blocking,"),
        ("--form", "all", "--grid", "2x2"),
        ("--form", "nonblocking", "--progress", "prayer"),
    ],
    ids=" ".join,
)
def test_wrong_forms_are_refused_before_a_rank_starts(
    mpich: Mpi, options: tuple[str, ...], golden: Golden
) -> None:
    with golden.refusal():
        mpich.probe.check("collective", ("--op", "bcast", *options), 4)
