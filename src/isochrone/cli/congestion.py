"""The suite of congestion: each victim alone and beside each congestor, in one job."""

from collections.abc import Iterable, Iterator, Sequence
from math import fsum
from pathlib import Path
from time import monotonic

from isochrone.applications.description.lowering import program
from isochrone.applications.description.reading import parse
from isochrone.applications.emulation.congestion import CONGESTORS, VICTIMS, description
from isochrone.applications.emulation.summary import emulation
from isochrone.base.errors import InputError
from isochrone.base.table import grouped
from isochrone.base.text import command_line, printable_path
from isochrone.base.units import format_seconds
from isochrone.cli.emulations import EXPERIMENT, notes_of, written
from isochrone.cli.long_work import duration
from isochrone.console.measuring import follow
from isochrone.measure.estimate import tried
from isochrone.measure.launchable import Launchable
from isochrone.measure.setup import Setup
from isochrone.measure.suites import RUN_GRACE
from isochrone.pages.page import Row, Table, columns_of
from isochrone.pages.words import EVEN, ratio_of
from isochrone.runfile.file import read

NAME = "congestion"
CONGESTION_BUDGET = 300.0
FEWEST_RANKS = 4
"""Two of a victim, two of a congestor."""


Files = dict[tuple[str, str], Path]
"""The run file of each victim and congestor."""


def files(folder: Path, ranks: int) -> Files:
    """Name the run files of all pairs, victim by victim."""
    return {
        (victim, congestor): folder / f"{victim}-{congestor}-{ranks}.jsonl"
        for victim in VICTIMS
        for congestor in CONGESTORS
    }


def measure(
    setup: Setup, ranks: int, paths: Files, max_time: float, *, dry_run: bool, quiet: bool
) -> None:
    """Emulate each victim with each congestor, unless there is a complete run of both.

    The time that is left is divided equally among the remaining jobs; one of them starts no further
    launch after its time. A short job before shows on which hosts the ranks are. For a dry run all
    are taken to be on one.

    Raises
    ------
    InputError
        If there are too few ranks.
    MeasurementError
        If a job fails.
    """
    if ranks < FEWEST_RANKS:
        raise InputError(
            f"{ranks} ranks are too few for a victim and a congestor",
            where="-n",
            hint=f"give {FEWEST_RANKS} or more",
        )
    end = monotonic() + max_time
    missing = [
        (*pair, path) for pair, path in paths.items() if not (path.exists() and read(path).complete)
    ]
    hosts: Sequence[str] = [""] * ranks
    if missing and not dry_run:
        launch = Launchable(setup, "startup", (), ranks, timeout=RUN_GRACE)
        hosts = tried(launch, ("--repeats", "1"), missing[0][-1].parent)[0].hosts
    for k, (victim, congestor, path) in enumerate(missing):
        began = monotonic()
        limit = max(1.0, (end - began) / (len(missing) - k))
        spec = parse(description(hosts, victim, congestor), f"{victim} and {congestor}")
        with written(program(spec, ranks), Path(path.name) if dry_run else path) as file:
            options = ["--program", str(file), "--time-limit", f"{limit:.3g}"]
            setup.check(EXPERIMENT, options, ranks)
            notes = notes_of(spec, setup)
            tokens = setup.tokens(EXPERIMENT, options, ranks, path, force=True, notes=notes)
            if dry_run:
                print(command_line(tokens))
                continue
            follow(tokens, path, path.stem, 2 * limit + RUN_GRACE, quiet=quiet)
        print(f"{printable_path(path)}: {duration(monotonic() - began)}", flush=True)


def impact(paths: Iterable[Path]) -> Table:
    """Return times of the iterations of victims, and how many times as long congestors make them.

    The impact factor is the slowdown of an emulation: of the wall time, and of the 99th percentile
    of the slowest rank.
    """
    return Table(
        "Time of an iteration of the victim, mean over its ranks; impact factor: with the "
        f"congestor / alone, 95 % interval; {EVEN}: not significantly different from 1",
        columns_of(
            "victim", "congestor", ">mean", ">p50", ">p99", ">p99.9", ">impact factor", ">of p99"
        ),
        tuple(row for path in paths for row in _rows(path)),
    )


def _rows(path: Path) -> Iterator[Row]:
    """Yield a row of the victim alone, and one with the congestor: means over the ranks."""
    summary = emulation(read(path))
    ratios = {slowdown.beside: slowdown for slowdown in summary.slowdowns}
    of_victim = grouped((ranks.beside, ranks) for ranks in summary.ranks if not ranks.number)
    for neighbours, ranks in of_victim.items():
        slowdown = ratios.get(neighbours)
        columns = zip(*((rank.mean, rank.p50, rank.p99, rank.p999) for rank in ranks), strict=True)
        yield Row(
            (
                ranks[0].app,
                summary.beside(neighbours) or "–",
                *(format_seconds(fsum(values) / len(ranks)) for values in columns),
                *((ratio_of(slowdown.wall), ratio_of(slowdown.tail)) if slowdown else "––"),
            )
        )
