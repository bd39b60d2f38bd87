"""Tunes the collective operations of an unmodified program: measure what it calls, choose, prove.

What the program spends its time in is measured with its own launcher: the library's default, each
of its algorithms, and grids. A choice is kept only if the whole program was faster with it, in
pairs of launches that had no part in choosing it. A tuning file of the library is tried first,
since it needs nothing of ours at run time; a table of grids only if that gains nothing.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from isochrone.base.errors import InputError, IsochroneError, MeasurementError, WrongResult
from isochrone.base.files import write_text
from isochrone.base.inference import Speedup
from isochrone.base.operations import COLLECTIVES, REDUCING
from isochrone.base.record import Record
from isochrone.base.text import Tell
from isochrone.collectives import tuning_file as tunings
from isochrone.collectives import tuning_table
from isochrone.collectives.grid_collectives import OPERATIONS
from isochrone.collectives.tune.times import TuningTimes, read_times
from isochrone.collectives.tune.tuning import Saving, algorithm_rules, grid_rules, savings
from isochrone.measure import algorithm as algorithms
from isochrone.measure import discovery, job, tuned
from isochrone.measure.algorithm import Forced, Mpi
from isochrone.measure.elimination import GIVEN, Timed, duel
from isochrone.measure.library import library_file
from isochrone.measure.program import Program
from isochrone.runfile.file import read
from isochrone.runfile.run import Run

MOST_SIZES = 6
"""Sizes of an operation that are measured: those that take most time."""

MOST_GRIDS = 3
"""Grids of rows and columns that are measured: those nearest to a square."""

LEAST_SHARE = 0.03
"""Share of the run time in collective operations of all ranks below which nothing is tried."""

MIN_LAUNCH_SECONDS = 0.2
"""Seconds of a launch of the measurement below which it would say too little."""

LAUNCH_PATIENCE = 4.0
SLACK = 30.0
"""A launch is ended after so many times what the first one took, and so many seconds more."""


class Used(Record):
    """Calls of one operation and size by all ranks of the program.

    Attributes
    ----------
    bytes
        Block of one rank, as ``measure collective --bytes``.
    calls
        Of one rank.
    seconds
        In these calls, mean over the ranks.
    """

    op: str
    bytes: int
    calls: int
    seconds: float


class Way(Struct):
    """A choice that was tried with the program.

    Attributes
    ----------
    name
        ``library`` (a tuning file of the MPI library) or ``table`` (grids, by ``isochrone exec``).
    use
        What the user types to use it.
    gain
        Of the whole program; None: it failed.
    why
        Why it is not kept; empty if it is.
    """

    name: str
    savings: list[Saving]
    files: list[Path]
    use: list[str]
    environ: dict[str, str]
    gain: Speedup | None = None
    why: str = ""


class TunedProgram(Struct):
    """Collective operations of a program, tuned by trying.

    Attributes
    ----------
    seconds
        Of the program as given.
    share
        Of it in collective operations of all ranks.
    operations
        What was measured, that which takes most time first.
    left_out
        Seconds in collective operations of some of the ranks, which are not tuned.
    kept
        Name of the way to use; None: nothing gained.
    why
        Why nothing is kept; empty otherwise.
    """

    command: list[str]
    ranks: int
    seconds: float
    share: float
    operations: list[Used]
    left_out: float
    ways: list[Way] = []
    kept: str | None = None
    why: str = ""
    warnings: list[str] = []


class Wish(Record):
    """What the user asked for.

    Attributes
    ----------
    launches
        Of each measurement, and pairs of launches of the program.
    budget
        Seconds of all measurements together.
    min_gain
        Smallest gain of an operation to be chosen, a part of its time.
    """

    launches: int
    budget: float
    min_gain: float


def used(calls: Sequence[tuple[str, int, int, int, float]], ranks: int) -> tuple[list[Used], float]:
    """Return what all ranks call together, and the seconds in operations of some of them.

    Parameters
    ----------
    calls
        Operation, bytes, members of the communicator, calls and seconds of all ranks.
    """
    operations: dict[tuple[str, int], Used] = {}
    others = 0.0
    for op, nbytes, members, count, seconds in calls:
        if op not in COLLECTIVES or nbytes <= 0:
            continue
        if members != ranks:
            others += seconds / ranks
            continue
        size = max(8, nbytes // 8 * 8) if op in REDUCING else nbytes
        previous = operations.get((op, size), Used(op, size, 0, 0.0))
        operations[op, size] = Used(
            op, size, previous.calls + count // ranks, previous.seconds + seconds / ranks
        )
    return sorted(operations.values(), key=lambda operation: -operation.seconds), others


def grids_of(ranks: int, nodes: int) -> list[str]:
    """Return grids worth measuring: rows for nodes, and the factorisations nearest to a square."""
    pairs = [(rows, ranks // rows) for rows in range(2, ranks // 2 + 1) if ranks % rows == 0]
    pairs.sort(key=lambda pair: (abs(pair[0] - pair[1]), pair))
    square_grids = [f"{rows}x{length}" for rows, length in pairs[:MOST_GRIDS]]
    return [*(["nodes"] if 1 < nodes < ranks else []), *square_grids]


def tune(
    program: Program,
    launcher: Sequence[str],
    recorded: Run,
    folder: Path,
    wish: Wish,
    document: TunedProgram,
    tell: Tell,
) -> None:
    """Measure what the program calls, choose, and prove; fills ``document`` as results come.

    Parameters
    ----------
    launcher
        Those of its command that start the ranks.
    recorded
        Its recording.
    folder
        Gets all files.
    """
    if document.share < LEAST_SHARE:
        document.why = (
            f"collective operations of all ranks take {100 * document.share:.1f} % of the run time"
        )
        return
    runs = _Measuring(program, launcher, folder, wish, recorded, tell).runs(document)
    times = read_times(runs)
    for make in (_library_way, _table_way):
        way = make(program, times, folder, wish, document)
        if way is None:
            continue
        document.ways.append(way)
        _prove(program, way, folder, wish, document, tell)
        if not way.why:
            document.kept = way.name
            return
    document.why = (
        "no choice made the program faster"
        if document.ways
        else f"no choice that can be applied saves more than {100 * wish.min_gain:g} % of an "
        "operation with 95 % confidence"
    )


# --- measure --------------------------------------------------------------------------------------


class _Measuring(Record):
    """Launches of ``measure collective`` with the launcher of the program."""

    program: Program
    words: Sequence[str]
    folder: Path
    wish: Wish
    recorded: Run
    tell: Tell

    def runs(self, document: TunedProgram) -> list[Run]:
        """Return all launches: default and grids in one, each algorithm in one of its own."""
        mpi = Mpi(self.program.probe.library, "", self.program.probe.mpicc, self.program.probe.path)
        algorithm_names = {}
        try:
            family = algorithms.family_of(mpi)
            algorithm_names = family.known(mpi)
        except InputError as error:
            document.warnings.append(f"{error.what}: only its default is compared with grids")
        sizes: dict[str, list[int]] = {}
        for operation in document.operations:
            op_sizes = sizes.setdefault(operation.op, [])
            op_sizes += [operation.bytes] if len(op_sizes) < MOST_SIZES else []
        ways = [(op, name) for op in sizes for name in ("", *algorithm_names.get(op, ()))]
        limit = max(MIN_LAUNCH_SECONDS, self.wish.budget / (self.wish.launches * len(ways)))
        self.tell(
            f"Measuring {len(sizes)} operations in {len(ways)} ways, {self.wish.launches} "
            f"launches each: at most {self.wish.launches * len(ways) * limit / 60:.1f} min"
        )
        launched, refused = [], set()
        for launch in range(1, self.wish.launches + 1):
            for op, name in ways:
                if (op, name) in refused:
                    continue
                forced = family.force({op: name}, mpi) if name else Forced()
                try:
                    launched.append(self._launch(op, name, sizes[op], forced, limit, launch))
                except WrongResult as error:
                    document.warnings.append(error.what)
                    refused.add((op, name))
                except MeasurementError as error:
                    if not name:
                        raise
                    unusable = forced.refusal and forced.refusal in "\n".join(error.details)
                    why = "it cannot be used here" if unusable else error.what
                    self.tell(f"{op}={name} left out: {why}")
                    refused.add((op, name))
        return launched

    def _launch(
        self, op: str, name: str, sizes: Sequence[int], forced: Forced, limit: float, launch: int
    ) -> Run:
        path = self.folder / "runs" / f"{op}-{name or 'default'}-{launch}.jsonl"
        path.unlink(missing_ok=True)
        options = [
            "--op",
            op,
            "--bytes",
            ",".join(map(str, sorted(sizes))),
            "--precision",
            "0.02",
            "--max-time",
            f"{limit / len(sizes):.3g}",
            "--time-limit",
            f"{limit:.3g}",
        ]
        if not name and op in OPERATIONS:
            grids = grids_of(self.recorded.size, len(set(self.recorded.hosts)))
            options += ["--grid", ",".join(grids)] if grids else []
        options += ["--note", f"{algorithms.NOTE}={op}={name}"] if name else []
        argv = [
            self.words[0],
            *forced.options,
            *self.words[1:],
            str(self.program.probe.path),
            "collective",
            *options,
            "--out",
            str(path.absolute()),
        ]
        environ = {k: v for k, v in self.program.environ.items() if k != "LD_PRELOAD"}
        job.run(
            argv,
            timeout=LAUNCH_PATIENCE * limit + SLACK,
            run_file=path,
            environ={**environ, **forced.environ},
        )
        return read(path)


# --- choose ---------------------------------------------------------------------------------------


def _library_way(
    program: Program, times: TuningTimes, folder: Path, wish: Wish, document: TunedProgram
) -> Way | None:
    """Write the tuning file of the MPI library, if it has one and an algorithm gains."""
    chosen = savings(times, "algorithm", wish.min_gain)
    rules = algorithm_rules(chosen, times.sizes)
    if not rules:
        return None
    for tuning_file in map(tunings.load, tunings.names()):
        try:
            tuning_file.check(times.mpi)
            library = library_file(program.probe.path) if tuning_file.of_library else None
            content = library.read_bytes() if library else b""
            written = tuning_file.write(rules, folder / "library-tuning", content)
        except InputError:
            continue
        document.warnings += written.warnings
        if len(written.left_out) == len(rules):
            return None
        for path, text in written.files.items():
            write_text(path, text)
        use = [f"export {key}={value}" for key, value in written.environ.items()]
        return Way("library", chosen, [*written.files], use, dict(written.environ))
    document.warnings.append(f"no tuning file is known of {times.mpi}: algorithms are not chosen")
    return None


def _table_way(
    program: Program, times: TuningTimes, folder: Path, wish: Wish, document: TunedProgram
) -> Way | None:
    """Write the table of ``isochrone exec``, if a grid gains."""
    chosen = savings(times, "grid", wish.min_gain)
    rules = grid_rules(chosen, times.sizes)
    if not rules:
        return None
    path = folder / "table.json"
    tuning_table.write(path, tuning_table.Table(times.mpi, rules, wish.min_gain, [], times.origin))
    environ = tuned.settings(
        discovery.library(program.probe), tuning_table.compiled(path), program.environ, report=False
    )
    use = [f"isochrone exec --tuning {path} -- {' '.join(document.command)}"]
    return Way("table", chosen, [path], use, environ)


# --- prove ----------------------------------------------------------------------------------------


def _prove(
    program: Program,
    way: Way,
    folder: Path,
    wish: Wish,
    document: TunedProgram,
    tell: Tell,
) -> None:
    """Launch the program with and without a way, in pairs; fills its ``gain`` and ``why``."""
    numbers: Iterator[int] = iter(range(1, 10_000))
    limit = LAUNCH_PATIENCE * document.seconds + SLACK

    def start(name: str) -> Timed | None:
        environ: Mapping[str, str] = {} if name == GIVEN else way.environ
        log = folder / "runs" / f"{way.name}-{next(numbers)}-{name}.log"
        try:
            seconds = program.run(None, environ, log, limit)
        except IsochroneError as error:
            if name == GIVEN or not isinstance(error, MeasurementError):
                raise
            way.why = error.what
            return None
        tell(f"{name}: {seconds:.3g} s")
        return Timed(seconds, seconds)

    judged = duel(start, way.name, wish.launches, 4 * wish.launches)
    if judged is None:
        return
    way.gain = judged.whole
    if judged.whole.low <= 1:
        way.why = "the program did not become faster for certain"
