"""What `tune collective-io` prints and writes, of a program whose truth is known."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from beds import documents
from beds.command_line import run_here
from beds.golden import Golden
from isochrone.cli.commands.tune import collective_io
from isochrone.collective_io.program.trials import hints_of_user
from made_up.io_programs import FakeProgram


@pytest.mark.slow
@pytest.mark.parametrize("own", ["romio_cb_read enable", "cb_config_list *:1"])
def test_what_explains_a_gain_is_said_first_and_a_portable_setting_is_written(
    own: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, golden: Golden
) -> None:
    """Files in memory, where no collective buffering gains most.

    The order of aggregators, which gains elsewhere, too, is tried unless a hint of the user is
    kept: then what that costs is said.
    """
    ordered = own.startswith("romio")
    user = tmp_path / "mine"
    user.write_text("# mine\n" + own + "\n")
    program = FakeProgram(
        lambda hints: (
            3.0
            if hints.get("romio_cb_write") == "disable"
            else 1.5
            if hints.get("cb_config_list", "*").startswith("n")
            else 1.0
        ),
        filesystem="tmpfs",
    )
    monkeypatch.setattr(collective_io, "_program", lambda args: program)
    words = ("tune", "collective-io", "--no-measure", "--", "mpiexec", "./app")
    answer = run_here(*words, cwd=tmp_path, ROMIO_HINTS=str(user))
    assert answer.returncode == 0, answer.stderr
    found = json.loads((tmp_path / "io-tuning/report.json").read_text())
    documents.check(found, "tune-collective-io")
    first = next(line for line in answer.stdout.splitlines() if "local to one host" in line)
    golden(answer.stdout[answer.stdout.index(first) :])
    hints = tmp_path / "io-tuning/romio-hints"
    portable = hints.with_name("romio-hints-portable")
    kept = hints_of_user({"ROMIO_HINTS": str(hints)})
    assert kept == {"romio_cb_write": "disable", **dict([own.split()])}
    assert "tmpfs" in hints.read_text().splitlines()[0]
    assert portable.exists() == ordered
    assert len([text for text in found["warnings"] if "cb_config_list" in text]) == (not ordered)
    if ordered:
        assert found["portable"]["kept"] == "io-tuning/romio-hints-portable"
        assert "disable" not in hints_of_user({"ROMIO_HINTS": str(portable)}).values()
    assert run_here(*words, cwd=tmp_path).returncode == 2  # nothing is overwritten
