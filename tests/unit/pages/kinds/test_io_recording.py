"""What is said of recorded collective I/O: on a terminal, to a script and in a report."""

from __future__ import annotations

from pathlib import Path

import pytest

from beds.golden import Golden
from made_up.io_recordings import io_recording
from made_up.sweeps import table_of
from rendered import document, report, row, show, words


def test_patterns_come_by_time_with_their_parts(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    text = show(capsys, tmp_path, io_recording())
    line = row(text, "0", "write", "out.h5", "256", "KiB", "256", "4", "3", "3.00", "s")
    for part in ("300 ms", "150 ms", "1.50 s", "600 ms", "450 ms"):
        assert part in line
    assert text.index("write  out.h5") < text.index("read   out.h5")
    assert "cb_nodes=2" in text
    assert "given: cb_nodes=2" in text


def test_one_sentence_says_what_is_slow(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, golden: Golden
) -> None:
    text = show(capsys, tmp_path, io_recording())
    golden(text)


def test_ranks_that_come_late_are_named_and_no_part_is(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, golden: Golden
) -> None:
    """Otherwise the rest would be taken for copying, which hints may change."""
    run = io_recording()
    run.tables["call"] = table_of(
        [{**one, "seconds": 2.0, "late": 1.1} for one in run.tables["call"].rows()]
    )
    text = show(capsys, tmp_path, run)
    golden(text)


def test_without_a_look_inside_the_library_the_rest_is_what_it_does(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, golden: Golden
) -> None:
    text = show(capsys, tmp_path, io_recording(seen=False))
    golden(text)
    assert "offsets" not in text


def test_the_document_has_the_keys_of_the_docs(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    found = document(capsys, tmp_path, io_recording())
    assert found["experiment"] == "io-recording"
    (write, read) = found["patterns"]
    assert (write["pattern"], write["op"], write["calls"], write["pieces"]) == (0, "write", 3, 256)
    assert write["parts"]["exchange"] == pytest.approx(1.5)
    assert read["rounds"] == [4]
    (file,) = found["files"]
    assert (file["hints"]["romio_cb_write"], file["given"]) == ("enable", {"cb_nodes": "2"})
    assert [one["call"] for one in found["calls"]] == [0, 1, 2, 3]


def test_a_program_without_collective_access_is_told_so(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, golden: Golden
) -> None:
    run = io_recording()
    for name in ("pattern", "piece", "call"):
        del run.tables[name]
    golden(show(capsys, tmp_path, run))
    golden(words(report(tmp_path, run)))


def test_hostile_names_do_not_reach_the_terminal_or_the_page(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    run = io_recording()
    evil = "\x1b[2J<script>alert(1)</script>"
    run.tables["file"] = table_of([{"file": 0, "name": evil, "opens": 1}])
    run.tables["hint"] = table_of([{"file": 0, "key": "cb_nodes", "value": evil, "given": evil}])
    assert "\x1b[2J" not in show(capsys, tmp_path, run)
    assert "<script>alert" not in report(tmp_path, run)
