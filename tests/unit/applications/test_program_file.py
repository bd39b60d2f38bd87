"""The text that the probe reads, line by line."""

from __future__ import annotations

from isochrone.applications.description import program_file
from isochrone.applications.description.program import (
    Application,
    Collective,
    Compute,
    Farm,
    Irecv,
    Isend,
    Launch,
    Phase,
    Program,
    Recv,
    Send,
    Serve,
    Wait,
    Work,
)

EXPECTED = """\
isochrone-program 1
seed 9223372036854775807
placement shared-cores
values 0 1 3e-05
values 1 3 0 8 1099511627776
app 0 one.a-b_c ranks 2 iterations 10 background 0
on 0 3 4
phase 0 0 compute message
phase 0 1 swap posix-file /tmp/a file
steps 0 0
  compute 0 0 1 cpu
  compute 0 0 1.25 sleep
  send 1 1 1
  recv 1 1 1
  isend 1 1 1
  irecv 1 1 1
  wait 1
steps 0 1
  serve 1 0 1 0 spin 0 1
  farm 1 5 1 0 0 1
  work 1 0 1 0 0 2 cpu
  collective 1 allgather 1 0 4x4
  collective 1 bcast 1 1 - 1 0
app 1 two ranks 1 iterations 1 background 1
phase 1 0 compute message
steps 1 0
run 0 1
run 0 0 1
run 1 0
end
"""


def test_every_step_is_a_line_as_program_h_tells() -> None:
    """Numbers are read back as the same ones: the shortest text that is."""
    one = Application(
        "one.a-b_c",
        (Phase("compute"), Phase("swap", "posix-file", "/tmp/a file")),
        (
            (
                Compute(0, 0), Compute(0, 0, 1.25, "sleep"), Send(1, 1, 1), Recv(1, 1, 1),
                Isend(1, 1, 1), Irecv(1, 1, 1), Wait(1),
            ),
            (
                Serve(1, (0, 1), 0, 1, 0, "spin"), Farm(1, (0, 1), 5, 1, 0),
                Work(1, 0, 1, 0, 0, 2.0), Collective(1, "allgather", 1, 0, "4x4"),
                Collective(1, "bcast", 1, 1, "", (1, 0)),
            ),
        ),
        10,
        on=(3, 4),
    )  # fmt: skip
    two = Application("two", (Phase("compute"),), ((),), 1, background=True)
    program = Program(
        2**63 - 1,
        ((3e-5,), (0.0, 8.0, 2.0**40)),
        (one, two),
        (Launch(0, (1,)), Launch(0, (0, 1)), Launch(1, (0,))),
        "shared-cores",
    )
    assert program_file.text(program) == EXPECTED
