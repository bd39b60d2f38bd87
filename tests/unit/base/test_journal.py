"""The journal of a command: what -v prints, and what --log keeps."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from isochrone.base import journal
from isochrone.base.errors import InputError, MeasurementError
from isochrone.base.text import command_line, listeners, warn


def lines(path: Path) -> list[str]:
    """The log without its times."""
    return [line.partition(" ")[2] for line in path.read_text().splitlines()]


def test_without_options_nothing_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    journal.note("a decision")
    with journal.launch(["srun", "true"]):
        journal.heard("a line")
    assert capsys.readouterr() == ("", "")


def test_a_log_has_launches_warnings_and_what_ranks_print(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Standard error has no more than without a log; variables are those that differ."""
    log = tmp_path / "log.txt"
    log.write_text("2026-11-27T03:00:00Z before\n")
    words, late = ["measure", "a b"], "it is late"
    with journal.kept(verbose=False, file=log, command=words):
        with journal.launch(["srun", "true"], {**os.environ, "MODE": "1 2"}):
            journal.heard("slurmstepd: hello")
        warn(late)
        journal.asked(["mpicc", "-show"])
    found = lines(log)
    assert found[:4] == [
        "before",
        command_line(["isochrone", *words]),
        "$ env 'MODE=1 2' srun true",
        "| slurmstepd: hello",
    ]
    assert found[4].startswith("ended after")
    assert found[5:] == [late, "$ mpicc -show"]
    assert capsys.readouterr().err == f"isochrone: {late}\n"
    assert listeners == []


def test_verbose_prints_launches_and_how_they_failed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    error = MeasurementError("rank 1 died")
    with (
        pytest.raises(MeasurementError),
        journal.kept(verbose=True, file=None, command=[]),
        journal.launch(["srun", "a\x1b[2J"]),
    ):
        raise error
    first, second = capsys.readouterr().err.splitlines()
    assert first.startswith("isochrone: $ srun ")
    assert "\x1b" not in first
    assert second.endswith("rank 1 died")


def test_a_log_that_cannot_be_written_ends_and_the_command_goes_on(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    with journal.kept(verbose=False, file=Path("/dev/full"), command=["measure"]):
        journal.note("a decision")
        journal.note("another one")
    assert capsys.readouterr().err.count("\n") == 1
    with pytest.raises(InputError), journal.kept(verbose=False, file=tmp_path, command=[]):
        pass
