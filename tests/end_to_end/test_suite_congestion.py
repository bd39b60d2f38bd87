"""The suite of congestion, as a user runs it."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from isochrone.applications.emulation.summary import emulation
from isochrone.cli import congestion
from isochrone.runfile.file import read

Command = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def one_pair(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the suite have one victim and one congestor."""
    monkeypatch.setattr(congestion, "VICTIMS", ["rr_two_sided_lat"])
    monkeypatch.setattr(congestion, "CONGESTORS", ["two_sided_incast"])


@pytest.mark.usefixtures("mpich", "one_pair")
def test_a_victim_runs_alone_and_beside_a_congestor_on_other_ranks(
    isochrone: Command, tmp_path: Path
) -> None:
    """Started again, it measures nothing, and says the same."""
    words = ("suite", "congestion", "-n", "4", "--budget", "60", "--quiet", "--yes")
    answer = isochrone(*words, cwd=tmp_path)
    assert answer.returncode == 0, answer.stderr
    (path,) = (tmp_path / "congestion").iterdir()
    assert path.name == "rr_two_sided_lat-two_sided_incast-4.jsonl"
    summary = emulation(read(path))
    assert [(app.ranks, app.background) for app in summary.apps] == [
        ((1, 3), False),
        ((0, 2), True),
    ]
    assert summary.repeats == 5
    (slowdown,) = [slowdown for slowdown in summary.slowdowns if slowdown.number == 0]
    assert slowdown.wall.known
    assert slowdown.tail is not None
    victims = [ranks for ranks in summary.ranks if ranks.number == 0]
    assert [(ranks.beside, ranks.rank) for ranks in victims] == [
        (others, rank) for others in ((), ("two_sided_incast",)) for rank in (0, 1)
    ]
    assert all(0 < ranks.p50 <= ranks.p99 <= ranks.p999 for ranks in victims)
    rows = [line.split() for line in answer.stdout.splitlines() if "rr_two_sided_lat " in line]
    assert [row[1] for row in rows] == ["–", "two_sided_incast"]
    before = path.read_bytes()
    again = isochrone(*words, cwd=tmp_path)
    assert path.read_bytes() == before
    table = answer.stdout.partition("\n\n")[2]
    assert again.stdout.strip() == table.strip()


@pytest.mark.usefixtures("mpich")
def test_a_dry_run_prints_a_command_for_each_pair(isochrone: Command, tmp_path: Path) -> None:
    answer = isochrone("suite", "congestion", "-n", "4", "--dry-run", cwd=tmp_path)
    assert answer.returncode == 0, answer.stderr
    pairs = len(congestion.VICTIMS) * len(congestion.CONGESTORS)
    assert len(answer.stdout.splitlines()) == pairs
    assert not list(tmp_path.iterdir())


@pytest.mark.usefixtures("mpich")
def test_three_ranks_are_too_few(isochrone: Command, tmp_path: Path) -> None:
    answer = isochrone("suite", "congestion", "-n", "3", "--dry-run", cwd=tmp_path)
    assert answer.returncode == 2
    assert len(answer.stderr.splitlines()) == 1
