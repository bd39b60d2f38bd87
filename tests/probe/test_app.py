"""Emulated applications on real MPIs: all steps and methods run, and bad programs are one line."""

from __future__ import annotations

import dataclasses
import random
import re
import resource
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from beds.golden import Golden
from beds.mpis import ROOT, Mpi
from beds.shim import Shim
from isochrone.applications.description.program import (
    Application,
    Collective,
    Compute,
    Irecv,
    Isend,
    Method,
    Mode,
    Program,
    Step,
    Wait,
)
from isochrone.applications.description.program_file import text
from isochrone.measure import job
from isochrone.runfile.run import Run
from made_up import programs
from made_up.programs import SIZE, TIME, application, program


def emulate(mpi: Mpi, made: Program, folder: Path, *options: str, ranks: int = 0) -> Run:
    """Run a program on so many ranks, or on those it has."""
    path = folder / "program.txt"
    path.write_text(text(made))
    out = folder / "run.jsonl"
    return mpi.run(
        "app", "--program", str(path), "--force", *options, ranks=ranks or made.ranks, out=out
    )


def swap() -> list[list[Step]]:
    """Two ranks exchange messages, all under way at once, then agree."""
    end: list[Step] = [Wait(0), Collective(0, "allreduce", SIZE)]
    return [
        [Isend(0, 1, SIZE), Irecv(0, 1, SIZE), Isend(0, 1, SIZE), Irecv(0, 1, SIZE), *end],
        [Irecv(0, 0, SIZE), Isend(0, 0, SIZE), Irecv(0, 0, SIZE), Isend(0, 0, SIZE), *end],
    ]


def edges(run: Run) -> dict[tuple[int, int, int], tuple[int, int]]:
    """Return messages and bytes of each edge of each application."""
    rows = run.tables["edge"].rows()
    return {(r["app"], r["from"], r["to"]): (r["messages"], r["bytes"]) for r in rows}


def flows(method: Method, path: str = "") -> Application:
    """Return two ranks whose phases are a server, a farm, a ring and an exchange."""
    phases = [programs.clients(2, "sleep"), programs.farm(2, 4, "sleep"), programs.ring(2), swap()]
    steps = [
        [dataclasses.replace(step, phase=k) for k, one in enumerate(phases) for step in one[rank]]
        for rank in range(2)
    ]
    return application(steps, 12, method=method, path=path, phases=len(phases))


VALUES: dict[str, Any] = {
    "time": [1e-6, 5e-6], "size": [8, 3000, 90_000], "reply": [0, 500]
}  # fmt: skip


