"""Records of emulated applications: what is read, and one line for each way they can be damaged."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from isochrone.applications.emulation.recorded import applications, launched
from isochrone.applications.emulation.summary import emulation as summary
from isochrone.base.documents import plain
from isochrone.base.errors import InputError
from isochrone.runfile import file as runs
from isochrone.runfile.rules import check
from isochrone.runfile.run import Run
from made_up.emulations import Truth, emulation
from made_up.latency_maps import mmpi_example


def test_it_is_the_same_after_writing_and_reading(tmp_path: Path) -> None:
    run = emulation()
    runs.write(run, tmp_path / "a.jsonl")
    assert plain(summary(runs.read(tmp_path / "a.jsonl"))) == plain(summary(run))


def test_applications_are_read_with_ranks_and_phases() -> None:
    victim, bully, quiet = applications(emulation())
    assert (victim.name, victim.ranks, victim.background) == ("victim", (0, 1, 2, 3), False)
    assert (bully.ranks, bully.background) == ((4, 5, 6, 7), True)
    assert quiet.phases == ("compute", "exchange")


def test_a_launch_that_was_cut_short_is_left_out() -> None:
    """Its ``launch`` record is there, its ``wall`` records are not."""
    run = emulation(complete=False)
    whole = summary(run)
    table = run.tables["wall"]
    last = int(table["launch"].max())
    run.tables["wall"] = table.where(table["launch"] != last)
    assert len(launched(run)) < len(table)
    assert summary(run).apps == whole.apps


def test_a_run_without_any_launch_says_nothing_and_does_not_fail() -> None:
    found = summary(emulation(repeats=0))
    assert found.repeats == 0
    assert found.walls == found.slowdowns == found.iterations == found.shares == []


def test_one_iteration_is_a_list_of_one() -> None:
    """Lists of equal lengths are lists, whatever numpy makes of them."""
    run = emulation([Truth("a", iterations=1), Truth("b", iterations=1)])
    assert {len(one.times) for one in launched(run)} == {1}


def test_another_kind_of_run_is_refused() -> None:
    with pytest.raises(InputError, match="isochrone emulate"):
        applications(mmpi_example())


def put(table: str, column: str, value: object) -> Callable[[Run], None]:
    """Return what damages a column."""

    def damage(run: Run) -> None:
        old = run.tables[table].columns[column]
        new = np.empty(len(old), dtype=object)
        new[:] = old.tolist()
        new[0] = value
        narrow = not isinstance(value, str | list) and old.dtype != object
        run.tables[table].columns[column] = new.astype(np.float64) if narrow else new

    return damage


CASES = [
    put("app", "app", 5),
    put("app", "ranks", "1 x"),
    put("app", "name", 7),
    put("phase", "phase", 3),
    put("launch", "together", "-1"),
    put("wall", "launch", 999),
    put("wall", "app", 9),
    put("wall", "seconds", -1.0),
    put("wall", "seconds", 0.0),
    put("wall", "iterations", 0),
    put("iterations", "seconds", "long"),
    put("iterations", "seconds", [1.0, "x"]),
    put("iterations", "seconds", [-1.0]),
    put("rank_time", "asked", float("nan")),
    put("rank_time", "switches", -1),
    put("phase_time", "mean", -1.0),
    put("event", "begin", "now"),
    put("edge", "bytes", 0.5),
]


def test_what_is_damaged_is_said_in_one_line(subtests: pytest.Subtests) -> None:
    for number, damage in enumerate(CASES):
        with subtests.test(str(number)):
            run = emulation()
            damage(run)
            with pytest.raises(InputError):
                for read in (check, applications, launched):
                    read(run)
