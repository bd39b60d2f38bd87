"""The examples of docs/python.md do what they say."""

from __future__ import annotations

import doctest
import shutil
from pathlib import Path

import pytest

from beds.mpis import ROOT


def test_the_examples_print_what_the_page_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(ROOT / "tests/golden/osu/latency-7.2.txt", tmp_path / "latency.txt")
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "docs/python.md").read_text()
    example = doctest.DocTestParser().get_doctest(text, {}, "python.md", "python.md", 0)
    assert len(example.examples) > 10
    said: list[str] = []
    found = doctest.DocTestRunner().run(example, out=said.append)
    assert not found.failed, "".join(said)
