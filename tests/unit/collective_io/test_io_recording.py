"""Recorded collective I/O as numbers: patterns, calls and the parts of their times."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from beds.golden import Golden
from isochrone.base.errors import InputError
from isochrone.collective_io.results import io_recording as results
from isochrone.runfile.file import read, write
from isochrone.runfile.run import Run
from made_up.io_recordings import io_recording
from made_up.recordings import halo_recording
from made_up.sweeps import table_of


def reread(run: Run, folder: Path) -> Run:
    """Return the run as it is read from a file."""
    write(run, folder / "run.jsonl", overwrite=True)
    return read(folder / "run.jsonl")


def test_calls_have_their_parts_and_what_is_left(tmp_path: Path) -> None:
    calls = results.calls(reread(io_recording(), tmp_path))
    assert [one.op for one in calls] == ["write"] * 3 + ["read"]
    assert [one.shift for one in calls] == [0, 262144, 524288, 0]
    measured = {"offsets": 0.1, "counts": 0.05, "exchange": 0.5, "file": 0.2}
    assert calls[0].parts == {**measured, "rest": pytest.approx(0.15)}
    assert (calls[0].rounds, calls[0].late) == (4, 0.1)


def test_parts_that_were_not_seen_are_none_and_the_rest_is_known(tmp_path: Path) -> None:
    """OMPIO shows only its accesses to the file."""
    (call, *_) = results.calls(reread(io_recording(seen=False), tmp_path))
    assert call.parts == {"file": 0.2, "rest": pytest.approx(0.8)}
    assert (call.rounds, call.late) == (None, None)


def test_patterns_have_runs_of_pieces_of_each_rank(tmp_path: Path) -> None:
    write_, read_ = results.patterns(reread(io_recording(), tmp_path))
    assert (write_.op, write_.calls, write_.bytes, write_.ranks) == ("write", 3, 262144, 4)
    assert (read_.op, read_.calls) == ("read", 1)
    assert write_.pieces["rank"].tolist() == [0, 1, 2, 3]
    assert write_.pieces["offset"].tolist() == [0, 1024, 131072, 132096]
    assert np.sum(write_.pieces["length"] * write_.pieces["count"]) == write_.bytes
    assert write_.whole


def test_files_have_ranks_hints_and_independent_accesses(tmp_path: Path) -> None:
    run = io_recording()
    run.tables["file"] = table_of(
        [{"file": 0, "name": "/scratch/out.h5", "ranks": "0-1 3", "opens": 2}]
    )
    (file,) = results.files(reread(run, tmp_path))
    assert file.ranks.tolist() == [0, 1, 3]
    assert file.hints == {"cb_nodes": "2", "romio_cb_write": "enable"}
    assert file.given == {"cb_nodes": "2"}
    assert [(one.op, one.calls, one.ranks) for one in file.independent] == [("write", 5, 1)]


def change(record: str, key: str, value: Any) -> Callable[[Run], None]:
    def changed(run: Run) -> None:
        run.tables[record] = table_of([{**row, key: value} for row in run.tables[record].rows()])

    return changed


CASES = [
    change("pattern", "op", "erase"),
    change("pattern", "file", 7),
    change("call", "pattern", 9),
    change("call", "seconds", -1.0),
    change("call", "file", 0.9),
    change("call", "shift", "far"),
    change("piece", "rank", 4),
    change("piece", "length", -1),
    change("piece", "count", -3),
    change("file", "ranks", "0-9"),
    change("file", "ranks", "all"),
    change("file", "name", 3),
]


def test_a_damaged_recording_is_one_line(tmp_path: Path, subtests: pytest.Subtests) -> None:
    for damage in CASES:
        with subtests.test(str(damage)):
            run = io_recording()
            damage(run)
            with pytest.raises(InputError):
                results.calls(reread(run, tmp_path))


def test_a_run_of_another_kind_is_refused(tmp_path: Path, golden: Golden) -> None:
    with pytest.raises(InputError) as refused:
        results.patterns(reread(halo_recording(2, 2), tmp_path))
    golden(refused.value)
    assert "--collective-io" in refused.value.hint
