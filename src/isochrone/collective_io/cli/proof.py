"""Verification by small MPI jobs: options, positions of ranks, and the measured gain."""

from __future__ import annotations

import random
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from isochrone.base.errors import InputError, MeasurementError
from isochrone.base.inference import Speedup, speedup
from isochrone.collective_io.orders.setting import Setting
from isochrone.collective_io.results.tile_io import phases
from isochrone.collective_io.workload.call import Call
from isochrone.collective_io.workload.grid import Grid
from isochrone.console.measuring import add_launcher_arg, setup_of
from isochrone.console.options import add_expert, add_flag, add_mpi, add_option, hide, read_count
from isochrone.measure import placement as placements
from isochrone.measure.arrangement import Arrangement
from isochrone.measure.data_file import data_file
from isochrone.measure.job import JOB_TIMEOUT, Progress, folder_for, run
from isochrone.measure.placement import LaunchPlan
from isochrone.measure.setup import Setup
from isochrone.runfile.file import read
from isochrone.runfile.origin import together
from isochrone.runfile.run import Run


def add_start(parser: ArgumentParser, subject: str) -> None:
    """Add the options of the verification jobs."""
    add_flag(parser, "--measure", f"measure the present and the proposed {subject} in turns")
    add_launches(parser, "arrangement")
    hide(parser, "--launches")


def add_launches(parser: ArgumentParser, subject: str) -> None:
    """Add the options of the jobs that measure."""
    group = parser.add_argument_group("launches")
    add_expert(
        group,
        "--file",
        "FILE",
        Path,
        "write this file with MPI-IO (default: only exchange the messages)",
    )
    add_option(
        group, "--launches", "N", read_count, f"launches of each {subject} (default: 5)", default=5
    )
    add_expert(
        group, "--repeats", "N", read_count, "repetitions in each launch (default: 5)", default=5
    )
    add_expert(
        group, "--keep", "FOLDER", Path, "keep the run files in this folder (default: delete them)"
    )
    add_mpi(group)
    hide(group, "--mpicc")
    add_expert(
        group, "--launcher", "NAME", str, "launcher of the ranks, such as srun (default: detected)"
    )
    add_launcher_arg(group)


def starter(args: Namespace, ranks: int) -> JobRunner:
    """Return a starter of this many ranks, as the options say."""
    return JobRunner(setup_of(args), ranks)


def launch_plan(jobs: JobRunner, arranged: Arrangement, file: Path) -> LaunchPlan | None:
    """Write a file that sets the launcher's node order; None if the launcher has no such file."""
    formats = (placements.load(name) for name in placements.names())
    fitting = [f for f in formats if f.start(file, 1).launcher == jobs.setup.name]
    if not fitting:
        return None
    file.write_text(fitting[0].text(arranged))
    return fitting[0].start(file, arranged.given.ranks)


def compare_in_turn(args: Namespace, start: JobRunner, given: Launch, proposed: Launch) -> Speedup:
    """Launch two arrangements in turn and compare their times."""
    sides = {"given": given, "proposed": proposed}
    turns = launch_in_turns(start, sides, launches=args.launches, op=args.op, runs=args.keep)
    return replace(speedup(turns.times["given"], turns.times["proposed"]), origin=turns.origin)


# --- jobs ----------------------------------------------------------------------------------------

# Verification by small MPI jobs: positions of ranks, and the gain of a change.

USUAL_ELEMENT = 3
"""Bytes of an element of mpi-tile-io; the number of messages does not depend on it."""


