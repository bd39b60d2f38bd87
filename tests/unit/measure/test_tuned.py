"""How a tuning table comes to the ranks of a command that the user typed."""

from __future__ import annotations

from pathlib import Path

import pytest

from isochrone.base.errors import InputError
from isochrone.measure import tuned

VARIABLES = {"LD_PRELOAD": "/l.so", "ISOCHRONE_TUNING": "/t.json"}
USERS = {"PATH": "/bin"}


@pytest.mark.parametrize(
    ("library", "command", "expected"),
    [
        (
            "MPICH Version: 5.0.2",
            "/opt/mpiexec.mpich -n 4 ./app -x",
            "/opt/mpiexec.mpich -genv LD_PRELOAD /l.so -genv ISOCHRONE_TUNING /t.json "
            "-n 4 ./app -x",
        ),
        (
            "Open MPI v5.0.11",
            "mpiexec -n 4 ./app",
            "mpiexec -x LD_PRELOAD=/l.so -x ISOCHRONE_TUNING=/t.json -n 4 ./app",
        ),
        (
            "MPICH Version: 5.0.2",
            "srun -n 4 ./app",
            "srun --export=ALL,LD_PRELOAD=/l.so,ISOCHRONE_TUNING=/t.json -n 4 ./app",
        ),
    ],
)
def test_a_launcher_gives_the_variables_to_the_ranks_alone(
    library: str, command: str, expected: str
) -> None:
    words, environ = tuned.with_settings(command.split(), library, VARIABLES, USERS)
    assert words == expected.split()
    assert environ == USERS


@pytest.mark.parametrize(
    "command", ["./job.sh mpiexec", "flux run ./app", "srun --export=NONE ./app", "ibrun ./app"]
)
def test_other_commands_have_them_in_their_environment(command: str) -> None:
    words, environ = tuned.with_settings(command.split(), "MPICH", VARIABLES, USERS)
    assert words == command.split()
    assert environ == USERS | VARIABLES


def test_what_the_user_loads_is_loaded_as_well() -> None:
    found = tuned.settings(Path("/l.so"), Path("/t.json"), {"LD_PRELOAD": "/own.so"}, report=True)
    assert found["LD_PRELOAD"] == "/l.so:/own.so"
    assert found["ISOCHRONE_TUNING_REPORT"] == "1"
    assert "ISOCHRONE_TUNING_REDUCTIONS" not in found


def test_reductions_are_left_to_the_library_where_that_is_asked_for() -> None:
    found = tuned.settings(Path("/l.so"), Path("/t.json"), {}, report=False, reductions=False)
    assert found["ISOCHRONE_TUNING_REDUCTIONS"] == "library"


def test_a_library_that_cannot_be_loaded_is_refused() -> None:
    with pytest.raises(InputError, match="cannot load"):
        tuned.settings(Path("/my cache/l.so"), Path("/t.json"), {}, report=False)


def test_a_program_without_variables_is_started_as_it_is() -> None:
    """As the default is, in turns with a tuning file."""
    command = ["mpiexec", "-n", "2", "./app"]
    words, environ = tuned.with_settings(command, "Open MPI v4.1.4", {}, USERS)
    assert words == command
    assert environ == USERS
