"""The page of OSU's and IMB's benchmarks names all of them, and commands that exist."""

from __future__ import annotations

import re
import shlex
import subprocess
from collections.abc import Callable

from beds.golden import Golden
from beds.mpis import ROOT, Mpi
from isochrone.base.osu import OSU
from isochrone.measure import presets

PAGE = ROOT / "docs/osu-and-imb.md"
ROW = re.compile(r"^\| (?:`IMB-(\w+)` \| )?`(\w+)` \| (?:`(.+)`|no) \|$", re.MULTILINE)

IMB = {
    "MPI1": """PingPong PingPongSpecificSource PingPongAnySource PingPing PingPingSpecificSource
        PingPingAnySource Sendrecv Exchange Uniband Biband Bcast Allgather Allgatherv Scatter
        Scatterv Gather Gatherv Alltoall Alltoallv Reduce Reduce_scatter Reduce_scatter_block
        Allreduce Barrier Reduce_local""",
    "P2P": """PingPong PingPing Unirandom Birandom Corandom Sendrecv_replace Stencil2D
        Stencil3D""",
    "EXT": "Window Unidir_Put Unidir_Get Bidir_Put Bidir_Get Accumulate",
    "NBC": " ".join(
        f"I{op} I{op}_pure"
        for op in [
            "bcast",
            "allgather",
            "allgatherv",
            "gather",
            "gatherv",
            "scatter",
            "scatterv",
            "alltoall",
            "alltoallv",
            "reduce",
            "reduce_scatter",
            "allreduce",
            "barrier",
        ]
    ),
    "RMA": """Unidir_put Unidir_get Bidir_put Bidir_get Put_local Get_local Put_all_local
        Get_all_local One_put_all One_get_all All_put_all All_get_all Exchange_put Exchange_get
        Accumulate Get_accumulate Fetch_and_op Compare_and_swap Truly_passive_put""",
    "MT": """PingPongMT PingPingMT SendRecvMT ExchangeMT UniBandMT BiBandMT BcastMT ReduceMT
        AllReduceMT""",
}
"""Benchmarks of each program of IMB 2021 but IMB-IO, as its sources declare them."""


def rows_of_osu() -> str:
    """Return the rows of the table of OSU: names of OSU beside commands."""
    rows = (
        f"| `{name}` | {f'`measure {command}`' if command else 'no'} |"
        for name, command in OSU.items()
    )
    return "\n".join(("| benchmark | command |", "|---|---|", *rows))


def test_the_page_has_the_table_of_osu(golden: Golden) -> None:
    """`suite osu` runs what the page says; `make golden` writes the table again."""
    text = PAGE.read_text()
    head, title, after = text.partition("## OSU Micro-Benchmarks 7.5\n")
    _, next_title, tail = after.partition("## Intel MPI Benchmarks 2021\n")
    assert title
    assert next_title
    fresh = f"{head}{title}\n{rows_of_osu()}\n\n{next_title}{tail}"
    if golden.write:
        PAGE.write_text(fresh)
    assert fresh == PAGE.read_text()


def test_every_benchmark_has_a_row() -> None:
    rows = ROW.findall(PAGE.read_text())
    assert [name for program, name, _ in rows if not program] == list(OSU)
    assert len(OSU) == 78
    for program, names in IMB.items():
        assert [name for of, name, _ in rows if of == program] == names.split(), program
    assert len(rows) == 78 + sum(len(names.split()) for names in IMB.values())


def test_every_command_of_the_page_is_accepted(
    mpich: Mpi, isochrone: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    """The probe checks the options, as before a measurement."""
    commands = {command for _, _, command in ROW.findall(PAGE.read_text()) if command}
    assert commands
    for command in sorted(commands):
        answer = isochrone(*shlex.split(command), "-n", "4", "--dry-run", cwd=ROOT)
        assert answer.returncode == 0, f"{command}: {answer.stderr}"
        assert len(answer.stdout.splitlines()) == 1, command


def test_the_suite_measures_every_benchmark_that_can_be() -> None:
    """Two that ask for the same are measured once, by the name of the first."""
    planned = {
        " ".join((preset.experiment, *preset.options)): preset.name
        for preset, _ in presets.plan(presets.SUITES["osu"], (4,))
    }
    assert list(planned) == [*dict.fromkeys(filter(None, OSU.values()))]
    assert all(OSU[name] == command for command, name in planned.items())
    assert planned["startup"] == "osu_init"
