"""`isochrone tune program` on a real MPI: record, measure, choose, prove, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

from beds.command_line import run_here
from beds.mpis import CROWDED, Mpi
from beds.recorded import built


def test_a_program_is_recorded_measured_and_judged(mpich: Mpi, tmp_path: Path) -> None:
    """Whether anything is gained is chance here; what is kept was proven, and can be used."""
    program = built(mpich, tmp_path, "scattering")
    command = [mpich.probe.mpicc.with_name("mpiexec"), "-n", 2, program]
    answer = run_here(
        "tune",
        "program",
        "-o",
        tmp_path / "tuned",
        "--launches",
        3,
        "--budget",
        4,
        "--json",
        "--mpicc",
        mpich.probe.mpicc,
        "--",
        *command,
        **CROWDED,
    )
    assert answer.returncode == 0, answer.stderr
    document = json.loads(answer.stdout)
    assert document == json.loads((tmp_path / "tuned/report.json").read_text())
    assert document["ranks"] == 2
    assert [(one["op"], one["bytes"]) for one in document["operations"]] == [("scatter", 4096)]
    assert 0.9 * 400 <= document["operations"][0]["calls"] <= 400
    names = {path.name for path in (tmp_path / "tuned/runs").glob("scatter-*.jsonl")}
    assert {f"scatter-default-{k}.jsonl" for k in (1, 2, 3)} <= names
    assert any(name.startswith("scatter-binomial") for name in names)
    assert (document["kept"] is None) == bool(document["why"])
    for way in document["ways"]:
        assert (way["name"] == document["kept"]) == (not way["why"])


def test_what_records_nothing_is_refused(mpich: Mpi, tmp_path: Path) -> None:
    answer = run_here(
        "tune",
        "program",
        "-o",
        tmp_path / "tuned",
        "--mpicc",
        mpich.probe.mpicc,
        "--",
        mpich.probe.mpicc.with_name("mpiexec"),
        "-n",
        2,
        "true",
        **CROWDED,
    )
    assert answer.returncode == 2
    assert len(answer.stderr.splitlines()) == 1
