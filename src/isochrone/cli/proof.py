"""Starting small MPI jobs from `place`: to see where ranks land, and whether it helped."""

from __future__ import annotations

import argparse
import contextlib
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import numpy as np

from isochrone.base.errors import InputError, MeasurementError
from isochrone.cli.measuring import Bench
from isochrone.improve.gain import Gain, gain
from isochrone.measure import probe
from isochrone.placements import Start
from isochrone.runfile.run import Run, read
from isochrone.workloads.call import Call
from isochrone.workloads.grid import Grid

__all__ = ["Starter", "add_start", "compare_in_turn", "tile_options"]

TIMEOUT: Final = 300.0
"""Seconds after which a job of ours is ended."""


def add_start(parser: argparse.ArgumentParser, what: str) -> None:
    """Add the options of the jobs that prove something."""
    group = parser.add_argument_group("proof on the machine")
    group.add_argument(
        "--measure", action="store_true",
        help=f"replay the exchange in the given and in the proposed {what}, in turn",
    )  # fmt: skip
    group.add_argument(
        "--file", type=Path, metavar="FILE",
        help="--measure: write this file with the MPI library instead, on its file system",
    )  # fmt: skip
    group.add_argument(
        "--launches", type=_number, default=5, metavar="N",
        help="--measure: launches of each arrangement (default: 5)",
    )  # fmt: skip
    group.add_argument(
        "--repeats", type=_number, default=5, metavar="N", help="--measure: a launch (default: 5)"
    )
    group.add_argument(
        "--runs", type=Path, metavar="FOLDER", help="--measure: keep the run files there"
    )
    group.add_argument("--mpicc", metavar="X", help="compiler wrapper of your MPI")
    group.add_argument("--launcher", metavar="L", help="how to start the ranks")
    group.add_argument(
        "--launcher-arg", action="append", default=[], metavar="A",
        help="one more argument for the launcher; may be repeated",
    )  # fmt: skip


def _number(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 1 <= len(text) <= 6 and int(text)):
        raise argparse.ArgumentTypeError(f"'{text}' is not a number from 1")
    return int(text)


class Starter:
    """Starts the probe as the user's launcher does, with a file that says where ranks go."""

    def __init__(self, args: argparse.Namespace, ranks: int) -> None:
        self.ranks = ranks
        self.bench = Bench.choose(vars(args))

    def run(self, experiment: str, options: Sequence[str], path: Path, start: Start | None) -> Run:
        """Run an experiment to its end and return what it recorded.

        Raises
        ------
        InputError
            If the file is for another launcher.
        MeasurementError
            If the ranks fail or do not end in time.
        """
        if start is not None and start.launcher != self.bench.name:
            raise InputError(
                f"the file is for {start.launcher}, but {self.bench.name} starts ranks here",
                hint="choose another format with --to, or another --mpicc",
            )
        extra = start.options if start else ()
        command = self.bench.tokens(
            experiment, options, self.ranks, path, extra=extra, placed=start is not None
        )
        environ = start.environ if start else {}
        tokens = [f"{key}={value}" for key, value in environ.items()]
        probe.run(["env", *tokens, *command] if tokens else command, timeout=TIMEOUT)
        found = read(path)
        if not found.complete:
            raise MeasurementError("the ranks ended before the measurement did", where=str(path))
        return found

    def hosts(self, start: Start | None) -> list[str]:
        """Return the host that each rank lands on."""
        with folder(None) as place:
            options = ["--bytes", "1", "--repeats", "1"]
            return self.run("null", options, place / "verify.jsonl", start).hosts


@contextlib.contextmanager
def folder(wanted: Path | None) -> Iterator[Path]:
    """Yield the folder for run files: the user's, or one that is removed again.

    It is in the folder we are in, because rank 0 may run on another host and has to see it.
    """
    if wanted is not None:
        wanted.mkdir(parents=True, exist_ok=True)
        yield wanted
        return
    with tempfile.TemporaryDirectory(prefix=".isochrone-", dir=Path.cwd()) as name:
        yield Path(name)


def tile_options(args: argparse.Namespace, call: Call, aggregators: Sequence[int]) -> list[str]:
    """Return the options of the experiment ``tile-io`` that repeat a call's pattern.

    Raises
    ------
    InputError
        If the experiment cannot repeat it.
    """
    grid = call.pattern
    if not isinstance(grid, Grid) or len(grid.axes) != 2 or args.rows or args.columns:
        raise InputError("only tiles can be measured", where="--measure", hint="give --tiles")
    if args.file is None and call.driver != "even":
        raise InputError(
            f"the exchange of the driver '{call.driver}' cannot be replayed",
            where="--measure", hint="give --file on a file system that has this driver",
        )  # fmt: skip
    down, across = grid.axes
    element = args.element or 3  # of mpi-tile-io; the number of messages does not depend on it
    size = across.extent * down.extent * element
    options = [
        "--tiles", f"{across.blocks}x{down.blocks}", "--tile", f"{across.length}x{down.length}",
        "--element", str(element), "--overlap", f"{across.overlap}x{down.overlap}",
        "--repeats", str(args.repeats),
    ]  # fmt: skip
    if args.file is not None:
        return [*options, "--phase", "file", "--file", str(args.file)]
    buffer = call.buffer or -(-size // len(aggregators))
    return [
        *options, "--phase", "exchange", "--cb-buffer", str(buffer),
        "--aggregators", ",".join(map(str, aggregators)),
    ]  # fmt: skip


def compare_in_turn(
    starter: Starter,
    args: argparse.Namespace,
    given: tuple[list[str], Start | None, list[str]],
    proposed: tuple[list[str], Start | None, list[str]],
) -> Gain:
    """Launch two arrangements in turn and compare their times.

    Each arrangement is options of ``tile-io``, how it is started, and the host of each rank.
    """
    times: dict[str, list[float]] = {"given": [], "proposed": []}
    with folder(args.runs) as place:
        for number in range(1, args.launches + 1):
            for name, (options, start, hosts) in (("given", given), ("proposed", proposed)):
                path = place / f"{name}-{number}.jsonl"
                found = starter.run("tile-io", options, path, start)
                if found.hosts != hosts:
                    raise MeasurementError(
                        f"the ranks of the {name} arrangement are not where they should be",
                        hint="see --verify; give the launcher what it needs with --launcher-arg",
                    )
                times[name].append(_median(found, args.op))
    return gain(times["given"], times["proposed"])


def _median(run: Run, op: str) -> float:
    table = run.tables["sample"]
    return float(np.median(table["seconds"][table["op"] == op]))
