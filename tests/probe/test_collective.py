"""Collective operations on real MPIs: each rank's time is kept, the slowest is the operation's."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from beds.golden import Golden
from beds.mpis import Mpi
from beds.shim import Shim
from isochrone.base.errors import InputError, MeasurementError
from isochrone.base.operations import COLLECTIVES, NEIGHBORS
from isochrone.collectives.grid_collectives import OPERATIONS as GRID_OPERATIONS
from isochrone.collectives.grid_collectives import phases
from isochrone.collectives.results import grid_collectives
from isochrone.runfile.file import read

OPERATIONS = list(COLLECTIVES)
IN_PLACE = {op for op in OPERATIONS if op not in ("barrier", "bcast", *NEIGHBORS)}

FORMS = (
    "--counts random --seed 5 --type complex",
    "--counts linear --type float --reduce max --topology graph",
    "--counts one-large --type strided --reduce user",
    "--counts one-large --type char",
    "--in-place --counts linear --type int --reduce user",
)
"""Options that change the data of operations."""


@pytest.mark.smoke
@pytest.mark.parametrize("sync", ["barrier", "window"])
def test_every_operation_is_timed_on_every_mpi(every_mpi: Mpi, tmp_path: Path, sync: str) -> None:
    """All at once, so that one run shows that they do not get into each other's way."""
    options = ("--op", "all", "--bytes", "8,1KiB", "--repeats", "4", "--retest", "0")
    out = tmp_path / "run.jsonl"
    run = every_mpi.run("collective", "--sync", sync, *options, ranks=2, out=out)
    samples = run.tables["sample"]
    found = {(op, nbytes) for op, nbytes in zip(samples["op"], samples["bytes"], strict=True)}
    assert found == {("barrier", 0)} | {(op, b) for op in OPERATIONS[1:] for b in (8, 1024)}
    assert all(len(times) == 2 for times in samples["times"])
    assert samples["seconds"].tolist() == [max(times) for times in samples["times"]]
    assert ("sync" in run.tables) == (sync == "window")


@pytest.mark.smoke
@pytest.mark.parametrize("form", FORMS)
def test_data_are_right_in_every_form(every_mpi: Mpi, tmp_path: Path, form: str) -> None:
    """On four ranks, of which two are each other's neighbours twice in a Cartesian grid."""
    out = tmp_path / "run.jsonl"
    options = ("--op", "all", *form.split(), "--bytes", "16,1KiB", "--repeats", "2")
    run = every_mpi.run("collective", *options, "--retest", "0", ranks=4, out=out)
    timed = set(run.tables["sample"]["op"])
    assert timed == (IN_PLACE if "--in-place" in form else set(OPERATIONS))
    assert "wrong-result" not in {warning["code"] for warning in run.warnings}


@pytest.mark.parametrize("form", ["", *FORMS])
@pytest.mark.parametrize("rank", [0, 1])
def test_each_operation_is_verified_before_it_is_timed(
    mpich_shim: Shim, tmp_path: Path, rank: int, form: str
) -> None:
    """One rank gets a wrong byte from each: none is timed, and nothing else suffers from it.

    Only the root receives from some, and rank 0 nothing from an exscan; in place, the root of a
    scatter keeps its block.
    """
    out = tmp_path / "run.jsonl"
    options = ("--op", "all", *form.split(), "--bytes", "16,1KiB", "--repeats", "2")
    with pytest.raises(MeasurementError):
        mpich_shim.run("collective", *options, ranks=3, out=out, wrong=rank, nodes="2,1")
    run = read(out)
    named = {text["text"].split()[0] for text in run.warnings if text["code"] == "wrong-result"}
    right = {"barrier"} | ({"reduce", "gather", "gatherv"} if rank else {"exscan"})
    if "--in-place" in form:
        right |= {"bcast", *NEIGHBORS} | (set() if rank else {"scatter", "scatterv"})
    assert named == set(OPERATIONS) - right
    assert [r.node for r in run.ranks] == [0, 0, 1]
    assert run.complete
    timed = set(run.tables["sample"]["op"])
    assert timed == {op for op in right if "--in-place" not in form or op in IN_PLACE}


