"""Hostile words on the probe's command line and around it: its file stays JSON, its lines lines."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from beds.mpis import PATIENCE, Mpi
from made_up.hostile_names import COMBINED, FILE_NAMES, NAMES, TRACE

WORDS = [name for name in dict.fromkeys((*NAMES, *COMBINED)) if "\0" not in name]
MAX_NOTES = 16


def ask(mpich: Mpi, *words: str, **environ: str) -> subprocess.CompletedProcess[bytes]:
    """Start the probe as a single rank, without a launcher."""
    return subprocess.run(
        [mpich.probe.path, *words],
        capture_output=True,
        timeout=PATIENCE,
        check=False,
        stdin=subprocess.DEVNULL,
        env={**os.environ, **environ},
    )


@pytest.mark.parametrize("first", range(0, len(WORDS), 60))
def test_notes_come_back_as_they_were(mpich: Mpi, first: int) -> None:
    """As values and as keys; what is no UTF-8 has its own test."""
    some = WORDS[first : first + 60]
    for k in range(0, len(some), MAX_NOTES):
        few = some[k : k + MAX_NOTES]
        keys = [f"{n}{word}".replace("=", "~")[:60] for n, word in enumerate(few)]
        wanted = dict(zip(keys, few, strict=True))
        notes = [word for key, text in wanted.items() for word in ("--note", f"{key}={text}")]
        answer = ask(mpich, "synthetic", "--repeats", "1", *notes)
        assert answer.returncode == 0, answer.stderr
        header = json.loads(answer.stdout.decode("utf-8").split("\n")[0])
        assert header["notes"] == wanted


def test_settings_hold_any_value(mpich: Mpi) -> None:
    """What the environment says to the library stands in the file, and obeys nobody."""
    settings = {f"OMPI_MCA_n{n}": text for n, text in enumerate(WORDS[:120])}
    answer = ask(mpich, "compute", "--repeats", "1", "--bytes", "8KiB", **settings)
    assert answer.returncode == 0, answer.stderr
    header = json.loads(answer.stdout.decode("utf-8").split("\n")[0])
    kept = {
        name: text for name, text in header["settings"].items() if name.startswith("OMPI_MCA_n")
    }
    left = {name for name in header.get("settings_left_out", ()) if name.startswith("OMPI_MCA_n")}
    assert set(kept) | left == set(settings)
    for name, text in kept.items():
        assert text == settings[name] or len(settings[name].encode()) > 500


def test_run_files_may_have_any_name(mpich: Mpi, tmp_path: Path) -> None:
    """As long as 255 bytes, with line breaks, quotes, no UTF-8: one file, and that one."""
    for number, name in enumerate((*FILE_NAMES, "x" * 255)):
        folder = tmp_path / str(number)
        folder.mkdir()
        answer = ask(mpich, "synthetic", "--repeats", "1", "--out", str(folder / name))
        assert answer.returncode == 0, answer.stderr
        assert [one.name for one in folder.iterdir()] == [name]
    assert TRACE not in os.listdir(tmp_path)  # noqa: PTH208 - names only
    answer = ask(mpich, "synthetic", "--repeats", "1", "--out", str(tmp_path / ("x" * 256)))
    assert answer.returncode == 2
    assert answer.stderr.count(b"\n") == 1


@pytest.mark.parametrize(
    "words",
    [
        ("{}",),
        ("latency-map", "{}"),
        ("latency-map", "--{}", "3"),
        ("latency-map", "--bytes", "{}"),
        ("latency-map", "--schedule", "{}"),
        ("latency-map", "--pairs", "{}"),
        ("latency-map", "--note", "{}"),
        ("synthetic", "--out", "/nowhere/{}"),
        ("synthetic", "--shape", "{}"),
        ("collective", "--op", "{}"),
        ("collective", "--grid", "{}"),
        ("app", "--program", "{}"),
        ("tile-io", "--hint", "{}", "--check", "4"),
    ],
    ids=" ".join,
)
def test_errors_are_lines_without_control_characters(mpich: Mpi, words: tuple[str, ...]) -> None:
    for text in ("\x1b[2J", "a\nb", "\x9bx\x85", "\u202eab\u2028", "a\r\tb\x7f", "$(touch x)%n%s"):
        answer = ask(mpich, *(word.replace("{}", text) for word in words))
        if answer.returncode == 0:
            continue
        said = answer.stderr.decode("utf-8", "replace")
        assert answer.returncode in (2, 3), said
        assert said.endswith("\n")
        assert all(line.isprintable() for line in said.split("\n")), ascii(said)
        assert len(said.splitlines()) == 1, said
