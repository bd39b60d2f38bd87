"""Verification by small MPI jobs: positions of ranks, and the gain of a change."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from isochrone.base.errors import InputError, MeasurementError
from isochrone.collective_io.results.tile_io import phases
from isochrone.collective_io.workload.call import Call
from isochrone.collective_io.workload.grid import Grid
from isochrone.measure.data_file import data_file
from isochrone.measure.job import TIMEOUT, Progress, folder_for, run
from isochrone.measure.placement import LaunchPlan
from isochrone.measure.setup import Setup
from isochrone.runfile.file import read
from isochrone.runfile.origin import together
from isochrone.runfile.run import Run

USUAL_ELEMENT: Final = 3
"""Bytes of an element of mpi-tile-io; the number of messages does not depend on it."""


@dataclass(frozen=True)
class JobRunner:
    """Starts the probe with the user's launcher and a file of rank positions."""

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
        run(argv, timeout=TIMEOUT, run_file=path, data_file=data_file(argv))
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
            return self.run("synthetic", options, folder / "verify.jsonl", start).hosts


class Launch(NamedTuple):
    """An arrangement to measure: options of ``tile-io``, its start, and the host of each rank."""

    options: Sequence[str]
    start: LaunchPlan | None
    hosts: list[str]


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
    if file is None and (call.unit or call.smallest):
        raise InputError(
            "the replayed exchange divides the file evenly", where="--striping-unit",
            hint="give --file, or leave out --striping-unit and --min-fdomain-size",
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


def library_hints(call: Call, config: str, nodes: int | None = None) -> list[str]:
    """Return the options of ``tile-io`` that give the library the hints of a call.

    Parameters
    ----------
    call
        How its file is cut up.
    config
        ``cb_config_list``.
    nodes
        ``cb_nodes``; None: as many as the list yields.
    """
    numbers = {
        "cb_nodes": nodes, "cb_buffer_size": call.buffer, "striping_unit": call.unit,
        "romio_min_fdomain_size": call.smallest,
    }  # fmt: skip
    hints = {"cb_config_list": config, "romio_cb_write": "enable", "romio_cb_read": "enable"}
    hints |= {key: str(value) for key, value in numbers.items() if value}
    return ["--hints", ",".join(f"{key}={value}" for key, value in hints.items())]


class Turns(NamedTuple):
    """Medians of launches in seconds, by arrangement and turn, and where they come from.

    ``exchange`` are those of the exchange within the call: the same where it was replayed, and
    empty where the library's was not seen.
    """

    times: dict[str, list[float]]
    exchange: dict[str, list[float]]
    origin: str


def launch_in_turns(
    starter: JobRunner,
    sides: Mapping[str, Launch],
    *,
    launches: int,
    op: str,
    runs: Path | None,
    seed: int | None = None,
    progress: Callable[[Progress], None] = lambda _: None,
) -> Turns:
    """Launch arrangements in turns: each turn has every one of them once.

    Parameters
    ----------
    starter
        Starts the ranks.
    sides
        The arrangements by name.
    launches
        Launches of each arrangement.
    op
        Which times count: ``write`` or ``read``.
    runs
        Folder for the run files ``NAME-TURN.jsonl``; None: they are removed.
    seed
        Shuffles each turn; None: always the order of ``sides``.
    progress
        Called after each launch.

    Raises
    ------
    InputError
        If the folder holds run files of these names.
    MeasurementError
        If the ranks fail, or are not on the planned hosts.
    """
    times: dict[str, list[float]] = {name: [] for name in sides}
    exchange: dict[str, list[float]] = {name: [] for name in sides}
    origins: set[str] = set()
    dice = None if seed is None else random.Random(seed)
    with folder_for(runs) as folder:
        _refuse_old(folder, sides)
        for number in range(1, launches + 1):
            turn = list(sides) if dice is None else dice.sample(list(sides), len(sides))
            for place, name in enumerate(turn, start=1):
                found = _launch(starter, sides[name], name, folder / f"{name}-{number}.jsonl")
                phase = next(phase for phase in phases(found) if phase.op == op)
                times[name].append(phase.times["seconds"].median)
                own = phase.times.get("seconds" if phase.phase == "exchange" else "exchange")
                exchange[name] += [] if own is None else [own.median]
                origins.add(found.origin)
                done = (number - 1) * len(sides) + place
                progress(Progress(done, launches * len(sides), times[name][-1]))
    seen = all(len(own) == launches for own in exchange.values())
    return Turns(times, exchange if seen else {}, together(origins))


def _refuse_old(folder: Path, names: Iterable[str]) -> None:
    """Refuse a folder with run files of earlier launches, before anything is launched."""
    for name in names:
        old = next(folder.glob(f"{name}-[0-9]*.jsonl"), None)
        if old is not None:
            raise InputError(
                "it already holds run files, such as " + old.name,
                where=str(folder), hint="choose another folder",
            )  # fmt: skip


def _launch(starter: JobRunner, launch: Launch, name: str, path: Path) -> Run:
    """Launch an arrangement, and check the positions of its ranks."""
    found = starter.run("tile-io", launch.options, path, launch.start)
    if found.hosts != launch.hosts:
        raise MeasurementError(
            f"the ranks of the {name} arrangement are not on the planned hosts",
            hint="see --verify; pass options to the launcher with --launcher-arg",
        )
    return found