@pytest.mark.parametrize(("root", "expected"), [("fixed", {0}), ("rotating", {0, 1, 2})])
def test_the_root_is_rank_0_or_each_in_turn(
    mpich: Mpi, tmp_path: Path, root: str, expected: set[int]
) -> None:
    options = ("--op", "bcast", "--bytes", "8", "--repeats", "6", "--root", root)
    run = mpich.run("collective", *options, ranks=3, out=tmp_path / "run.jsonl")
    assert set(run.tables["sample"]["root"]) == expected


def test_the_clocks_are_synchronised_again_when_they_have_aged(mpich: Mpi, tmp_path: Path) -> None:
    options = ("--op", "bcast", "--bytes", "8,64", "--repeats", "8", "--sync", "window")
    out = tmp_path / "run.jsonl"
    run = mpich.run("collective", *options, "--sync-age", "1e-6", ranks=2, out=out)
    assert len(run.tables["sync"]) > 2


def test_the_file_says_what_its_seconds_are(mpich: Mpi, tmp_path: Path) -> None:
    options = ("--op", "barrier", "--repeats", "2")
    run = mpich.run("collective", *options, ranks=2, out=tmp_path / "run.jsonl")
    assert run.header["seconds_are"] == "operation, slowest rank"


WRONG = [
    (("--op", "teleport"), "no operation 'teleport'"),
    (("--op", "bcast,"), "no operation ''"),
    (("--op", "allreduce", "--bytes", "12"), "not a multiple of 8"),
    (("--op", "allreduce", "--bytes", "17GiB"), "exceeds the int count"),
    (("--op", "alltoallw", "--bytes", "64MiB"), "exceeds the int count"),
    (("--op", "gather", "--type", "complex", "--bytes", "24"), "not a multiple of 16"),
    (("--op", "reduce", "--type", "strided"), "give --reduce user"),
    (("--op", "scan", "--type", "complex", "--reduce", "max"), "give --reduce user"),
    (("--op", "bcast", "--in-place"), "no bcast in place"),
    (("--op", "all", "--in-place", "--grid", "8x8"), "only one of them"),
    (("--op", "alltoall", "--bytes", "8GiB"), "buffers need"),
    (("--sync", "prayer"), "not one of barrier"),
    (("--root", "1"), "not one of fixed"),
]


@pytest.mark.parametrize(("options", "says"), WRONG, ids=[" ".join(o) for o, _ in WRONG])
def test_wrong_use_is_refused_before_a_rank_starts(
    mpich: Mpi, options: tuple[str, ...], says: str
) -> None:
    with pytest.raises(InputError) as caught:
        mpich.probe.check("collective", options, 64, local=True)
    assert says in str(caught.value)


@pytest.mark.parametrize("experiment", ["point-to-point", "bisection", "collective"])
def test_one_rank_is_too_few(mpich: Mpi, experiment: str, golden: Golden) -> None:
    with golden.refusal():
        mpich.probe.check(experiment, (), 1)


# --- grids ----------------------------------------------------------------------------------------

ON_GRIDS = list(GRID_OPERATIONS)
BY = ["op", "p", "grid", "phase", "groups"]


