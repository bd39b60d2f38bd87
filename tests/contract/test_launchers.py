"""Every launcher is tested by existing."""

from __future__ import annotations

from pathlib import Path

import pytest

from isochrone.base import registry
from isochrone.measure import launcher as launchers
from isochrone.measure.launcher import Job, Launcher


@pytest.mark.parametrize("name", launchers.names())
def test_a_launcher_starts_the_program_it_was_given(tmp_path: Path, name: str) -> None:
    launcher = launchers.load(name)
    assert isinstance(launcher, Launcher)
    program = ("/opt/probe", "synthetic", "--note", "a=b")
    platform = tmp_path / "platform.xml"
    platform.write_text("<platform/>")
    options = {"launcher_template": "run {ranks}", "platform": platform}
    ranks = 37 if launcher.needs_mpi else 1
    job = Job(ranks=ranks, program=program, extra=("--extra",), processors=64, options=options)
    tokens = launcher.command(job)
    assert all(isinstance(token, str) for token in tokens)
    assert not launcher.needs_mpi or any("37" in token for token in tokens)
    assert tokens[-len(program) :] == list(program)
    assert not launcher.needs_mpi or tokens.index("--extra") < tokens.index("/opt/probe")
    assert registry.summary("measure.launchers", name)
    assert isinstance(launcher.priority, int)
    assert launcher.detect({}, "no such library") is False
