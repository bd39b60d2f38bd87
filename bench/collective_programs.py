"""Programs that nobody here wrote, made faster by `isochrone tune collective-io` alone.

    PYTHONPATH=tests python bench/collective_programs.py [--programs FOLDER] [NAME ...]

FOLDER is where they were built, as docs/tune-collective-io.md says. They run on a
cluster of network namespaces (8 hosts, 16 ranks, 200 Mbit/s) and write to a file in memory.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from cluster import lifetime
from cluster.plan import Plan
from cluster.running import Cluster
from isochrone.base.errors import InputError
from isochrone.base.units import format_seconds
from made_up.jobs import UNEVEN

ROOT: Final = Path(__file__).parents[1]
HERE: Final = ROOT / "bench/programs"
RATE: Final = "200mbit"
RANKS: Final = sum(UNEVEN)
LIMIT: Final = 1800.0
"""Seconds that one program may take."""


@dataclass(frozen=True)
class Program:
    """A program, its arguments, and what it needs.

    Attributes
    ----------
    what
        In a few words.
    needs
        Its files, in the folder of programs.
    arguments
        After the files; ``{data}`` is the folder to write to.
    environ
        Variables of its ranks.
    """

    what: str
    needs: tuple[str, ...]
    arguments: str
    environ: tuple[str, ...] = ()

    def command(self, programs: Path, data: Path) -> list[str]:
        """Return its words."""
        words = [str(programs / name) for name in self.needs[:1]]
        return [*words, *self.arguments.format(data=data, here=HERE, root=ROOT).split()]


PYTHON: Final = "venv/bin/python"
PACKAGES: Final = "venv/lib/python3*/site-packages/"

PROGRAMS: Final = {
    "mpi-tile-io": Program(
        "mpi-tile-io: 4x4 tiles of 4 MiB",
        ("bin/mpi-tile-io",),
        "--nr_tiles_x 4 --nr_tiles_y 4 --sz_tile_x 1024 --sz_tile_y 1024 --sz_element 4"
        " --collective --write_file --filename {data}/tiles",
    ),
    "coll_perf": Program(
        "ROMIO's coll_perf: 256x256x256 integers in 3D blocks, written and read",
        ("bin/coll_perf",),
        "-fname {data}/coll_perf",
    ),
    "collective_write": Program(
        "PnetCDF's collective_write: ten variables in 3D blocks",
        ("bin/collective_write",),
        "-l 64 {data}/collective_write.nc",
    ),
    "block_column": Program(
        "PnetCDF's write_block_read_column: four variables, written in blocks, read in columns",
        ("bin/write_block_read_column",),
        "-l 512 {data}/block_column.nc",
    ),
    "h5perf": Program(
        "HDF5's h5perf: 8192x8192 bytes in columns",
        ("bin/h5perf",),
        "-A phdf5 -C -g -I -B 512 -x 8K -X 8K -e 512 -p 16 -P 16 -i 1 -w",
        ("HDF5_PARAPREFIX={data}",),
    ),
    "pySDC": Program(
        "pySDC with mpi4py: three steps of two variables in 3D blocks",
        (PYTHON, f"{PACKAGES}pySDC"),
        "{here}/write_pysdc.py {data}/fields.pysdc",
    ),
    "turbx": Program(
        "turbx with h5py: three chunked datasets in 3D blocks, with hints of its own",
        (PYTHON, f"{PACKAGES}turbx"),
        "{here}/write_turbx.py {data}/flow.h5",
    ),
}


def main() -> int:
    """Tune all programs that are there, and print what was gained."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(PROGRAMS)}")
    parser.add_argument(
        "--programs",
        type=Path,
        default=os.environ.get("ISOCHRONE_PROGRAMS"),
        metavar="FOLDER",
        help="where they were built (default: $ISOCHRONE_PROGRAMS)",
    )
    parser.add_argument(
        "--data",
        type=Path,
        metavar="FOLDER",
        help="where they write; all hosts have to see it (default: a file system in memory, which "
        "is mounted as long as this runs)",
    )
    parser.add_argument("--model", type=Path, metavar="FILE", help="of the cluster, else measured")
    parser.add_argument("--launches", type=int, default=5, metavar="N")
    parser.add_argument("--reports", type=Path, metavar="FOLDER", help="keep the reports here")
    args = parser.parse_args()
    if unknown := set(args.names) - set(PROGRAMS):
        parser.error(f"there is no {' '.join(unknown)}; there are {' '.join(PROGRAMS)}")
    if args.programs is None:
        parser.error("where are the programs? See docs/tune-collective-io.md")
    programs = args.programs.resolve()
    there = [name for name in args.names or PROGRAMS if found(name, programs)]
    if why := lifetime.obstacle():
        print(f"nothing is measured: {why}")
        return 2
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # not without unmounting
    with contextlib.ExitStack() as stack:
        reports = args.reports or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        data = args.data or stack.enter_context(memory())
        on = stack.enter_context(lifetime.cluster(Plan(UNEVEN, RATE)))
        model: Path | None = args.model and args.model.resolve()
        for name in there:
            report = tuned(on, PROGRAMS[name], programs, data, reports / name, args.launches, model)
            print_report(name, report)
            model = model or measured_model(reports / name)
    return 0


