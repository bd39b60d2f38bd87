"""The file that the probe reads, word by word."""

from __future__ import annotations

import struct
import zlib
from array import array

import pytest
from msgspec.structs import replace

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
    Repeat,
    Send,
    Serve,
    Step,
    Wait,
    Work,
)
from isochrone.base.errors import InputError

ONE = Application(
    "one.a-b_c",
    (Phase("compute"), Phase("swap", "posix-file", "/tmp/a file")),
    (
        (
            Compute(0, 0),
            Compute(0, 0, 1.25, "sleep"),
            Send(1, 1, 1),
            Recv(1, 1, 1),
            Isend(1, 1, 1),
            Irecv(1, 1, 1),
            Wait(1),
        ),
        (
            Serve(1, (0, 1), 0, 1, 0, "spin"),
            Farm(1, (0, 1), 5, 1, 0, 0, "spin"),
            Work(1, 0, 1, 0, 0, 2.0),
            Collective(1, "allgather", 1, 0, "4x4"),
            Collective(1, "bcast", 1, 1, "", (1, 0)),
            Repeat(3, 2, (Wait(1),), 1, 4, 9),
        ),
    ),
    10,
    on=(3, 4),
)
TWO = Application("two", (Phase("compute"),), ((),), 1, background=True)
PROGRAM = Program(
    2**63 - 1,
    ((3e-5,), (0.0, 8.0)),
    (ONE, TWO),
    (Launch(0, (1,)), Launch(0, (0, 1)), Launch(1, (0,))),
    "shared-cores",
)

WORDS = [
    2,
    2,
    2,
    3,
    1,
    1,
    2,
    2,
    1,
    2,
    10,
    0,
    2,
    3,
    4,
    2,
    11,
    0,
    0,
    19,
    2,
    24,
    0,
    70,
    148,
    56,
    1,
    1,
    1,
    0,
    1,
    11,
    0,
    0,
    148,
    148,
    0,
    1,
    1,
    0,
    2,
    0,
    1,
    1,
    1,
    0,
]

TEXTS = ["", "one.a-b_c", "compute", "swap", "/tmp/a file", "allgather", "4x4", "bcast", "two"]

STEPS = [
    [0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
    [0, 0, 0, 0, 0, 0, 4, 2, 0, 0],
    [1, 1, 1, 1, 0, 0, 0, 0, 0, 0],
    [3, 1, 1, 1, 0, 0, 0, 0, 0, 0],
    [2, 1, 1, 1, 0, 0, 0, 0, 0, 0],
    [4, 1, 1, 1, 0, 0, 0, 0, 0, 0],
    [5, 1, 0, 0, 0, 0, 0, 0, 0, 0],
    [6, 1, 0, 0, 1, 0, 0, 1, 0, 2, 0, 1],
    [7, 1, 0, 1, 0, 0, 0, 1, 5, 2, 0, 1],
    [8, 1, 0, 1, 0, 0, 5, 0, 0, 0],
    [9, 1, 0, 1, 36, 0, 0, 0, 46, 0],
    [9, 1, 1, 1, 50, 0, 0, 0, 0, 2, 1, 0],
    [10, 1, 2, 0, 0, 1, 0, 0, 3, 2, 4, 9],
    [5, 1, 0, 0, 0, 0, 0, 0, 0, 0],
]


def test_every_part_is_as_program_h_says() -> None:
    """Header, numbers, words, texts and steps, one after the other."""
    file = program_file.data(PROGRAM)
    magic, checksum = struct.unpack_from("=8sQ", file)
    seed, numbers, words, letters, steps = struct.unpack_from("=Q4q", file, 16)
    assert (magic, checksum, seed) == (b"iso-app5", zlib.crc32(file[16:]), 2**63 - 1)
    found, at = [], 56
    for kind, count in (("d", numbers), ("i", words), ("B", letters), ("i", steps)):
        found.append(array(kind))
        size = count * found[-1].itemsize
        found[-1].frombytes(file[at : at + size])
        at += size
    assert at == len(file)
    assert list(found[0]) == [1.0, 3e-5, 0.0, 8.0, 1.25, 2.0]
    assert bytes(found[2]).rstrip(b"\0").decode().split("\0") == TEXTS
    assert letters % 4 == 0
    assert list(found[3]) == [word for step in STEPS for word in step]
    assert list(found[1]) == WORDS


@pytest.mark.parametrize(
    ("step", "values"),
    [
        (Send(0, 1, 0), (2.0**31,)),
        (Farm(0, (1,), 1, 0, 1, 0), (8.0, 2.0**31)),
        (Farm(0, (1,), 1, 0, 0, 1), (8.0, 1e9)),
        (Collective(0, "bcast", 0), (2.0**30 + 8,)),
        (Compute(0, 0, 1e3), (1e6,)),
        (Serve(0, (1,), 1, 1, 0), (1e9,)),
    ],
)
def test_what_no_mpi_can_do_is_refused(step: Step, values: tuple[float, ...]) -> None:
    app = Application("app", (Phase("first"),), ((step,), ()), 1)
    made = Program(1, tuple((value,) for value in (*values, 8.0)), (app,), (Launch(0, (0,)),))
    with pytest.raises(InputError) as refused:
        program_file.data(made)
    assert refused.value.where == "app first"


def test_two_applications_never_write_to_one_file() -> None:
    """Two phases of one may."""
    twice = replace(ONE, phases=ONE.phases[1:] * 2)
    program_file.data(replace(PROGRAM, applications=(twice, TWO)))
    other = replace(TWO, phases=ONE.phases)
    with pytest.raises(InputError):
        program_file.data(replace(PROGRAM, applications=(ONE, other)))
