"""Emulated applications on real MPIs: all steps and methods run, and bad programs are one line."""

from __future__ import annotations

import resource
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from beds.golden import Golden
from beds.mpis import Mpi
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
from isochrone.applications.description.program_file import data
from isochrone.base.errors import InputError
from isochrone.base.stats import quantile
from isochrone.measure import job
from isochrone.runfile.run import Run
from made_up import programs
from made_up.programs import SIZE, TIME, application, program


def emulate(mpi: Mpi, made: Program, folder: Path, *options: str, ranks: int = 0) -> Run:
    """Run a program on so many ranks, or on those it has."""
    path = folder / "app.program"
    path.write_bytes(data(made))
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
        [replace(step, phase=k) for k, one in enumerate(phases) for step in one[rank]]
        for rank in range(2)
    ]
    return application(steps, 12, method=method, path=path, phases=len(phases))


VALUES: dict[str, Any] = {"time": [1e-6, 5e-6], "size": [8, 3000, 90_000], "reply": [0, 500]}


@pytest.fixture(scope="module")
def expected(mpich: Mpi, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """What is sent as messages."""
    made = program(flows("message"), **VALUES)
    return edges(emulate(mpich, made, tmp_path_factory.mktemp("expected")))


def test_as_many_messages_are_sent_as_the_steps_say(expected: Any) -> None:
    """Request, task and end, token, and two at once, of each iteration; and what comes back."""
    assert {key: n for key, (n, _) in expected.items()} == {
        (0, 0, 1): 12 * (1 + 4 + 1 + 1 + 2),
        (0, 1, 0): 12 * (1 + 4 + 1 + 2),
    }


@pytest.mark.smoke
@pytest.mark.few
@pytest.mark.parametrize(
    "method", ["message", "shared-memory", "posix-file", "mpi-file", "put", "get"]
)
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


def test_the_percentiles_of_a_rank_are_those_of_its_iterations(mpich: Mpi, tmp_path: Path) -> None:
    """A single rank is its own slowest; 400 iterations are too few for one in a thousand."""
    steps: list[list[Step]] = [[Compute(0, TIME, 1.0, "spin")]]
    run = emulate(mpich, program(application(steps, 400), time=[1e-6, 5e-6, 2e-5]), tmp_path)
    (rank,), (each,) = run.tables["rank_time"].rows(), run.tables["iterations"].rows()
    for name, fraction in (("p50", 0.5), ("p99", 0.99)):
        assert rank[name] == pytest.approx(quantile(each["seconds"], fraction), rel=1e-6)
    assert "p999" not in rank


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
    path = tmp_path / "app.program"
    path.write_bytes(data(program(application(programs.ring(2), 2, method="shared-memory"))))
    with golden.refusal(kind=Exception):
        mpich_shim.run(
            "app", "--program", str(path), ranks=2, out=tmp_path / "run.jsonl", nodes="1,1"
        )


# --- programs that are wrong -----------------------------------------------------------------


def right() -> Program:
    """Return a program of all steps, for four ranks."""
    one = replace(flows("posix-file", "/tmp/a file with blanks"), name="one")
    two = application([[Compute(0, TIME)]], 2, name="two", background=True, on=[3])
    return program(one, two, **VALUES, launches=[(0,), (0, 1)])


def test_a_damaged_program_is_one_line(mpich: Mpi, tmp_path: Path) -> None:
    """Bytes changed, missing or added anywhere."""
    path, good = tmp_path / "app.program", data(right())
    middle = len(good) // 2
    wrong = [b"", good[:40], good[:-1], good + b"\0", b"isochrone-program 1\n", good * 2]
    wrong += [
        good[:at] + bytes([good[at] ^ 1 << at % 8]) + good[at + 1 :]
        for at in [*range(0, 60, 3), *range(60, len(good), len(good) // 20), len(good) - 1]
    ]
    wrong.append(good[:middle] + good[middle + 8 :])
    for content in wrong:
        path.write_bytes(content)
        with pytest.raises(InputError) as refused:
            mpich.probe.check("app", ["--program", str(path)], 4)
        assert str(path) in str(refused.value)
        assert "\n" not in str(refused.value)


def test_a_bad_program_is_refused_before_a_rank_is_started(
    mpich: Mpi, tmp_path: Path, golden: Golden
) -> None:
    path, made = tmp_path / "app.program", right()
    path.write_bytes(data(made))
    mpich.probe.check("app", ["--program", str(path)], 4)
    with golden.refusal():
        mpich.probe.check("app", ["--program", str(path)], 2)
    with golden.refusal():
        mpich.probe.check("app", [], 4)
    with golden.refusal():
        mpich.probe.check("app", ["--program", str(tmp_path / "none")], 4)
    with golden.refusal():
        mpich.probe.check("app", ["--program", str(tmp_path)], 4)
    one, two = made.applications
    made = replace(made, applications=(one, replace(two, on=(4,))))
    path.write_bytes(data(made))
    with golden.refusal():
        mpich.probe.check("app", ["--program", str(path)], 4)


def test_all_ranks_end_alike_if_the_program_is_bad(
    mpich: Mpi, tmp_path: Path, golden: Golden
) -> None:
    """Without --check, rank 0 reads it and the others are told: one line, exit code 2."""
    path = tmp_path / "app.program"
    path.write_bytes(data(right())[:-4])
    argv = mpich.argv("app", "--program", str(path), ranks=3)
    answer = subprocess.run(argv, capture_output=True, text=True, timeout=120, check=False)
    assert answer.returncode == 2
    assert answer.stderr.count(str(path)) == 1
    with golden.refusal(kind=Exception):
        job.run(argv, timeout=120)
