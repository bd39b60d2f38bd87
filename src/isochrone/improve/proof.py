"""Proof on the machine: small MPI jobs that show where ranks land, and whether a change helped."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, NamedTuple

from isochrone.base.errors import InputError, MeasurementError
from isochrone.formats.placement import LaunchPlan
from isochrone.improve.speedup import Speedup, speedup
from isochrone.measure import probe
from isochrone.measure.setup import Setup
from isochrone.results.tile_io import phases
from isochrone.runfile.file import read
from isochrone.runfile.origin import together
from isochrone.runfile.run import Run
from isochrone.workloads.call import Call
from isochrone.workloads.grid import Grid

__all__ = ["Launch", "JobRunner", "compare_in_turn", "folder_for", "tile_options"]

TIMEOUT: Final = 300.0
"""Seconds after which a job of ours is ended."""

USUAL_ELEMENT: Final = 3
"""Bytes of an element of mpi-tile-io; the number of messages does not depend on it."""


@dataclass(frozen=True)
class JobRunner:
    """Starts the probe as the user's launcher does, with a file that says where ranks go."""

    setup: Setup
    ranks: int

    def run(
        self, experiment: str, options: Sequence[str], path: Path, start: LaunchPlan | None
    ) -> Run:
        """Run an experiment to its end and return what it recorded.

        Raises
        ------
        InputError
            If the file is for another launcher.
        MeasurementError
            If the ranks fail or do not end in time.
        """
        if start is not None and start.launcher != self.setup.name:
            raise InputError(
                f"the file is for {start.launcher}, but {self.setup.name} starts ranks here",
                hint="choose another format with --to, or another --mpicc",
            )
        extra = start.options if start else ()
        command = self.setup.tokens(
            experiment, options, self.ranks, path, extra=extra, placed=start is not None
        )
        environ = start.environ if start else {}
        tokens = [f"{key}={value}" for key, value in environ.items()]
        argv = ["env", *tokens, *command] if tokens else command
        probe.run(argv, timeout=TIMEOUT, run_file=path)
        found = read(path)
        if not found.complete:
            raise MeasurementError(
                "the ranks ended before the measurement was complete", where=str(path)
            )
        return found

    def hosts(self, start: LaunchPlan | None) -> list[str]:
        """Return the host that each rank lands on."""
        with folder_for(None) as folder:
            options = ["--bytes", "1", "--repeats", "1"]
            return self.run("null", options, folder / "verify.jsonl", start).hosts


class Launch(NamedTuple):
    """An arrangement to measure: options of ``tile-io``, its start, and the host of each rank."""

    options: Sequence[str]
    start: LaunchPlan | None
    hosts: list[str]


@contextlib.contextmanager
def folder_for(wanted: Path | None) -> Iterator[Path]:
    """Yield the folder for run files: the user's, or one that is removed again.

    It is in the folder we are in, because rank 0 may run on another host and has to see it.
    """
    if wanted is not None:
        wanted.mkdir(parents=True, exist_ok=True)
        yield wanted
        return
    with tempfile.TemporaryDirectory(prefix=".isochrone-", dir=Path.cwd()) as name:
        yield Path(name)


def tile_options(
    tiles: Grid,
    call: Call,
    aggregators: Sequence[int],
    *,
    element: int | None = None,
    repeats: int,
    file: Path | None = None,
) -> list[str]:
    """Return the options of the experiment ``tile-io`` that repeat a call.

    Parameters
    ----------
    tiles
        The access pattern, as tiles across and down.
    call
        How its file is cut up.
    aggregators
        Ranks that serve the parts of the file.
    element
        Bytes of an element; None: `USUAL_ELEMENT`.
    repeats
        Calls of a launch.
    file
        Write this file through MPI-IO; None: replay the exchange alone.

    Raises
    ------
    InputError
        If the exchange of this driver cannot be replayed.
    """
    if file is None and call.driver != "even":
        raise InputError(
            f"the exchange of the driver '{call.driver}' cannot be replayed",
            where="--measure", hint="give --file on a file system that has this driver",
        )  # fmt: skip
    down, across = tiles.axes
    element = element or USUAL_ELEMENT
    size = across.extent * down.extent * element
    options = [
        "--tiles", f"{across.blocks}x{down.blocks}", "--tile", f"{across.length}x{down.length}",
        "--element", str(element), "--overlap", f"{across.overlap}x{down.overlap}",
        "--repeats", str(repeats),
    ]  # fmt: skip
    if file is not None:
        return [*options, "--phase", "file", "--file", str(file)]
    buffer = call.buffer or -(-size // len(aggregators))
    return [
        *options, "--phase", "exchange", "--cb-buffer", str(buffer),
        "--aggregators", ",".join(map(str, aggregators)),
    ]  # fmt: skip


def compare_in_turn(
    starter: JobRunner,
    given: Launch,
    proposed: Launch,
    *,
    launches: int,
    op: str,
    runs: Path | None,
) -> Speedup:
    """Launch two arrangements in turn and compare their times.

    Parameters
    ----------
    starter
        Starts the ranks.
    given, proposed
        The two arrangements.
    launches
        Launches of each arrangement.
    op
        Which times are compared: ``write`` or ``read``.
    runs
        Folder that keeps the run files; None: they are removed.

    Raises
    ------
    MeasurementError
        If the ranks fail, or are not where they should be.
    """
    times: dict[str, list[float]] = {"given": [], "proposed": []}
    origins: set[str] = set()
    with folder_for(runs) as folder:
        for number in range(1, launches + 1):
            for name, launch in (("given", given), ("proposed", proposed)):
                path = folder / f"{name}-{number}.jsonl"
                found = starter.run("tile-io", launch.options, path, launch.start)
                if found.hosts != launch.hosts:
                    raise MeasurementError(
                        f"the ranks of the {name} arrangement are not on the planned hosts",
                        hint="see --verify; give the launcher what it needs with --launcher-arg",
                    )
                times[name].append(_median(found, op))
                origins.add(found.origin)
    return replace(speedup(times["given"], times["proposed"]), origin=together(origins))


def _median(run: Run, op: str) -> float:
    return next(phase.times["seconds"].median for phase in phases(run) if phase.op == op)