@pytest.fixture(scope="module")
def expected(mpich: Mpi, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """What is sent as messages."""
    made = program(flows("message"), **VALUES)
    return edges(emulate(mpich, made, tmp_path_factory.mktemp("expected")))


def test_as_many_messages_are_sent_as_the_steps_say(expected: Any) -> None:
    """Request, task and end, token, and two at once, of each iteration; and what comes back."""
    assert {key: n for key, (n, _) in expected.items()} == {
        (0, 0, 1): 12 * (1 + 4 + 1 + 1 + 2), (0, 1, 0): 12 * (1 + 4 + 1 + 2)
    }  # fmt: skip


@pytest.mark.smoke
@pytest.mark.few
@pytest.mark.parametrize("method", ["message", "shared-memory", "posix-file", "mpi-file"])
def test_every_mpi_runs_every_flow_by_every_method(
    every_mpi: Mpi, method: Method, expected: Any, tmp_path: Path
) -> None:
    """What is sent does not depend on how it is sent."""
    path = tmp_path / "data"
    made = program(flows(method, str(path) if method.endswith("file") else ""), **VALUES)
    run = emulate(every_mpi, made, tmp_path)
    assert run.complete
    assert edges(run) == expected
    assert not path.exists(), "it is removed"


def test_two_emulations_send_the_same(mpich: Mpi, tmp_path: Path) -> None:
    """And another seed sends something else."""

    def run(seed: int) -> tuple[Any, Any]:
        made = program(flows("message"), **VALUES, seed=seed)
        found = emulate(mpich, made, tmp_path)
        return edges(found), [row["asked"] for row in found.tables["rank_time"].rows()]

    first, again, other = run(3), run(3), run(4)
    assert first == again
    assert first != other


def test_a_background_application_covers_the_others(mpich: Mpi, tmp_path: Path) -> None:
    victim = application(programs.ring(2), 2000, name="victim")
    bully = application(swap(), 5, name="bully", background=True)
    made = program(victim, bully, size=[1000], launches=[(0,), (1,), (0, 1)])
    run = emulate(mpich, made, tmp_path)
    rows = {(row["launch"], row["app"]): row for row in run.tables["wall"].rows()}
    assert rows[1, 1]["iterations"] == 5
    assert rows[2, 0]["overlap"] > 0.5
    assert rows[2, 0]["iterations"] == 2000
    assert {codes["code"] for codes in run.warnings} >= {"shared-nodes"}


@pytest.mark.parametrize("mode", ["cpu", "spin", "sleep"])
def test_what_is_delivered_is_counted(mpich: Mpi, mode: Mode, tmp_path: Path) -> None:
    """Never less than asked for but by the overhead that is taken off."""
    steps: list[list[Step]] = [[Compute(0, TIME, 1.0, mode)]]
    run = emulate(mpich, program(application(steps, 50), time=[2e-4]), tmp_path)
    (row,) = run.tables["rank_time"].rows()
    assert row["asked"] == pytest.approx(50 * 2e-4)
    assert row["delivered"] > 0.99 * row["asked"]
    tries = {one["mode"]: one for one in run.tables["computation"].rows()}
    assert set(tries) == {"cpu", "spin", "sleep"}
    assert all(one["asked"] == 1e-4 for one in tries.values())


def test_ranks_of_no_application_sleep(mpich: Mpi, tmp_path: Path) -> None:
    """One rank computes asleep for 3 s; two more wait, and would use up 3 s each if they spun."""
    steps: list[list[Step]] = [[Compute(0, TIME, 1.0, "sleep")]]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.monotonic()
    emulate(mpich, program(application(steps, 3), time=[1.0]), tmp_path, ranks=3)
    assert time.monotonic() - began >= 3
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    assert used < 2.5


def test_a_file_that_is_there_is_not_written_to(mpich: Mpi, tmp_path: Path, golden: Golden) -> None:
    path = tmp_path / "mine"
    path.write_text("precious")
    for method in ("posix-file", "mpi-file"):
        made = program(application(programs.ring(2), 2, method=method, path=str(path)))
        with golden.refusal(kind=Exception):
            emulate(mpich, made, tmp_path)
        assert path.read_text() == "precious"


def test_shared_memory_is_refused_between_nodes(
    mpich_shim: Shim, tmp_path: Path, golden: Golden
) -> None:
    path = tmp_path / "program.txt"
    path.write_text(text(program(application(programs.ring(2), 2, method="shared-memory"))))
    with golden.refusal(kind=Exception):
        mpich_shim.run(
            "app", "--program", str(path), ranks=2, out=tmp_path / "run.jsonl", nodes="1,1"
        )


# --- programs that are wrong -----------------------------------------------------------------

RIGHT = """\
isochrone-program 1
seed 7
placement disjoint
values 0 2 0 1e-5
values 1 1 64
values 2 1 3000000000
app 0 one ranks 3 iterations 4 background 0
phase 0 0 first message
phase 0 1 second posix-file /tmp/a file with blanks
steps 0 0
  compute 0 0 1.5 cpu
  serve 0 1 1 0 sleep 1 2
  farm 1 4 1 1 2 1
  collective 0 allgather 1 0 -
  collective 0 bcast 1 2 - 0 2
steps 0 1
  isend 0 0 1
  irecv 0 0 1
  wait 0
  work 1 0 1 1 0 1 spin
  collective 0 allgather 1 0 -
steps 0 2
  send 0 0 1
  recv 0 0 1
  work 1 0 1 1 0 2.5 sleep
  collective 0 allgather 1 0 -
  collective 0 bcast 1 2 - 0 2
app 1 two ranks 1 iterations 2 background 1
phase 1 0 first message
on 1 3
run 0 0
run 0 0 1
end
"""

WRONG = {
    "1: this is no 'isochrone-program 1'": ("isochrone-program 1", "isochrone"),
    "1: this version reads version 1": ("isochrone-program 1", "isochrone-program 2"),
    "2: the seed is no 64-bit number": ("seed 7", "seed seven"),
    "3: there is no placement 'here'": ("disjoint", "here"),
    "4: there are not 200000 values here": ("values 0 2", "values 0 200000"),
    "4: a value is 'nan', not a number": ("0 1e-5", "0 nan"),
    "4: a value is '-1', not a number": ("0 1e-5", "-1 1e-5"),
    "4: a value is '0x1p3', not a number": ("0 1e-5", "0x1p3 1e-5"),
    "5: the index of the values is 7, not 1: they count up": ("values 1 1", "values 7 1"),
    "7: the number of ranks is '0', not": ("ranks 3", "ranks 0"),
    "7: the number of ranks is '99999999999999999999'": ("ranks 3", "ranks 99999999999999999999"),
    "7: the number of iterations is '0'": ("iterations 4", "iterations 0"),
    "7: 'background' is missing": ("4 background 0", "4"),
    "8: there is no method 'telepathy'": ("first message", "first telepathy"),
    "9: a posix-file without its path": (" /tmp/a file with blanks", ""),
    "10: the application is '5', not": ("steps 0 0", "steps 5 0"),
    "10: the rank is '3', not": ("steps 0 0", "steps 0 3"),
    "11: the phase is '2', not": ("compute 0 0", "compute 2 0"),
    "11: the factor is 'inf', not a number": ("0 1.5", "0 inf"),
    "11: a computation of more than 1e+08 s": ("0 1e-5", "0 1e15"),
    "11: there is no mode 'gpu'": ("1.5 cpu", "1.5 gpu"),
    "12: client is '3', not": ("sleep 1 2", "sleep 1 3"),
    "12: client 1 is named twice": ("sleep 1 2", "sleep 1 1"),
    "12: client is rank 0 itself": ("sleep 1 2", "sleep 1 0"),
    "12: there is no client": ("sleep 1 2", "sleep"),
    "13: list 2 holds 3000000000 bytes": ("farm 1 4 1 1", "farm 1 4 2 1"),
    "14: there is no operation 'gossip'": ("allgather 1 0 -", "gossip 1 0 -"),
    "14: '0x3' is no grid": ("allgather 1 0 -", "allgather 1 0 0x3"),
    "15: its root 1 is not among": ("bcast 1 2 -", "bcast 1 1 -"),
    "16: the second steps of rank 0": ("steps 0 1", "steps 0 0"),
    "14: not all of its 3 ranks do": ("steps 0 1", "steps 0 1\n  collective 0 allgather 1 0 -"),
    "12: rank 0 sends fewer messages to rank 1": (
        "  irecv 0 0 1", "  irecv 0 0 1\n  irecv 0 0 1"
    ),
    "13: rank 0 leads and rank 2 works": ("  work 1 0 1 1 0 2.5 sleep\n", "  wait 0\n"),
    "18: there is no step 'receive'": ("irecv", "receive"),
    "19: '9' is one word too many": ("wait 0", "wait 0 9"),
    "28: there is an application one": ("app 1 two", "app 1 one"),
    "30: 0 ranks, but two has 1": ("on 1 3", "on 1"),
    "31: a run of no application": ("run 0 0\n", "run 0\n"),
    "32: applications do not ascend": ("run 0 0 1", "run 0 1 0"),
    "33: it has no 'end'": ("end\n", "\n"),
    "34: a line after 'end'": ("end\n", "end\nseed 1\n"),
    "2: a character that is not text": ("seed 7", "seed \x1b[31m"),
}  # fmt: skip


READER = ("program", "reading", "step", "tally", "words")
"""Files of the experiment that need no rank."""


@pytest.fixture(scope="module")
def checker(mpich: Mpi, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The reader of program files by itself, with the address sanitizer."""
    folder = tmp_path_factory.mktemp("checker")
    source = ROOT / "probe"
    files = [
        *source.glob("base/*.c"), *source.glob("grid/*.c"), *source.glob("collectives/*.c"),
        *source.glob("messages/[mo]*.c"), source / "machine/clock.c",
        *(source / f"experiments/app/{name}.c" for name in READER),
        ROOT / "tests/probe/program_check/program_check.c",
    ]  # fmt: skip
    sanitized = ["-g", "-O0", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    argv = [mpich.probe.mpicc, "-std=c11", *sanitized, "-I", source, *files, "-lm"]
    subprocess.run([*argv, "-o", folder / "check"], check=True, timeout=300)
    return folder / "check"


def read_all(checker: Path, texts: list[str], folder: Path) -> list[str]:
    """Return what is said of each text."""
    paths = []
    for k, content in enumerate(texts):
        paths.append(folder / f"{k}.txt")
        paths[-1].write_text(content)
    answer = subprocess.run(
        [checker, *paths], capture_output=True, text=True, timeout=300, check=False
    )
    assert answer.returncode == 0, answer.stderr
    return answer.stdout.splitlines()


def test_what_is_wrong_with_a_program_is_one_line(checker: Path, tmp_path: Path) -> None:
    """With its place; the same programs, right, are read."""
    texts = [RIGHT, *(RIGHT.replace(old, new, 1) for old, new in WRONG.values())]
    assert RIGHT not in texts[1:], "a mutation that changes nothing"
    said = read_all(checker, texts, tmp_path)
    assert said[0] == "ok"
    for expected, found in zip(WRONG, said[1:], strict=True):
        assert found.startswith(f"F:{expected}"), (expected, found)


def test_no_program_makes_the_reader_fail(checker: Path, tmp_path: Path) -> None:
    """Bytes, words and lines of a right one taken away, doubled and exchanged at random."""
    chance = random.Random(5)
    words = [*RIGHT.split(), "-1", "1e999", "4294967296", "0", "-", "nodes", "\x00", "é"]
    texts = []
    for _ in range(800):
        lines = RIGHT.splitlines(keepends=True)
        for _ in range(chance.randint(1, 3)):
            at = chance.randrange(len(lines))
            kind = chance.choice(["drop", "double", "swap", "word", "cut"])
            if kind == "drop":
                del lines[at]
            elif kind == "double":
                lines.insert(at, chance.choice(lines))
            elif kind == "swap":
                lines[at], lines[-1] = lines[-1], lines[at]
            elif kind == "word":
                parts = lines[at].split(" ")
                parts[chance.randrange(len(parts))] = chance.choice(words)
                lines[at] = " ".join(parts)
            else:
                lines[at] = lines[at][: chance.randrange(len(lines[at]) + 1)]
        texts.append("".join(lines))
    said = read_all(checker, texts, tmp_path)
    assert len(said) == len(texts), "one line each"
    assert 10 < said.count("ok") < len(said)
    assert all(line == "ok" or re.match(r"F:\d+: .", line) for line in said)


def test_a_bad_program_is_refused_before_a_rank_is_started(
    mpich: Mpi, tmp_path: Path, golden: Golden
) -> None:
    path = tmp_path / "program.txt"
    path.write_text(RIGHT)
    mpich.probe.check("app", ["--program", str(path)], 4)
    with golden.refusal():
        mpich.probe.check("app", ["--program", str(path)], 3)
    with golden.refusal():
        mpich.probe.check("app", [], 4)
    with golden.refusal():
        mpich.probe.check("app", ["--program", str(tmp_path / "none")], 4)
    with golden.refusal():
        mpich.probe.check("app", ["--program", str(tmp_path)], 4)
    path.write_text(RIGHT.replace("on 1 3", "on 1 4"))
    with golden.refusal():
        mpich.probe.check("app", ["--program", str(path)], 4)


def test_all_ranks_end_alike_if_the_program_is_bad(
    mpich: Mpi, tmp_path: Path, golden: Golden
) -> None:
    """Without --check, rank 0 reads it and the others are told: one line, exit code 2."""
    path = tmp_path / "program.txt"
    path.write_text(RIGHT.replace("1.5 cpu", "1.5 gpu"))
    argv = mpich.argv("app", "--program", str(path), ranks=3)
    answer = subprocess.run(argv, capture_output=True, text=True, timeout=120, check=False)
    assert answer.returncode == 2
    assert answer.stderr.count("'gpu'") == 1
    with golden.refusal(kind=Exception):
        job.run(argv, timeout=120)
