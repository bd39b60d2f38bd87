"""Options of every experiment of the probe that lead through its corners, each run very short.

Sizes of nothing, of a byte, primes, and a byte beside the limits at which MPI libraries change
their way; numbers of repetitions and of ranks that divide nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from isochrone.applications.description.program import (
    METHODS,
    Application,
    Collective,
    Compute,
    Irecv,
    Isend,
    Step,
    Wait,
)
from isochrone.applications.description.program_file import data
from made_up import programs
from made_up.programs import SIZE, TIME, application, program

__all__ = ["ALONE", "EXPERIMENTS", "options"]

Cases = tuple[tuple[str, ...], ...]

FEW = ("--repeats", "3", "--warmup", "1")
EAGER = "0,1,7,4093,65535,65537"
"""Nothing, one byte, primes, and beside the size above which messages are announced first."""

ALONE = {"app", "compute", "synthetic", "tile-io"}
"""What one rank may measure; the others refuse it."""


def _said(*lines: str) -> Cases:
    return tuple(tuple(line.split()) for line in lines)


def _few(*lines: str) -> Cases:
    return tuple((*case, *FEW) for case in _said(*lines))


MESSAGES = (
    f"--bytes {EAGER} --mode blocking",
    "--bytes 1,65537 --mode nonblocking --window 5",
    "--bytes 0,13,8191 --mode persistent --window 3",
    "--bytes 0,8,24,4104 --mode bidirectional --layout vector --stride 3",
    "--bytes 0,1,8191 --mode put --window 7",
    "--bytes 1,13,65537 --mode get --cache cold --cache-bytes 200001",
    "--bytes 0,13,8191 --mode get_accumulate --rma-sync pscw --rma-window dynamic --window 3",
    "--bytes 8,4104 --mode accumulate --rma-sync lock_all --rma-window allocate --layout vector",
    "--bytes auto:0:3001 --max-points 7 --smallest-gap 500 --tolerance 0.5 --retest 1",
)

SWEEPS = {
    "point-to-point": _few(
        *MESSAGES,
        f"--bytes {EAGER} --pairs-at-once 1",
        "--bytes 1,4093 --threads 1,3 --mode nonblocking --window 5",
        "--bytes 8 --threads 2 --thread-comms own --mode put",
    ),
    "bisection": _few(
        *(
            f"{line} --pairing {how}"
            for line, how in zip(
                MESSAGES, ("halves", "neighbours", "random --seed 3") * 3, strict=False
            )
        )
    ),
    "collective": _few(
        "--op barrier,bcast,gather,scatter,allgather,alltoall --bytes 0,1,7,509",
        "--op all --bytes 0,8,24,4104 --root rotating --sync window --clock-tolerance 1e-3",
        "--op bcast,alltoall,gather --bytes 1,17,1000 --grid nodes,rows-of-2",
        "--op allreduce --bytes auto:8:4096 --max-points 5 --smallest-gap 1000 --tolerance 0.5",
        "--op scatter,allgather --bytes 3,65537 --grid rows-of-3",
        "--op all --bytes 0,16,4096 --counts random --seed 3 --topology graph --type complex",
        "--op all --bytes 8,8008 --counts one-large --type strided --reduce user --in-place",
        "--op reduce_scatter_block,reduce,allreduce --bytes 8,40 --grid rows-of-2 --root rotating",
        "--op all --form blocking,nonblocking --bytes 0,8,4104 --progress test",
        "--op bcast,allreduce --form nonblocking,persistent --bytes 0,8,4104 --root rotating",
    ),
    "matching": _few(
        "--entries 0,1,509 --bytes 0,7",
        "--queue unexpected --entries 3 --bytes 65537",
        "--queue wildcard,posted --entries 0,64,1000",
    ),
    "compute": _few(
        "--bytes 8,104,4096",
        "--op dot --length 7 --bytes 56,5600",
        "--op axpy --length 1 --bytes 8,8008",
        "--op dot --bytes auto:800:40000 --max-points 5 --tolerance 0.5",
    ),
    "hotspot": _few(
        "--bytes 1,4093 --post both --points full",
        "--bytes 65537 --hot 2 --points coarse --balance free",
        "--bytes 0,8191 --max-intra 2 --max-inter 1",
        "--bytes 7 --hot 3 --post inter-first --balance equal",
    ),
    "latency-map": _few(
        f"--bytes {EAGER} --schedule isolated --inner-parallel",
        "--bytes 0,1 --schedule rounds --retest 3",
        "--bytes 4097 --schedule serial --retest 0",
        "--bytes 13 --pairs 0-1 --schedule serial",
        "--bytes 0,4096 --one-way --sync-age 0.01",
        "--bytes 64,70001 --time-limit 0.3",
    )
    + _said("--bytes 8 --precision 0.5 --min-repeats 3 --max-repeats 7 --max-time 0.05"),
}

OTHERS = {
    "startup": _few("", "--time-limit 1"),
    "clock-sync": _said(
        "--seconds 0.1 --interval 0.03 --sync-exchanges 3",
        "--seconds 0.1 --interval 0.02 --skew 70 --offset 3 --sync-age 0.05 --sync-exchanges 2",
    ),
    "synthetic": _few(
        "--bytes 0,1,4093 --noise 0.1",
        "--shape 2,3,2 --placement cyclic --slow-rank 1 --noise 0.3",
        "--shape 3,2 --slow-node 1 --slow-factor 7",
    ),
    "tile-io": _said(
        "--tile 1x1 --element 1 --repeats 2",
        "--tile 13x7 --element 3 --repeats 2 --hints cb_buffer_size=4096,cb_nodes=1",
        "--tile 9x11 --element 5 --overlap 2x3 --repeats 1",
        "--tile 101x3 --element 1 --overlap 1x0 --phase exchange --cb-buffer 37 --repeats 2",
        "--tile 64x64 --element 8 --phase file --repeats 1 --keep",
    ),
}

APPLICATIONS = 6
"""Kinds of described applications in `_application`."""

EXPERIMENTS: dict[str, int] = {
    **{name: len(cases) for name, cases in (SWEEPS | OTHERS).items()},
    "app": APPLICATIONS,
}
"""How many sets of options there are for each."""


def options(experiment: str, number: int, ranks: int, folder: Path) -> list[str]:
    """Return a set of options; files that it names are in the folder."""
    number %= EXPERIMENTS[experiment]
    if experiment == "app":
        file = folder / "app.program"
        file.write_bytes(_application(number, ranks, folder))
        return ["--program", str(file)]
    words = list((SWEEPS | OTHERS)[experiment][number])
    if experiment == "tile-io":
        words = [*words, "--file", str(folder / "tiles"), "--replace"]
    return words


def _application(number: int, ranks: int, folder: Path) -> bytes:
    """Return the program of an application with all kinds of steps and one way of sending."""
    if ranks == 1:
        return data(program(application([[Compute(0, TIME, 1.0, "cpu")]], 3), time=[1e-6]))
    method = METHODS[number % len(METHODS)]
    path = str(folder / "data") if method.endswith("file") else ""
    kinds: tuple[Callable[[int], list[list[Step]]], ...] = (
        programs.ring,
        _exchange,
        _collectives,
        lambda n: programs.farm(n, 5, "sleep"),
        lambda n: programs.clients(n, "spin"),
        lambda n: programs.pipeline(n),
    )
    first = application(kinds[number](ranks), 3, name="first", method=method, path=path)
    made: list[Application] = [first]
    launches = [(0,)]
    if ranks >= 4:
        first = application(kinds[number](2), 5, name="first", method=method, path=path)
        second = application(_exchange(ranks - 2), 2, name="second", background=True)
        made, launches = [first, second], [(0,), (0, 1)]
    sizes, replies = (0, 1, 4093, 70_001), (0, 13)
    return data(program(*made, time=[1e-6], size=sizes, reply=replies, launches=launches))


def _exchange(ranks: int) -> list[list[Step]]:
    """Every rank sends to the next, with two messages under way."""
    return [
        [
            Irecv(0, (r - 1) % ranks, SIZE),
            Isend(0, (r + 1) % ranks, SIZE),
            Isend(0, (r + 1) % ranks, SIZE),
            Irecv(0, (r - 1) % ranks, SIZE),
            Wait(0),
        ]
        for r in range(ranks)
    ]


def _collectives(ranks: int) -> list[list[Step]]:
    """Operations of all ranks, on a grid, and of some of them."""
    some = tuple(range(ranks - 1, 0, -1))
    common: list[Step] = [
        Collective(0, "allreduce", SIZE),
        Collective(0, "barrier", SIZE),
        Collective(0, "bcast", SIZE, root=ranks - 1, grid="nodes"),
        Collective(0, "alltoall", SIZE),
    ]
    own: list[Step] = [Collective(0, "gather", SIZE, root=1, among=some)]
    return [[*common, *(own if r in some else [])] for r in range(ranks)]
