"""Names from elsewhere on a terminal and in JSON: nothing of them is obeyed, none breaks a command.

Every text of a run file is such a name, one kind of text after the other and all at once; and so
are the names of the files on the command line.
"""

from __future__ import annotations

import io
import os
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from beds.command_line import run_here
from fuzz.oracle import Limits, judge
from fuzz.readers import READERS
from fuzz.seeds import helpers
from isochrone.base.text import command_line
from made_up.hostile_names import (
    COMBINED,
    FILE_NAMES,
    NAMES,
    TRACE,
    enriched,
    fields,
    renamed,
    renamed_everywhere,
)

KINDS = (
    "latency-map",
    "sweep",
    "grids",
    "hotspot",
    "tile-io",
    "emulation",
    "recording",
    "io-recording",
)
JUDGED = ("show {file}", "compare {file} {file}", "check {file} --hosts-out out.h --junit out.xml")
PATIENT = Limits(seconds=60, memory=4 << 30)
"""What a command may take is the matter of `fuzz`."""

FILES = {
    "ok-map.jsonl": (
        "show {f}",
        "check {f} --hosts-out {o}",
        "compare {f} {f}",
        "plot {f} -o {o}.svg",
        "report {f} -o {o}.html",
        "export {f} --to csv -o {o}",
        "baseline add {o} {f}",
        "import {f} --from mmpi -o {o}",
    ),
    "ok-sweep.jsonl": (
        "fit {f} -o {o}",
        "show {f} {f} --pool",
        "export {f} --to gnuplot -o {o}",
        "export {f} --to simgrid -o {o}",
    ),
    "ok-nodes.json": (
        "predict collective-io --model {f} --nodes 2,2,1 --rows",
        "place nodes --model {f} --nodes 4,2 --search-time 0.1 --to openmpi_rankfile -o {o}",
        "platform nodes:2 -o {o}.xml",
        "fit {f}",
        "exec --tuning {f} -- x",
        "config show {f}",
    ),
}
"""Commands that read a file and write another one, by the file that is read."""


@lru_cache
def whole(kind: str) -> tuple[str, ...]:
    """Return run files of a kind, with all that a header can say."""
    with TemporaryDirectory() as folder:
        files = [held.decode() for held in _seeds(kind, Path(folder))]
    return tuple(map(enriched, files))


def _seeds(kind: str, folder: Path) -> list[bytes]:
    return [(folder / name).read_bytes() for name in READERS[kind].seeds(folder)]


def harmless(argv: Sequence[str], folder: Path, outputs: Sequence[str] = ("out",)) -> int:
    """Run a command, hold it to what is promised whatever it reads, and return its code."""
    verdict = judge(argv, folder, outputs, PATIENT)
    assert verdict.wrong == "", f"{argv}: {verdict.wrong}: {verdict.said}"
    assert not (folder / TRACE).exists()
    return verdict.code


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_full_of_hostile_names_is_read_and_nothing_is_obeyed(
    kind: str, tmp_path: Path
) -> None:
    """Hosts, libraries, notes, settings, warnings: any text is a name, so it is never refused."""
    for number, text in enumerate(whole(kind)[:2]):
        names = COMBINED if number else NAMES
        (tmp_path / "a.jsonl").write_text(renamed_everywhere(text, names))
        for line in JUDGED:
            refused = () if line.startswith(("show", "check")) else (2,)
            code = harmless(line.format(file="a.jsonl").split(), tmp_path)
            assert code in (0, 1, 4, *refused), line
            for left in tmp_path.glob("out*"):
                left.unlink()


@pytest.mark.parametrize("kind", KINDS)
def test_json_of_hostile_names_is_as_declared(kind: str, tmp_path: Path) -> None:
    """`run_here` reads the document strictly, and holds it against its schema."""
    (tmp_path / "a.jsonl").write_text(renamed_everywhere(whole(kind)[0], NAMES[5:]))
    answer = run_here("show", "a.jsonl", "--json", cwd=tmp_path)
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout.rstrip("\n").isprintable()


@pytest.mark.few(3)
@pytest.mark.parametrize("kind", KINDS)
def test_each_text_of_a_file_may_be_hostile(kind: str, tmp_path: Path) -> None:
    """Where a text means something, such as an operation, a line says that it is unknown."""
    text = whole(kind)[0]
    for number, field in enumerate(fields(text)):
        start = 11 * number % len(NAMES)
        (tmp_path / "a.jsonl").write_text(renamed(text, field, (*NAMES[start:], *NAMES[:start])))
        assert harmless(["show", "a.jsonl"], tmp_path) in (0, 1, 2), field


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "command", ["show {file}", "check {file}", "export {file} --to csv -o out"]
)
def test_names_of_a_mebibyte_are_cut_where_people_read(command: str, tmp_path: Path) -> None:
    """Nobody reads more than a line; the file that is written holds what the run holds."""
    text = whole("latency-map")[0]
    for field in fields(text):
        if str(field) in ("rank.host", "run.mpi.library", "warning.text", "run.notes.a"):
            text = renamed(text, field, [f"{k}{'ab' * (1 << 19)}" for k in range(3)])
    (tmp_path / "a.jsonl").write_text(text)
    answer = run_here(*command.format(file="a.jsonl").split(), cwd=tmp_path)
    assert answer.returncode == 0, answer.stderr
    assert len(answer.stdout) + len(answer.stderr) < 60_000


WORST = "a\x1b]0;x\x07\x1b[2J\u202eb\n\x9bc\r\u2028d"


class Terminal(io.StringIO):
    """Output that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.slow
@pytest.mark.few(1)
@pytest.mark.parametrize("held", FILES)
def test_names_of_files_reach_no_terminal_as_they_are(
    held: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is read and what is written has a hostile name; so has what an error is about."""
    helpers(tmp_path)
    monkeypatch.setattr(io, "StringIO", Terminal)
    monkeypatch.setenv("TERM", "dumb")  # rich writes no colours of its own
    commands = FILES[held]
    turns = [(name, commands[k % len(commands)]) for k, name in enumerate(FILE_NAMES[::4])]
    for name, command in [*((WORST, one) for one in commands), *turns]:
        file = tmp_path / name
        shutil.copy(tmp_path / held, file)
        words = command.split()
        harmless(
            [w.replace("{f}", f"./{name}").replace("{o}", f"out{name}") for w in words], tmp_path
        )
        file.unlink()
        for left in tmp_path.glob("out*"):
            shutil.rmtree(left) if left.is_dir() else left.unlink()


def test_a_script_gets_the_name_of_a_file_as_it_is(tmp_path: Path) -> None:
    """Only what goes to a terminal is changed: `FILE=$(isochrone export …)` works."""
    helpers(tmp_path)
    for name in ("a\x1b[31m\nb", "\u202ea b", "-n"):
        argv = ("export", "ok-map.jsonl", "--to", "csv", "-o", f"./{name}")
        assert run_here(*argv, cwd=tmp_path).stdout == f"{name}\n"


def test_a_command_line_that_is_told_can_be_typed() -> None:
    """It holds no control character, and a shell makes of it the words that it was made of."""
    words = [name for name in FILE_NAMES if name]
    line = command_line(["printf", "%s\\0", *words])
    assert line.isprintable()
    shell = shutil.which("bash")
    assert shell, "there is no bash"
    done = subprocess.run([shell, "-c", line], capture_output=True, check=True)
    assert done.stdout.split(b"\0")[:-1] == [os.fsencode(word) for word in words]
    plain = ["a", "b c", "it's", "-n", "$(touch x)"]
    assert command_line(plain) == shlex.join(plain)
