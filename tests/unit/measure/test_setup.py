"""A setup asks its launcher for tokens and tells the user what the launcher has to say."""

from __future__ import annotations

from pathlib import Path

import pytest

from beds.golden import Golden
from isochrone.base.errors import InputError, MeasurementError
from isochrone.measure.launcher import Job, Launcher
from isochrone.measure.probe import Probe
from isochrone.measure.setup import Setup, follow

PROBE = Probe(Path("/opt/probe"), Path("/opt/mpicc"))


def command(job: Job) -> list[str]:
    return ["start", str(job.ranks), *job.extra, *job.program]


def test_a_launcher_that_declares_only_its_command_does_nothing_else() -> None:
    """All other fields have defaults: nobody is warned, and nothing is noted or assumed."""
    launcher = Launcher(command=command)
    job = Job(ranks=3, program=("p",))
    assert launcher.detect({"SLURM_JOB_ID": "1"}, "any library") is False
    assert launcher.asked_for({"launcher_template": "x"}) is False
    assert launcher.ranks({}) is None
    assert (launcher.warnings(job), launcher.notes(job)) == ([], {})
    assert (launcher.compiler, launcher.stands_alone) == ("", True)


def test_notes_and_extra_options_are_passed_on_and_warnings_are_told(golden: Golden) -> None:
    """What stands in the run file about the start, and what the user should know of it."""
    told: list[str] = []
    launcher = Launcher(
        command=command,
        warnings=lambda job: [f"{job.ranks} ranks are many"],
        notes=lambda job: {"platform": "p.xml"},
        stands_alone=False,
    )
    setup = Setup(PROBE, "mine", launcher, {"launcher_arg": ["--own"]}, told.append)
    tokens = setup.tokens(
        "synthetic", ["--x"], 3, Path("o.jsonl"), notes={"preset": "short"}, extra=["--first"]
    )
    assert tokens[:5] == ["start", "3", "--first", "--own", "/opt/probe"]
    assert tokens[5:9] == ["synthetic", "--x", "--out", "o.jsonl"]
    for note in ("launcher=mine", "preset=short", "platform=p.xml"):
        assert tokens[tokens.index(note) - 1] == "--note"
    golden(told)


@pytest.mark.parametrize(
    ("options", "threads"),
    [((), 1), (("--threads", "1,4,2"), 4), (("--threads=3", "--thread-comms=own"), 3)],
    ids=["none", "list", "joined"],
)
def test_the_job_knows_the_threads_of_a_rank(options: tuple[str, ...], threads: int) -> None:
    """Of lists the most, as they are all started with the same job."""
    launcher = Launcher(command=lambda job: [str(job.threads)], stands_alone=False)
    setup = Setup(PROBE, "mine", launcher, {})
    assert setup.tokens("point-to-point", options, 2, Path("o.jsonl")) == [str(threads)]


def test_binding_is_noted_and_gives_way_to_options_of_the_user() -> None:
    launcher = Launcher(command=command, binding=lambda job: ("--bind",), stands_alone=False)
    for given, placed, bound in (([], False, True), (["--own"], False, False), ([], True, False)):
        setup = Setup(PROBE, "mine", launcher, {"launcher_arg": given})
        tokens = setup.tokens("synthetic", [], 2, Path("o.jsonl"), placed=placed)
        assert ("--bind" in tokens, "binding=core" in tokens) == (bound, bound)


@pytest.mark.slow
@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("script", "complaint", "error"),
    [
        ("true", "the ranks ended without writing the run file", InputError),
        (
            'echo \'{"record":"sample"}\' > out',
            "before the measurement was complete",
            MeasurementError,
        ),
        ("echo x > out; exit 3", "exit status 3", MeasurementError),
    ],
)
def test_ranks_that_end_too_early_say_what_is_kept(
    tmp_path: Path, script: str, complaint: str, error: type[Exception]
) -> None:
    """A launcher that ends well proves nothing: the run file has to have its last record."""
    path = tmp_path / "out"
    with pytest.raises(error, match=complaint) as caught:
        follow(["sh", "-c", f"cd '{tmp_path}'; {script}"], path, timeout=60)
    if path.exists():
        assert str(path) in caught.value.hint  # type: ignore[attr-defined]


RUN = '{"record":"run","format":1,"experiment":"tile-io","ranks":2}'
RANK = '{"record":"rank","rank":0,"host":"n7"}'
SAMPLE = '{"record":"sample","op":"write","seconds":1.0}'


@pytest.mark.slow
@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("records", "data", "hint"),
    [
        ([RUN, RANK, SAMPLE], False, "partial results are in {out}"),
        ([RUN, RANK], False, "nothing was measured: {out} has no times"),
        ([RUN, RANK], True, "nothing was measured: {out} has no times; {data} may be left on n7"),
    ],
    ids=["one sample", "none", "data on another host"],
)
def test_what_is_kept_is_said_truly(
    tmp_path: Path, records: list[str], data: bool, hint: str
) -> None:
    """Ranks that are killed early leave a run file without a single time."""
    out, file = tmp_path / "out.jsonl", tmp_path / "data"
    lines = "".join(f"echo '{record}' >> {out};" for record in records)
    probe = tmp_path / "isochrone-probe"
    probe.write_text(f"#!/bin/sh\n{lines}\nexit 3\n")
    probe.chmod(0o755)
    options = ["tile-io", "--file", str(file)] if data else ["tile-io"]
    with pytest.raises(MeasurementError) as caught:
        follow([str(probe), *options], out, timeout=10)
    assert caught.value.hint == hint.format(out=out, data=file)