class JobRunner(NamedTuple):
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
                f"the file is for {start.launcher}, but the launcher here is {self.setup.name}",
                hint="choose another format with --to, or another --mpicc",
            )
        extra = start.options if start else ()
        command = self.setup.tokens(
            experiment, options, self.ranks, path, extra=extra, placed=start is not None
        )
        environ = start.environ if start else {}
        tokens = [f"{key}={value}" for key, value in environ.items()]
        argv = ["env", *tokens, *command] if tokens else command
        run(argv, timeout=JOB_TIMEOUT, run_file=path, data_file=data_file(argv))
        recorded = read(path)
        if not recorded.complete:
            raise MeasurementError(
                "the ranks ended before the measurement was complete", where=path
            )
        return recorded

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
    args: Namespace, call: Call, aggregators: Sequence[int], setting: Setting
) -> list[str]:
    """Return the options of the experiment ``tile-io`` that repeat a call.

    Parameters
    ----------
    args
        Bytes of an ``element`` (None: `USUAL_ELEMENT`), ``repeats`` in a launch, and the ``file``
        that is written through MPI-IO (None: the exchange alone is replayed).
    call
        The access pattern, and how its file is cut up.
    aggregators
        Ranks that serve the parts of the file.
    setting
        Hints of the file.

    Raises
    ------
    InputError
        If the experiment cannot repeat the pattern, or the exchange of this driver.
    """
    file, tiles = args.file, call.pattern
    if not isinstance(tiles, Grid) or len(tiles.axes) != 2:
        raise InputError(
            "--measure needs an access pattern of tiles", where="--measure", hint="give --tiles"
        )
    if file is None and call.driver != "even":
        raise InputError(
            f"the exchange of the driver '{call.driver}' cannot be measured without a file",
            where="--measure",
            hint="give --file on a file system that has this driver",
        )
    if file is None and (call.unit or call.smallest):
        raise InputError(
            "the measured exchange always divides the file evenly",
            where="--hints",
            hint="give --file, or leave out striping_unit and romio_min_fdomain_size",
        )
    down, across = tiles.axes
    element = args.element or USUAL_ELEMENT
    if file is not None:
        hints = ",".join(f"{key}={value}" for key, value in _hints(call, setting).items())
        phase = {"phase": "file", "file": file, "hints": hints}
    else:
        size = across.extent * down.extent * element
        buffer = call.buffer or -(-size // len(aggregators))
        served = ",".join(map(str, aggregators))
        phase = {"phase": "exchange", "cb-buffer": buffer, "aggregators": served}
    options = {
        "tiles": f"{across.blocks}x{down.blocks}",
        "tile": f"{across.length}x{down.length}",
        "element": element,
        "overlap": f"{across.overlap}x{down.overlap}",
        "repeats": args.repeats,
        **phase,
    }
    return [word for name, value in options.items() for word in (f"--{name}", str(value))]


def _hints(call: Call, setting: Setting) -> dict[str, str]:
    """Return the hints of a setting for the library, and those of the call that it leaves."""
    hints = setting._replace(buffer=setting.buffer or call.buffer).hints(reading=call.reading)
    numbers = {"striping_unit": call.unit, "romio_min_fdomain_size": call.smallest}
    if setting.collective is None:
        hints |= {"romio_cb_write": "enable", "romio_cb_read": "enable"}
    return hints | {key: str(value) for key, value in numbers.items() if value and key not in hints}


Seconds = dict[str, list[float]]
"""Of launches, by arrangement."""


class Turns(NamedTuple):
    """Medians of launches in seconds, by arrangement and turn, and where they come from.

    ``exchange`` are those of the exchange within the call: the same where it was replayed, and
    empty where the library's was not seen.
    """

    times: Seconds
    exchange: Seconds
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
    times: Seconds = {name: [] for name in sides}
    exchange: Seconds = {name: [] for name in sides}
    origins = set()
    dice = None if seed is None else random.Random(seed)
    with folder_for(runs) as folder:
        # before anything is launched
        for old in (path for name in sides for path in folder.glob(f"{name}-[0-9]*.jsonl")):
            raise InputError(
                "the folder already contains run files, such as " + old.name,
                where=folder,
                hint="choose another folder",
            )
        for launch_number in range(1, launches + 1):
            turn = list(sides) if dice is None else dice.sample(list(sides), len(sides))
            for position, name in enumerate(turn, start=1):
                launch, path = sides[name], folder / f"{name}-{launch_number}.jsonl"
                recorded = starter.run("tile-io", launch.options, path, launch.start)
                if recorded.hosts != launch.hosts:
                    raise MeasurementError(
                        f"with the {name} arrangement, ranks were not on the planned hosts",
                        hint="see --verify; pass options to the launcher with --launcher-arg",
                    )
                phase = next(phase for phase in phases(recorded) if phase.op == op)
                times[name].append(phase.times["seconds"].median)
                exchange_times = phase.times.get(
                    "seconds" if phase.phase == "exchange" else "exchange"
                )
                exchange[name] += [] if exchange_times is None else [exchange_times.median]
                origins.add(recorded.origin)
                done = (launch_number - 1) * len(sides) + position
                progress(Progress(done, launches * len(sides), times[name][-1]))
    seen = all(len(medians) == launches for medians in exchange.values())
    return Turns(times, exchange if seen else {}, together(origins))