@pytest.mark.smoke
@pytest.mark.parametrize("sync", ["barrier", "window"])
def test_realisations_and_their_phases_are_timed_on_every_mpi(
    every_mpi: Mpi, tmp_path: Path, sync: str
) -> None:
    """All in one run: the library, the whole operation on the grid, LG and CG alone and at once."""
    options = ("--op", "all", "--grid", "2x2", "--bytes", "64", "--repeats", "2", "--retest", "0")
    out = tmp_path / "run.jsonl"
    run = every_mpi.run("collective", "--sync", sync, *options, ranks=4, out=out)
    assert run.header["by"] == BY
    found = {(p.op, p.grid, p.phase, p.groups): p for p in grid_collectives.points(run)}
    assert {op for op, *_ in found} == set(ON_GRIDS)
    for op in ON_GRIDS:
        rooted = op in ("bcast", "reduce", "gather", "scatter")
        expected = {
            ("library", "total", 1),
            ("2x2", "total", 1),
            ("2x2", "LG", 1),
            ("2x2", "CG", 1),
            ("2x2", "CG", 2),
        }
        expected |= set() if rooted else {("2x2", "LG", 2)}
        assert {key[1:] for key in found if key[0] == op} == expected
        for phase in phases(op, 2, 2, 64):
            alone = found[op, "2x2", phase.group, 1]
            assert (alone.phase_op, alone.phase_ranks) == (phase.op, 2)
            assert alone.phase_bytes == phase.bytes


def test_only_those_who_work_report_their_time(mpich: Mpi, tmp_path: Path) -> None:
    options = ("--op", "allgather", "--grid", "2x2", "--bytes", "64", "--repeats", "2")
    run = mpich.run("collective", *options, ranks=4, out=tmp_path / "run.jsonl")
    rows = list(run.tables["sample"].rows())
    at_work = {(row["grid"], row["phase"], row["groups"]): len(row["times"]) for row in rows}
    assert at_work == {
        ("library", "total", 1): 4,
        ("2x2", "total", 1): 4,
        ("2x2", "LG", 1): 2,
        ("2x2", "LG", 2): 4,
        ("2x2", "CG", 1): 2,
        ("2x2", "CG", 2): 4,
    }
    assert all(row["seconds"] == max(row["times"]) for row in rows)


def test_realisations_take_turns(mpich: Mpi, tmp_path: Path) -> None:
    """A slow moment must not hit one of them only: none is measured twice before all were."""
    options = ("--op", "bcast", "--grid", "2x2", "--bytes", "8,64", "--repeats", "20")
    run = mpich.run("collective", *options, ranks=4, out=tmp_path / "run.jsonl")
    passes = run.tables["sample"]["pass"].tolist()
    assert max(passes) > 1
    assert passes == sorted(passes)


def test_rows_may_be_ragged_and_a_phase_apart_has_a_fixed_root(mpich: Mpi, tmp_path: Path) -> None:
    """Three rows of 2, 2 and 1: the last rank stands in for the member that its row lacks."""
    options = ("--op", "bcast,allgather", "--grid", "rows-of-2", "--root", "rotating")
    run = mpich.run(
        "collective",
        *options,
        "--bytes",
        "64",
        "--repeats",
        "5",
        ranks=5,
        out=tmp_path / "run.jsonl",
    )
    samples = list(run.tables["sample"].rows())
    wide = [s for s in samples if s["op"] == "allgather" and s["groups"] == 2]
    assert {(s["phase"], s["phase_p"], len(s["times"])) for s in wide} == {("LG", 3, 5)}
    assert {s["root"] for s in samples if s["phase"] != "total"} == {0}
    assert {s["root"] for s in samples if s["phase"] == "total"} == {0, 1, 2, 3, 4}


def test_a_grid_of_one_row_is_the_library_and_has_no_phases(mpich: Mpi, tmp_path: Path) -> None:
    options = ("--op", "bcast", "--grid", "1x4,4x1", "--bytes", "64", "--repeats", "2")
    run = mpich.run("collective", *options, ranks=4, out=tmp_path / "run.jsonl")
    found = {(point.grid, point.phase) for point in grid_collectives.points(run)}
    assert found == {("library", "total"), ("1x4", "total"), ("4x1", "total")}


