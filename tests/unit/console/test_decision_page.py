"""A page of each decision: the same as on the terminal, small, and never written over another."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from beds.command_line import run_here
from beds.golden import Golden
from made_up.decisions import COMMANDS, write_pages, write_results

MOST = 300_000
"""Bytes of a page that can be sent to anybody."""


@pytest.mark.slow
def test_each_page_is_small_and_begins_with_the_verdict(
    tmp_path: Path, golden: Golden, subtests: pytest.Subtests
) -> None:
    pages = write_pages(tmp_path)
    assert len(pages) == len(COMMANDS) + 2
    for name, path in pages.items():
        with subtests.test(name):
            text = path.read_text("utf-8")
            assert len(text.encode()) < MOST
            titles = re.findall(r"<h2[^>]*>([^<]*)</h2>", text)
            assert titles[0] == ("Formula" if name == "fit" else "Verdict")
            assert len(titles) == len({*titles})
    heads = {
        name: re.findall("<h1>.*</h1>", path.read_text("utf-8")) for name, path in pages.items()
    }
    golden("\n".join(f"{name}: {head[0][4:-5]}" for name, head in heads.items()))


@pytest.mark.slow
def test_the_terminal_says_the_same_with_a_page_and_without(
    tmp_path: Path, subtests: pytest.Subtests
) -> None:
    write_results(tmp_path)
    for name, words in COMMANDS.items():
        with subtests.test(name):
            alone = run_here(*words.split(), cwd=tmp_path)
            both = run_here(*words.split(), "--page", "x.html", "--force", cwd=tmp_path)
            assert (both.stdout, both.stderr, both.returncode) == (
                alone.stdout,
                alone.stderr,
                alone.returncode,
            )
            again = run_here(*words.split(), "--page", "x.html", cwd=tmp_path)
            assert again.returncode == 2
            assert again.stdout == ""


@pytest.mark.parametrize("words", ["tune program", "tune collective-io"])
def test_a_page_that_cannot_be_written_starts_no_program(tmp_path: Path, words: str) -> None:
    answer = run_here(
        *words.split(), "--page", "none/x.html", "--", "mpiexec", "./app", cwd=tmp_path
    )
    assert answer.returncode == 2
    assert [*tmp_path.iterdir()] == []
