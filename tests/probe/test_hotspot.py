"""Hot spots on real MPIs: every point of the grid, raw samples, and only those who take part."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from beds.golden import Golden
from beds.mpis import Mpi
from beds.shim import Shim
from isochrone.base.errors import InputError
from isochrone.runfile.run import Run

QUICK = ("--bytes", "16KiB", "--repeats", "4")


def grid(run: Run) -> set[tuple[int, int, int]]:
    """Points that were measured: messages within the hot node, into it and out of it."""
    table = run.tables["sample"]
    columns = (table[key].tolist() for key in ("intra", "in", "out"))
    return set(zip(*columns, strict=True))


def roles(run: Run) -> dict[int, tuple[str, int]]:
    """Role and star of each rank that takes part."""
    table = run.tables["role"]
    columns = (table[key].tolist() for key in ("rank", "role", "group"))
    return {rank: (role, group) for rank, role, group in zip(*columns, strict=True)}


@pytest.mark.smoke
def test_every_mpi_measures_every_point(every_shim: Shim, tmp_path: Path) -> None:
    """Three ranks on one host and three elsewhere: up to 2 pairs inside, and 3 between."""
    run = every_shim.run(
        "hotspot", *QUICK, "--post", "both", ranks=6, out=tmp_path / "hot.jsonl", nodes="2,3,1"
    )
    assert run.complete
    assert run.hosts == ["f0"] * 2 + ["f1"] * 3 + ["f2"]
    expected = {(2 * x, y, y) for x, y in itertools.product(range(3), range(4))} - {(0, 0, 0)}
    assert grid(run) == expected
    table = run.tables["sample"]
    assert len(table) == len(expected) * 2 * 4
    assert set(table["order"]) == {"intra-first", "inter-first"}
    assert set(table["bytes"]) == {16384}
    assert set(table["hot"]) == {1}
    assert min(table["seconds"]) > 0


def test_partners_elsewhere_are_on_as_many_nodes_as_there_are(
    mpich_shim: Shim, tmp_path: Path
) -> None:
    """Or another node would be as hot as the one that is measured."""
    run = mpich_shim.run(
        "hotspot",
        *QUICK,
        "--max-intra",
        "1",
        "--max-inter",
        "2",
        ranks=7,
        out=tmp_path / "hot.jsonl",
        nodes="2,3,2",
    )
    assert roles(run) == {
        2: ("hot", 0),
        3: ("intra", 0),
        0: ("inter", 0),
        5: ("inter", 0),
    }
    assert "partners-share-nodes" not in {warning["code"] for warning in run.warnings}


def test_each_hot_process_has_partners_of_its_own(mpich_shim: Shim, tmp_path: Path) -> None:
    """The sub-groups of the paper's second version; what is left over stays out."""
    run = mpich_shim.run(
        "hotspot", *QUICK, "--hot", "2", ranks=9, out=tmp_path / "hot.jsonl", nodes="5,1,2,1"
    )
    found = roles(run)
    assert [found[rank] for rank in (0, 1)] == [("hot", 0), ("hot", 1)]
    for group in (0, 1):
        mine = sorted(role for role, star in found.values() if star == group)
        assert mine == ["hot", "inter", "inter", "intra"]
    assert 4 not in found, "a fifth rank on the node is nobody's partner"
    assert grid(run) == {(4 * x, 2 * y, 2 * y) for x, y in itertools.product((0, 1), (0, 1, 2))} - {
        (0, 0, 0)
    }


def test_points_take_turns(mpich_shim: Shim, tmp_path: Path) -> None:
    """Or a slow moment of the machine would hit one point only."""
    run = mpich_shim.run(
        "hotspot",
        "--bytes",
        "64",
        "--repeats",
        "8",
        "--balance",
        "free",
        "--max-intra",
        "0",
        ranks=3,
        out=tmp_path / "hot.jsonl",
        nodes="1,1,1",
    )
    table = run.tables["sample"]
    keys = list(zip(table["in"].tolist(), table["out"].tolist(), strict=True))
    visits = [key for key, _ in itertools.groupby(keys)]
    assert len(set(visits)) == 8, "all of 0 … 2 in and out, but for nothing at all"
    assert visits == visits[:8] * 4, "four passes in the same order"
    for point in set(keys):
        repeats = [r for r, key in zip(table["repeat"].tolist(), keys, strict=True) if key == point]
        assert repeats == list(range(8))


def test_precision_stops_within_its_limits(mpich: Mpi, tmp_path: Path) -> None:
    options = ("--bytes", "64", "--precision", "0.3", "--min-repeats", "7", "--max-repeats", "50")
    run = mpich.run("hotspot", *options, ranks=3, out=tmp_path / "hot.jsonl")
    counts = [
        sum(intra == wanted for intra in run.tables["sample"]["intra"].tolist())
        for wanted in (2, 4)
    ]
    assert all(7 <= count <= 50 for count in counts)


def test_one_node_alone_says_what_is_out_of_reach(mpich: Mpi, tmp_path: Path) -> None:
    run = mpich.run("hotspot", *QUICK, ranks=3, out=tmp_path / "hot.jsonl")
    assert run.complete
    assert grid(run) == {(2, 0, 0), (4, 0, 0)}
    assert len(run.tables["unreachable"]) == 8 * 8 - 3
    assert "unreachable" in {warning["code"] for warning in run.warnings}


def test_more_hot_processes_than_ranks_is_no_crash(
    mpich: Mpi, tmp_path: Path, golden: Golden
) -> None:
    run = mpich.run("hotspot", "--hot", "5", ranks=3, out=tmp_path / "hot.jsonl")
    assert run.complete
    assert "sample" not in run.tables
    (why,) = set(run.tables["unreachable"]["why"])
    golden(why)


def test_a_time_that_is_over_at_once_leaves_a_readable_file_that_says_so(
    mpich: Mpi, tmp_path: Path
) -> None:
    """What is kept of a limit that comes later is tested where time is simulated."""
    options = ("--repeats", "4000", "--bytes", "1MiB", "--time-limit", "1e-9")
    run = mpich.run("hotspot", *options, ranks=3, out=tmp_path / "hot.jsonl")
    assert not run.complete
    assert run.end is not None
    assert "cut-short" in {warning["code"] for warning in run.warnings}


def test_times_are_given_with_or_without_a_unit(mpich: Mpi) -> None:
    for text in ("300", "5m", "5min", "0.5h", "250ms", "1e3us", "10ns", "3s", "0"):
        mpich.probe.check("hotspot", ["--time-limit", text], 4)
    for text in ("5x", "m", "", "-1s", "5 min", "1e400h", "nan", "infmin"):
        with pytest.raises(InputError):
            mpich.probe.check("hotspot", ["--time-limit", text], 4)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (("--hot", "0"), "--hot must be at least 1"),
        (("--max-intra", "0", "--max-inter", "0"), "are both 0"),
        (("--max-inter", "9999", "--balance", "free"), "too many points"),
        (("--post", "last"), "not one of intra-first"),
        (("--repeats", "5", "--precision", "0.1"), "cannot be combined"),
    ],
)
def test_wrong_options_are_one_line(mpich: Mpi, options: tuple[str, ...], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        mpich.probe.check("hotspot", list(options), 4)