def test_nodes_are_left_out_where_there_is_one(mpich: Mpi, tmp_path: Path, golden: Golden) -> None:
    options = ("--op", "bcast", "--grid", "nodes", "--bytes", "64", "--repeats", "2")
    run = mpich.run("collective", *options, ranks=2, out=tmp_path / "run.jsonl")
    golden([w["text"] for w in run.warnings if w["code"] == "grid-left-out"])
    assert {point.grid for point in grid_collectives.points(run)} == {"library"}


def test_a_time_limit_leaves_each_realisation_some(mpich: Mpi, tmp_path: Path) -> None:
    options = ("--op", "bcast", "--grid", "2x2", "--bytes", "64", "--repeats", "100000")
    out = tmp_path / "run.jsonl"
    run = mpich.run("collective", *options, "--time-limit", "2", ranks=4, out=out)
    assert {(p.grid, p.phase) for p in grid_collectives.points(run)} == {
        ("library", "total"),
        ("2x2", "total"),
        ("2x2", "LG"),
        ("2x2", "CG"),
    }
    assert any(warning["code"] == "repeats-lowered" for warning in run.warnings)


def test_without_grids_nothing_is_said_of_them(mpich: Mpi, tmp_path: Path) -> None:
    options = ("--op", "bcast", "--bytes", "64", "--repeats", "2")
    run = mpich.run("collective", *options, ranks=2, out=tmp_path / "run.jsonl")
    assert run.header["by"] == ["op", "p"]
    assert not {"grid", "phase", "groups"} & set(run.tables["sample"].columns)


WRONG_GRIDS = [
    (("--op", "bcast", "--grid", "8x7"), "grid 8x7 has 56 ranks, not 64"),
    (("--op", "bcast", "--grid", "8x8,nodes,8x8"), "--grid lists '8x8' twice"),
    (("--op", "bcast", "--grid", "eight"), "'eight' is not a grid"),
    (("--op", "bcast", "--grid", "8x8,"), "'' is not a grid"),
    (("--op", "bcast,scan", "--grid", "8x8"), "scan has no grid algorithm"),
    (("--op", "barrier", "--grid", "8x8"), "barrier has no grid algorithm"),
    (("--op", "bcast,bcast", "--grid", "8x8"), "--op lists bcast twice"),
    (("--op", "bcast", "--grid", "8x8", "--bytes", "auto"), "give --bytes a list or range"),
    (("--op", "gather", "--grid", "2x32", "--bytes", "64MiB"), "exceeds the int count"),
    (("--op", "gather", "--grid", "rows-of-9", "--bytes", "40MiB"), "exceeds the int count"),
]


@pytest.mark.parametrize(
    ("options", "says"), WRONG_GRIDS, ids=[" ".join(o) for o, _ in WRONG_GRIDS]
)
def test_wrong_grids_are_refused_before_a_rank_starts(
    mpich: Mpi, options: tuple[str, ...], says: str
) -> None:
    with pytest.raises(InputError) as caught:
        mpich.probe.check("collective", options, 64)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_grids_that_fit_are_accepted(mpich: Mpi) -> None:
    for grid in ("8x8", "1x64", "rows-of-5", "nodes", "2x32,4x16,8x8,16x4,32x2"):
        mpich.probe.check("collective", ("--op", "all", "--grid", grid), 64)
    mpich.probe.check("collective", ("--op", "gather", "--grid", "2x32", "--bytes", "63MiB"), 64)


def test_the_memory_of_a_grid_is_that_of_its_phases_and_its_own_buffers(mpich: Mpi) -> None:
    """Twice two buffers of all blocks: what fits without a grid may not fit with one."""
    there = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    size = str(int(0.3 * there / (64 * 64)) // 8 * 8)
    options = ("--op", "alltoall", "--bytes", size)
    mpich.probe.check("collective", options, 64, local=True)
    with pytest.raises(InputError, match="buffers need"):
        mpich.probe.check("collective", (*options, "--grid", "8x8"), 64, local=True)
