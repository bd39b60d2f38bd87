"""The page of the evaluation: what it is made of, and that its numbers are those of its tables."""

from __future__ import annotations

import csv
import importlib
import json
import sys
from pathlib import Path

import numpy as np
import pytest

from beds.mpis import ROOT

sys.path.insert(0, str(ROOT / "bench"))

import evaluation
from evaluated import baselines, peers
from evaluated.section import Bed, Section, Table, percent

FOLDER = ROOT / "docs/evaluated"


def test_every_section_is_on_the_page_with_its_duration_and_what_fails() -> None:
    page = (ROOT / "docs/evaluation.md").read_text()
    total = 0.0
    for name in evaluation.SECTIONS:
        kept = evaluation.Text(**json.loads((FOLDER / f"{name}.json").read_text()))
        assert kept.title == importlib.import_module(f"evaluated.{name}").TITLE
        assert f"## ({'abcdefg'[evaluation.SECTIONS.index(name)]}) {kept.title}" in page
        assert kept.text in page
        assert "What fails:\n\n- " in kept.text
        total += kept.processor
    assert total < 600  # the quick sizes


def test_rows_of_the_page_are_rows_of_the_tables() -> None:
    page = (ROOT / "docs/evaluation.md").read_text()
    for path in FOLDER.glob("*.csv"):
        with path.open(newline="") as stream:
            columns, first, *_ = csv.reader(stream)
        assert "| " + " | ".join(columns) + " |" in page, path.name
        assert "| " + " | ".join(first) + " |" in page, path.name


def test_a_page_is_written_from_what_sections_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the other sections as they were, and more rows in the CSV than on the page."""
    rows = [("a", 1), ("b", 2), ("c", 3)]
    made = Section("Measured.", ["Found."], ["Fails."], [Table("letters", ("x", "y"), rows, 2)])
    monkeypatch.setattr("evaluated.pairs.evaluate", lambda bed: made)
    monkeypatch.setattr(
        sys, "argv", ["evaluation.py", "--only", "pairs", "--output", str(tmp_path)]
    )
    evaluation.main()
    page = (tmp_path / "evaluation.md").read_text()
    assert "| b | 2 |" in page
    assert "| c | 3 |" not in page
    assert "`evaluated/letters.csv`" in page
    assert (tmp_path / "evaluated/letters.csv").read_text() == "x,y\na,1\nb,2\nc,3\n"
    assert "## (b)" not in page


def test_simple_models_find_laws_of_their_own_form() -> None:
    """Without noise: a power law by its exponents, a normal form also far beyond."""
    p, b = (v.ravel() for v in np.meshgrid([2.0, 4, 8, 16, 32], [8.0, 512, 4096, 65536]))
    far, size = np.array([256.0]), np.array([1024.0])
    law = 1e-6 * p**0.5 * b**0.25
    seconds, low, high = baselines.power_law(p, b, law, far, size)
    assert seconds == pytest.approx(1e-6 * 16 * 1024**0.25)
    assert low <= seconds <= high
    law = 2e-6 + 1e-6 * np.log2(p) + 1e-9 * p * b
    found = baselines.normal_form(p, b, law, far, size)
    assert found == pytest.approx([2e-6 + 8e-6 + 1e-9 * 256 * 1024], rel=1e-3)


def test_shares_have_two_digits_that_count() -> None:
    assert [percent(v) for v in (0.0, 1e-16, 0.00123, 0.0456, 0.5, float("nan"))] == [
        "0 %", "0 %", "0.12 %", "4.6 %", "50 %", "–",
    ]  # fmt: skip
    assert Bed(Path()).many(1, 9) == 1


def test_matrices_of_others_are_read_as_seconds_of_one_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From sender to receiver: LinkTest's records, hp2p's file, and mpiGraph's rates."""
    times = np.array([[0, 2e-6, 3e-6], [4e-6, 0, 5e-6], [6e-6, 7e-6, 0]])
    folder = tmp_path / "peer"
    folder.mkdir()
    for rank, row in enumerate(times):
        more = b"\0" * (24 * 3 if rank == 0 else 0)
        record = b"head" + row.tobytes() + b"\0" * 12 + more
        (folder / f"pingpong_results_bin.sion.{rank}").write_bytes(record)
    (folder / "map.bin").write_bytes(b"head" + times.tobytes() + b"\1\0\0\0" * 9)
    rates = [[0 if a == b else 64 / times[b, a] / 2**20 for b in range(3)] for a in range(3)]
    table = "\n".join(
        f"h:{k} from\t" + "\t".join(f"{v:.9f}" for v in row) for k, row in enumerate(rates)
    )
    said = f" 0: PINGPONG   2  <->   1:  1st: 7.0us\n{table}\n"
    monkeypatch.setattr(peers, "simulated", lambda *_: (said, 0.5))
    bed = Bed(tmp_path, peers=dict.fromkeys(("linktest", "hp2p", "mpigraph"), tmp_path))
    wanted = np.where(times == 0, np.nan, times)
    for name in bed.peers:
        found = peers.MAPS[name](bed, tmp_path, 3, 64)
        np.testing.assert_allclose(found.one_way, wanted, rtol=1e-6, err_msg=name)
        assert found.seconds == 0.5
        assert found.listed == ([(2, 1)] if name == "linktest" else None)


def test_tables_of_others_are_read_by_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """And a program that prints no table is no measurement of zero points."""
    said = "# Size  Avg Min Max\n64   1.50  0.10  2.25\n4096  3.00 0.20 4.50\n"
    monkeypatch.setattr(peers, "simulated", lambda *_: (said, 0.5))
    bed = Bed(Path(), peers={"osu": Path()})
    found = peers.COLLECTIVES["osu"](bed, Path(), 8, "bcast", (64, 4096))
    assert found["OSU, slowest rank"] == pytest.approx({64: 2.25e-6, 4096: 4.5e-6})
    assert next(iter(found.values())) == pytest.approx({64: 1.5e-6, 4096: 3e-6})
    monkeypatch.setattr(peers, "simulated", lambda *_: ("usage: …\n", 0.5))
    with pytest.raises(peers.PeerError):
        peers.MESSAGES["osu"](bed, Path())


def test_rows_of_programs_that_are_not_given_stay(tmp_path: Path) -> None:
    (tmp_path / "peers.csv").write_text("a,b\nOSU,1\n")
    assert Bed(tmp_path, earlier=tmp_path).measured_before("peers") == [("OSU", "1")]
    assert Bed(tmp_path, earlier=tmp_path).measured_before("others") == []
