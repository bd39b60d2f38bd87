"""What is said of the ranks' clocks, in runs of clocks and in runs of anything else."""

from __future__ import annotations

from pathlib import Path

import pytest

from beds.golden import Golden
from isochrone.pages.page import Table
from isochrone.runfile.run import Run
from made_up.sweeps import collective, run_of, table_of
from rendered import blocks, document, report, show, words

SYNC = {"at": 0.0, "residual_median": 1e-6, "residual_max": 3e-6, "drift_max": 2e-7}
OFFSET = {"i": 2, "j": 1, "at": 1, "age": 4.5, "seconds": -8e-6, "bound": 2e-6}


def clocks() -> Run:
    records = {"sync": [SYNC, SYNC], "offset": [OFFSET]}
    return run_of("clock-sync", 4, 2, records, {"interval": 0.05}, "")


def test_clocks_are_a_table_a_worst_pair_and_a_drift(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, golden: Golden
) -> None:
    text = show(capsys, tmp_path, clocks())
    lines = [" ".join(line.split()) for line in text.splitlines()]
    golden(lines)
    assert "after synchronisation 1.00 µs 3.00 µs 2 times" in lines
    assert "two ranks, any time 8.00 µs 8.00 µs 1 time" in lines
    assert "Largest drift: 0.2 ppm" in lines


def test_the_document_has_the_keys_of_the_docs(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    found = document(capsys, tmp_path, clocks())
    assert found["records"] == {"sync": 2, "offset": 1}
    assert found["clocks"]["offset"]["worst_pair"] == [2, 1]
    assert found["clocks"]["synchronised"] == 2


def test_a_sweep_on_a_common_clock_says_so_once(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    run = collective(("bcast",), sizes=(8, 64))
    run.tables["sync"] = table_of([SYNC])
    text = show(capsys, tmp_path, run)
    assert text.index("bcast, 8 ranks:") < text.index("after synchronisation")
    assert text.count("Largest drift") == 1
    assert document(capsys, tmp_path, run)["clocks"]["residual_max"] == pytest.approx(3e-6)
    assert len(blocks(run, Table, "Clocks")) == 1


def test_clocks_are_in_the_report(tmp_path: Path, golden: Golden) -> None:
    said = words(report(tmp_path, clocks()))
    golden(said)
    assert said.count("after synchronisation 1.00 µs 3.00 µs 2 times") == 1