def found(name: str, programs: Path) -> bool:
    """Tell whether a program is there, and say what is missing."""
    missing = [one for one in PROGRAMS[name].needs if not any(programs.glob(one))]
    for one in missing:
        print(f"{name}: no {programs / one}; docs/tune-collective-io.md says how to get it")
    return not missing


@contextlib.contextmanager
def memory() -> Iterator[Path]:
    """Mount a file system in memory that all hosts see: each has a /dev/shm of its own."""
    with tempfile.TemporaryDirectory(prefix="isochrone-data-") as folder:
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2g", "isochrone", folder], check=True)
        try:
            yield Path(folder)
        finally:
            subprocess.run(["umount", "--lazy", folder], check=False)


def tuned(
    on: Cluster,
    program: Program,
    programs: Path,
    data: Path,
    folder: Path,
    launches: int,
    model: Path | None,
) -> dict[str, Any]:
    """Tune one program and return the report; the model of the first serves for all."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    variables = [
        word
        for entry in (*program.environ, "OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1")
        for word in ("-genv", *entry.format(data=data).split("=", 1))
    ]
    mpiexec = [programs / "venv/bin/mpiexec", "-f", on.hostfile("mpich"), "-n", RANKS, *variables]
    given = ["--model", model] if model else []
    answer = on.run(
        sys.executable,
        "-m",
        "isochrone",
        "tune",
        "collective-io",
        "--json",
        "--force",
        "--launches",
        launches,
        *given,
        "-o",
        folder,
        "--",
        *mpiexec,
        *program.command(programs, data),
        timeout=LIMIT,
    )
    for file in data.iterdir():
        file.unlink()
    if answer.returncode:
        raise InputError(f"isochrone tune collective-io failed: {answer.stderr.strip()[-500:]}")
    report: dict[str, Any] = json.loads(answer.stdout)
    return report


def measured_model(folder: Path) -> Path | None:
    """Return the model of the machine that tuning has left in its folder."""
    path = folder / "machine.json"
    return path if path.is_file() else None


def print_report(name: str, report: dict[str, Any]) -> None:
    """Print what was gained, or why nothing was."""
    print(f"\n{name} ({PROGRAMS[name].what})")
    possible = report["best_possible"]
    if possible:
        print(f"  at best {possible['gain']:.2f} times as fast: {possible['why']}")
    for what, key in (("collective calls", "gain"), ("the whole program", "whole_gain")):
        gain = report[key]
        if gain:
            before, after = (format_seconds(gain[side], 3) for side in ("given", "proposed"))
            print(
                f"  {what}: {before} to {after}: {gain['ratio']:.2f} times as fast, 95 % interval "
                f"{gain['low']:.2f} .. {gain['high']:.2f}, {gain['launches']} starts each"
            )
    kept = report["proposed"]["words"] if report["kept"] else f"nothing: {report['why']}"
    print(f"  kept: {kept}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
