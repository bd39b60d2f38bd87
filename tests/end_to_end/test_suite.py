"""A suite as a user runs it: planned, within its time, resumed where it ended."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from beds.golden import Golden
from isochrone.measure import presets
from isochrone.runfile.file import read

Command = Callable[..., subprocess.CompletedProcess[str]]
NINE = presets.SUITES["mpptest"].presets


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("suite")


def test_the_mpptest_suite_runs_all_nine_and_says_its_plan_first(
    isochrone: Command, folder: Path, golden: Golden
) -> None:
    answer = isochrone("suite", "mpptest", "--ranks", "2", "--budget", "45", "--quiet", cwd=folder)
    assert answer.returncode == 0, answer.stderr
    lines = answer.stdout.splitlines()
    golden.measured(lines[0])
    for name in NINE:
        run = read(folder / "mpptest" / f"{name}-2.jsonl")
        assert run.header["notes"]["preset"] == name
        assert len(run.tables["sample"])
    assert not list((folder / "mpptest").glob(".trial*"))


def test_run_again_it_measures_what_is_missing_and_keeps_the_rest(
    isochrone: Command, folder: Path
) -> None:
    """One file is lost, one ends in the middle: both are measured, the part is kept aside."""
    files = folder / "mpptest"
    complete = [name for name in NINE if read(files / f"{name}-2.jsonl").complete]
    kept = [name for name in complete if name not in ("dsum", "bcast")]
    before = {name: (files / f"{name}-2.jsonl").read_bytes() for name in kept}
    (files / "dsum-2.jsonl").unlink()
    cut = (files / "bcast-2.jsonl").read_bytes()[:3000].rpartition(b"\n")[0] + b"\n"
    (files / "bcast-2.jsonl").write_bytes(cut)
    answer = isochrone("suite", "mpptest", "--ranks", "2", "--budget", "45", "--quiet", cwd=folder)
    assert answer.returncode == 0, answer.stderr
    assert f"{len(kept)} of 9" in answer.stdout
    assert (files / "bcast-2.part1.jsonl").read_bytes() == cut
    assert {name: (files / f"{name}-2.jsonl").read_bytes() for name in kept} == before
    assert read(files / "dsum-2.jsonl").complete
    assert read(files / "bcast-2.jsonl").complete


def test_a_file_of_something_else_is_never_taken_for_a_result(
    isochrone: Command, tmp_path: Path, golden: Golden
) -> None:
    (tmp_path / "mpptest").mkdir()
    isochrone(
        "measure",
        "point-to-point",
        "-n",
        2,
        "--bytes",
        "8",
        "--repeats",
        "2",
        "--quiet",
        "-o",
        "mpptest/short-2.jsonl",
        cwd=tmp_path,
    )
    answer = isochrone("suite", "mpptest", "--ranks", "2", cwd=tmp_path)
    assert answer.returncode == 2
    golden.measured(answer.stderr)


def test_a_dry_run_prints_every_command_and_measures_nothing(
    isochrone: Command, tmp_path: Path
) -> None:
    answer = isochrone("suite", "quick", "--ranks", "2,3", "--dry-run", cwd=tmp_path)
    assert answer.returncode == 0
    assert len(answer.stdout.splitlines()) == len(
        list(presets.plan(presets.SUITES["quick"], (2, 3)))
    )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.full
def test_a_suite_like_another_measures_its_sizes(isochrone: Command, tmp_path: Path) -> None:
    """Once each chose its own, and `compare before/ after/` ended with exit code 2."""
    quick = ("suite", "quick", "--ranks", "2", "--budget", "12", "--quiet")
    first = isochrone(*quick, "-o", "before", cwd=tmp_path)
    second = isochrone(*quick, "-o", "after", "--like", "before", cwd=tmp_path)
    assert (first.returncode, second.returncode) == (0, 0), first.stderr + second.stderr
    sizes = [
        set(read(tmp_path / folder / "sizes-2.jsonl").tables["sample"]["bytes"].tolist())
        for folder in ("before", "after")
    ]
    assert sizes[1] <= sizes[0]  # a time limit may leave out some
    assert len(sizes[1]) > 5
    compared = isochrone("compare", "before", "after", cwd=tmp_path)
    assert compared.returncode == 0, compared.stderr
    assert compared.stdout.count("no verdict") == 5
    gate = isochrone("compare", "before", "after", "--fail-on", "slower:5%", cwd=tmp_path)
    assert gate.returncode == 1
    assert gate.stdout.count("cannot judge") == 5
    # on a busy machine, the time limit may have cut one short: that is measured again
    whole = sum(read(path).complete for path in (tmp_path / "after").glob("*.jsonl"))
    again = isochrone(*quick, "-o", "after", "--like", "before", cwd=tmp_path)
    assert f"{whole} of 5" in again.stdout


@pytest.mark.full
def test_a_suite_that_runs_several_times_can_be_compared(
    isochrone: Command, tmp_path: Path
) -> None:
    """Each time into a folder of its own, which `compare` takes for launches of one suite."""
    quick = ("suite", "quick", "--ranks", "2", "--budget", "8", "--quiet", "--launches", "2")
    assert isochrone(*quick, "-o", "both", cwd=tmp_path).returncode == 0
    assert [folder.name for folder in sorted((tmp_path / "both").iterdir())] == [
        "launch-1",
        "launch-2",
    ]
    compared = isochrone("compare", "both", "both", "--json", cwd=tmp_path)
    found = json.loads(compared.stdout)["comparisons"]
    assert set(found) == {f"{name}-2.jsonl" for name in presets.SUITES["quick"].presets}
    for one in found.values():
        assert one["launches"] == {"before": 2, "after": 2}
        assert one["counts"]["slower"] == one["counts"]["faster"] == 0


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (
            ("suite", "mpptest", "--ranks", "2", "--like", "."),
            "the folder has no run of this suite with these numbers of ranks",
        ),
        (("suite", "mpptest", "--ranks", "1"), "not a list of numbers of ranks"),
        (("suite", "mpptest", "--ranks", "two"), "not a list of numbers of ranks"),
        (("suite", "mpptest", "--budget", "-1"), "is not a time above 0, such as 300, 5m or 200ms"),
        (("suite", "slowest"), "invalid choice"),
        (
            ("suite", "mpptest", "--ranks", "2", "-o", "no/such/folder"),
            "the folder cannot be created:",
        ),
        (("measure", "bisection", "--preset", "longnb", "-n", "2"), "belongs to point-to-point"),
    ],
)
def test_wrong_use_is_one_line(
    isochrone: Command, tmp_path: Path, words: tuple[str, ...], says: str
) -> None:
    answer = isochrone(*words, cwd=tmp_path)
    assert answer.returncode == 2
    assert says in answer.stderr
    assert len(answer.stderr.splitlines()) == 1


@pytest.mark.usefixtures("mpich")
def test_ranks_of_two_processors_answer_no_question_about_many(
    isochrone: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No prediction could follow from one number of ranks, so none is measured."""
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1})
    answer = isochrone("suite", "--for", "allreduce at 4096", cwd=tmp_path)
    assert answer.returncode == 2
    assert not list(tmp_path.iterdir())
