"""A recorded program, position by position."""

from __future__ import annotations

from pathlib import Path

import pytest

from beds.command_line import run_here
from beds.golden import Golden
from isochrone.applications.results.listing import Position, positions, where
from isochrone.runfile.file import read, write
from isochrone.runfile.run import Run
from made_up.recordings import halo_recording


def by_name(found: list[Position]) -> dict[str, Position]:
    return {one.position: one for one in found}


def test_positions_are_those_of_the_description() -> None:
    """100 iterations of an exchange with four neighbours on 3 x 3 ranks, and an allreduce."""
    found, why = positions(halo_recording(3, 3))
    assert not why
    at = by_name(found)
    assert [(name, one.call) for name, one in at.items()] == [
        ("1", "loop"),
        ("1.1", "exchange"),
        ("1.2", "allreduce"),
    ]
    assert at["1"].times == 100
    exchange, allreduce = at["1.1"], at["1.2"]
    assert (exchange.bytes, exchange.most, exchange.times) == (1024, 8192, 100)
    assert exchange.peers == "4 others"
    assert exchange.ranks == allreduce.ranks == 9
    assert exchange.seconds == pytest.approx(9 * 9 * 100 * 1e-5), "nine calls of nine ranks"
    assert allreduce.seconds == pytest.approx(9 * 100 * 1e-5)
    assert exchange.computation == pytest.approx(2e-3 + 9 * 100 * (1e-3 + 8e-6), rel=0.01)


def without_partner(run: Run) -> Run:
    """Let rank 0 send to nobody who receives it."""
    calls = run.tables["call"]
    calls["op"][(calls["rank"] == 0) & (calls["op"] == "irecv")] = "isend"
    return run


def test_without_a_description_positions_are_those_of_ranks() -> None:
    """Ranks that call the same at a position are listed together."""
    found, why = positions(without_partner(halo_recording(3, 3)))
    assert "rank 0" in why
    first = [one for one in found if one.position == "1.1"]
    assert {(one.call, one.ranks) for one in first} == {("isend", 1), ("irecv", 8)}
    last = [one for one in found if one.position == "1.10"]
    assert [(one.call, one.ranks, one.times) for one in last] == [("allreduce", 9, 100)]


def test_lines_of_one_file_are_together() -> None:
    lines = ["halo.c:12", "halo.c:40", "solver", "lib.c:3"]
    one = Position("1", "exchange", 8, 8, "", 1, 2, 0.0, 0.0, (0, 1, 2, 3))
    assert where(lines, one) == "halo.c:12,40, solver, lib.c:3"


def test_the_listing_is_printed(tmp_path: Path, golden: Golden) -> None:
    write(halo_recording(3, 3), tmp_path / "run.jsonl")
    said = run_here("scale", "--list", tmp_path / "run.jsonl")
    assert said.returncode == 0, said.stderr
    golden(said.stdout)


def test_a_site_that_is_no_number_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    write(halo_recording(3, 3), path)
    lines = path.read_text().splitlines()
    lines.insert(-1, '{"record":"site","rank":0,"site":0,"file":"/a","offset":-1}')
    path.write_text("\n".join([*lines, ""]))
    said = run_here("scale", "--list", path)
    assert said.returncode == 2
    assert said.stderr.count("\n") == 1
    lines[-2] = '{"record":"site","rank":0,"site":0,"file":"/a","offset":5}'
    path.write_text("\n".join([*lines, ""]))
    assert read(path).tables["site"]["offset"].tolist() == [5]
