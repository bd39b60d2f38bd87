"""A command that reads a run file says so when the run did not come to its end."""

from __future__ import annotations

from pathlib import Path

import pytest

from beds.command_line import Command
from isochrone import cli
from isochrone.console.as_json import print_json
from isochrone.runfile.file import write
from made_up.sweeps import point_to_point


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    """A complete run, and the same without its end."""
    whole, cut = tmp_path / "whole.jsonl", tmp_path / "cut.jsonl"
    run = point_to_point()
    run.end = {"complete": True}
    write(run, whole)
    run.end = None
    write(run, cut)
    return str(whole), str(cut)


@pytest.mark.parametrize(
    "words",
    [
        ("fit", "FILE", "--family", "hockney"),
        ("export", "FILE", "--to", "csv", "-o", "out.csv"),
        ("compare", "FILE", "WHOLE"),
        ("compare", "WHOLE", "FILE"),
    ],
    ids=" ".join,
)
def test_a_partial_run_is_used_and_the_user_is_told_once(
    isochrone: Command, tmp_path: Path, files: tuple[str, str], words: tuple[str, ...]
) -> None:
    whole, cut = files
    for file, warnings in (
        (cut, [f"isochrone: {cut}: partial run: the measurement is not complete"]),
        (whole, []),
    ):
        names = {"FILE": file, "WHOLE": whole}
        done = isochrone(*(names.get(word, word) for word in words), cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert done.stderr.splitlines() == warnings
        (tmp_path / "out.csv").unlink(missing_ok=True)


def test_a_document_never_holds_what_json_does_not_know(capsys: pytest.CaptureFixture[str]) -> None:
    print_json({"a": [1.5, float("nan")], "b": {"c": float("-inf")}, "d": "NaN"})
    assert capsys.readouterr().out == '{"a": [1.5, null], "b": {"c": null}, "d": "NaN"}\n'


def test_documents_are_printed_by_one_function() -> None:
    """Any other would have to know of NaN and Infinity, too."""
    package = Path(cli.__file__).parent
    printed = [file.name for file in package.rglob("*.py") if "print(json" in file.read_text()]
    assert printed == []


@pytest.mark.slow
def test_every_command_takes_the_launches_of_one_measurement_by_one_name(
    isochrone: Command, tmp_path: Path
) -> None:
    """As `measure --launches 3 -o x.jsonl` writes them: x-1.jsonl, x-2.jsonl, x-3.jsonl."""
    for number in (1, 2, 3):
        run = point_to_point()
        run.end = {"complete": True}
        write(run, tmp_path / f"x-{number}.jsonl")
    name, out = tmp_path / "x.jsonl", tmp_path / "out"
    for command in (
        ("show", name),
        ("show", name, "--pool"),
        ("fit", name),
        ("check", name, "--lenient"),
        ("compare", name, name),
        ("plot", name, "-o", f"{out}.svg"),
        ("report", name, "-o", f"{out}.html"),
    ):
        answer = isochrone(*command)
        assert answer.returncode == 0, (command, answer.stderr)
    launch = tmp_path / "x-2.jsonl"
    kept = launch.read_bytes()
    for command in (
        ("fit", name, "-o"),
        ("plot", name, "--view", "time", "-o"),
        ("report", name, "-o"),
        ("check", name, "--junit"),
    ):
        assert isochrone(*command, launch, "--force").returncode == 2, command
        assert launch.read_bytes() == kept, command
