"""The page of the evaluation: what it is made of, and that its numbers are those of its tables."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from beds.mpis import ROOT

sys.path.insert(0, str(ROOT / "bench"))

import evaluation
from evaluated import baselines, peers
from evaluated.section import Bed, Page, Rows, Section, Table, enumerated, leading, percent, span

FOLDER = ROOT / "docs/evaluated"


def test_the_page_is_that_of_the_stored_numbers() -> None:
    """Who changes a sentence writes the page again: `bench/evaluation.py --pages`."""
    assert (ROOT / "docs/evaluation.md").read_text() == evaluation.page(ROOT / "docs")


def test_every_section_has_a_table_and_what_fails() -> None:
    total = 0.0
    overview = (ROOT / "docs/evaluation.md").read_text()
    for letter, name in zip("abcdefg", evaluation.SECTIONS, strict=True):
        stored = evaluation.Stored(**json.loads((FOLDER / f"{name}.json").read_text()))
        found, text = evaluation.described(FOLDER, name, stored)
        assert f"| [({letter})](#" in overview
        assert all(len(row) == len(found.columns) for row in found.rows)
        assert "What fails:\n\n- " in text
        total += stored.processor
    assert total < 25 * 60  # the quick sizes


def test_every_table_can_be_downloaded_from_a_page() -> None:
    whole = evaluation.page(ROOT / "docs")
    for path in FOLDER.glob("*.csv"):
        assert f"(evaluated/{path.name})" in whole


def test_a_page_is_written_from_what_sections_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the other sections as they were, and without measuring again."""
    rows = [("a", 1), ("b", 2)]
    made = Section([Table("papers", ("x", "y"), rows)], {"z": "3"}, ["A note."])

    def page(facts: dict[str, str], tables: dict[str, Rows]) -> Page:
        return Page(
            "Why?",
            facts["z"],
            "Little.",
            "Measured.",
            ("x", "y"),
            tables["papers"],
            "Meaning.",
            ["Fails."],
        )

    monkeypatch.setattr("evaluated.papers.evaluate", lambda bed: made)
    monkeypatch.setattr("evaluated.papers.page", page)
    for more in ("--only", "papers"), ("--pages",):
        monkeypatch.setattr(sys, "argv", ["evaluation.py", *more, "--output", str(tmp_path)])
        evaluation.main()
        text = (tmp_path / "evaluation.md").read_text()
        assert "| x | y |\n| --- | --- |\n| a | 1 |\n| b | 2 |\n" in text
        assert "- Fails.\n- A note." in text
        assert "## (f)" not in text
        assert "| Why? | 3 | Little. |" in text
        assert (tmp_path / "evaluated/papers.csv").read_text() == "x,y\na,1\nb,2\n"


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


def test_cells_are_numbers_and_a_range() -> None:
    assert [leading(cell) for cell in ("+0.1 %", "18")] == [0.1, 18.0]
    assert span(["38 %", "0 %", "9.5 %"]) == "0 to 38 %"
    assert span(["2 %", "2 %"]) == "2 %"
    assert enumerated(["a", "b", "c"]) == "a, b and c"
    assert enumerated(["a"]) == "a"


def test_shares_have_two_digits_that_count() -> None:
    assert [percent(v) for v in (0.0, 1e-16, 0.00123, 0.0456, 0.5, float("nan"))] == [
        "0 %",
        "0 %",
        "0.12 %",
        "4.6 %",
        "50 %",
        "–",
    ]
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
