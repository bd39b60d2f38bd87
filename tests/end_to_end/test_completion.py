"""Completion under the real shells: commands, options, values, and those of experiments."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from beds.command_line import Command
from beds.golden import Golden
from beds.mpis import Mpi
from beds.shells import SHELLS, program

OFFERED = [
    ("isochrone me", {"measure"}, {"fit"}),
    ("isochrone predict ", {"app", "collective", "collective-io", "message"}, {"show"}),
    ("isochrone measure lat", {"latency-map"}, {"hotspot"}),
    ("isochrone measure latency-map --sch", {"--schedule"}, {"--op"}),
    ("isochrone measure latency-map --schedule ", {"isolated", "rounds", "serial"}, {"barrier"}),
    ("isochrone measure collective -n 4 --op all", {"allreduce", "alltoall"}, {"bcast"}),
    ("isochrone measure point-to-point --preset long", {"long", "longnb"}, {"bcast"}),
    ("isochrone plot map.jsonl --view heat", {"heatmap"}, {"levels"}),
    ("isochrone fit times.csv --family hock", {"hockney"}, {"tree"}),
    ("isochrone help sho", {"show"}, {"plot"}),
]


@pytest.fixture(scope="module")
def scripts(tmp_path_factory: pytest.TempPathFactory, mpich: Mpi, isochrone: Command) -> Path:
    """The script of each shell, written where an MPI is."""
    folder = tmp_path_factory.mktemp("completion")
    for shell in SHELLS:
        answer = isochrone("completion", shell)
        assert answer.returncode == 0, answer.stderr
        assert answer.stderr == ""
        (folder / shell).write_text(answer.stdout)
    return folder


@pytest.fixture(params=list(SHELLS))
def shell(request: pytest.FixtureRequest) -> str:
    program(request.param)
    return str(request.param)


@pytest.mark.few
def test_a_shell_offers_what_comes_next(scripts: Path, shell: str) -> None:
    """Options of experiments come from the probe, values from where the command takes them."""
    offers = SHELLS[shell](scripts / shell, [line for line, _, _ in OFFERED])
    for (line, wanted, unwanted), (_, words) in zip(OFFERED, offers, strict=True):
        assert wanted <= set(words), line
        assert not unwanted & set(words), line


def test_files_are_offered_where_files_are_read(
    scripts: Path, shell: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "zebra.jsonl").touch()
    script = tmp_path / "script"
    script.write_text((scripts / shell).read_text())
    monkeypatch.chdir(tmp_path)
    ((_, words),) = SHELLS[shell](script, ["isochrone show zeb"])
    assert any(word.endswith("zebra.jsonl") for word in words)


def test_scripts_start_no_program(scripts: Path, shell: str) -> None:
    """A TAB that starts Python takes half a second on a parallel file system."""
    text = re.sub(r"(?m)^\s*#.*$", "", (scripts / shell).read_text())
    assert "python" not in text.lower()
    assert "$(isochrone" not in text
    assert "(isochrone " not in text.replace("commandline (isochrone ", "")


@pytest.mark.usefixtures("mpich")
def test_without_an_mpi_all_but_the_options_of_experiments_is_there(
    isochrone: Command,
    golden: Golden,
) -> None:
    """A login node may have no compiler; the commands are completed all the same."""
    answer = isochrone("completion", "bash", MPICC="/nowhere/mpicc")
    assert answer.returncode == 0
    assert "latency-map" in answer.stdout
    assert "--retest" not in answer.stdout
    golden.measured(answer.stderr)
    assert answer.stderr.count("\n") == 1


def test_an_unknown_shell_is_refused(isochrone: Command, golden: Golden) -> None:
    answer = isochrone("completion", "fsh")
    assert answer.returncode == 2
    golden.measured(answer.stderr)
