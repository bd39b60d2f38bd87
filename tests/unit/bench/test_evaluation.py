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
from evaluated import baselines
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
