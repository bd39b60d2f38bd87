"""Measure MPI on this machine or in this job; write a run file.

`isochrone measure EXPERIMENT --help` describes an experiment. `isochrone show` prints a
summary of the run file (.jsonl). The experiments measure:

  app             synthetic applications that a file describes
  bisection       messages between two halves, all pairs at once
  clock-sync      how well the clocks of the ranks agree
  collective      times of collective operations
  compute         time of an arithmetic operation
  hotspot         messages of a node with many partners
  latency-map     round trips between every pair of ranks
  matching        receives behind others that do not match
  point-to-point  times of messages of many sizes
  startup         launches, MPI_Init, MPI_Finalize, new communicators
  synthetic       nothing; computes a latency map of known times
  tile-io         collective MPI-IO of a tiled array
"""

from __future__ import annotations

import functools
from argparse import SUPPRESS, ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING

from isochrone.base.errors import IsochroneError, WrongResult
from isochrone.base.text import command_line, printable
from isochrone.cli.launches import (
    add_measurement,
    default_name,
    launch_files,
    launchables,
    launched,
    ranks_file,
    run_count,
)
from isochrone.cli.long_work import add_yes, agree_to
from isochrone.cli.parser import Parser, Subcommand, examples
from isochrone.console.measuring import setup_of
from isochrone.console.options import add_expert, add_flag, add_option, hide
from isochrone.console.output import add_output, check_output, check_suffix
from isochrone.measure import algorithm as algorithms
from isochrone.measure import presets
from isochrone.measure.sources import experiments

if TYPE_CHECKING:
    from isochrone.latency_map.confirm import Further
    from isochrone.measure.launchable import Launchable
    from isochrone.runfile.run import Run

EXAMPLES = (
    (
        "which of 16 ranks are near, which are slow?",
        "isochrone measure latency-map -n 16 -o map.jsonl",
    ),
    (
        "time and bandwidth from 0 to 1 MiB",
        "isochrone measure point-to-point -n 2 --preset sizes -o sizes.jsonl",
    ),
)

MORE_EXAMPLES = (
    (
        "two collectives on several numbers of ranks",
        "isochrone measure collective -n 2,4,8,16 --op bcast,allreduce -o c.jsonl",
    ),
    (
        "bandwidth when all pairs of two halves send at once",
        "isochrone measure bisection -n 16 -o bisection.jsonl",
    ),
    (
        "how well do the clocks of the ranks agree?",
        "isochrone measure clock-sync -n 8 -o clocks.jsonl",
    ),
    (
        "how long does an arithmetic operation take?",
        "isochrone measure compute -n 4 -o compute.jsonl",
    ),
    (
        "what does an entry of a matching queue cost?",
        "isochrone measure matching -n 2 -o matching.jsonl",
    ),
    (
        "how does the time grow with the number of partners?",
        "isochrone measure hotspot -n 16 -o hotspot.jsonl",
    ),
    (
        "how long does a launch take, over ranks and ten launches?",
        "isochrone measure startup -n 2,4,8 --launches 10 -o startup.jsonl",
    ),
    (
        "how long does collective MPI-IO of a tiled array take?",
        "isochrone measure tile-io -n 16 -o tile.jsonl",
    ),
    (
        "what does a map with a slow node look like?",
        "isochrone measure synthetic -n 1 --shape 8,4,2 --slow-node 5 -o map.jsonl",
    ),
)


def add_arguments(parser: ArgumentParser) -> None:
    """Add the options of ``isochrone measure``."""
    add_measurement(parser)
    add_option(
        parser,
        "--launches",
        "N",
        run_count,
        "number of launches, each with a file FILE-1.jsonl …; for isochrone compare, use 5 or "
        "more (default: 1)",
        default=1,
    )
    add_expert(
        parser,
        "--baseline",
        "FOLDER",
        Path,
        "latency-map: also measure again what is slower than in these reference runs",
    )
    add_yes(parser)
    add_flag(parser, "--quiet", "print no progress and no summary")
    add_output(parser, "run file to write (default: EXPERIMENT-DATE-TIME.jsonl)")
    parser.set_defaults(passes_options_on=True)
    if isinstance(parser, Subcommand):
        parser.print_help = functools.partial(_print_help, parser)  # type: ignore[method-assign]


def run(args: Namespace) -> int:
    """Measure, and show what was found."""
    if args.algorithm == algorithms.LIST:
        mpi = setup_of(args).mpi()
        for operation, names in algorithms.family_of(mpi).known(mpi).items():
            print(f"{operation:<22}{' '.join(names)}")
        return 0
    counts = launchables(args)
    base = args.output or default_name(args.experiment)
    check_suffix(args.output, ".jsonl")
    files = [
        (job, launch_files(ranks_file(base, job.ranks, len(counts) > 1), args.launches))
        for job in counts
    ]
    for path in (path for _, paths in files for path in paths):
        check_output(path, force=args.force)
    if args.dry_run:
        for job, paths in files:
            for k, path in enumerate(paths, start=1):
                launch = f"{k}/{args.launches}" if args.launches > 1 else ""
                print(command_line(job.tokens(path, force=args.force, launch=launch)))
        return 0
    agree_to([(job, args.launches) for job in counts], base.parent, args)
    further = _slower_than(args.baseline) if args.baseline else lambda _: ()
    wrong: list[WrongResult] = []
    for index, (job, paths) in enumerate(files):
        first_run = _launch(job, paths, args, wrong, further)
        if not args.quiet:
            from isochrone.pages import terminal
            from isochrone.pages.common import page_of

            if index:
                print()
            terminal.render(page_of(first_run))
    if not args.quiet:
        _say_files(files, args.launches)
    if wrong:
        raise wrong[0]
    return 0


def _slower_than(folder: Path) -> Further:
    """Return what finds pairs to be measured again because of earlier runs."""
    from isochrone.changes.check import slower_pairs
    from isochrone.console.input import earlier_runs

    earlier = earlier_runs(folder)
    return lambda run: slower_pairs(run, earlier)


def _launch(
    job: Launchable, files: list[Path], args: Namespace, wrong: list[WrongResult], further: Further
) -> Run:
    """Launch for each file; all with the sizes the first one chose. Return the first.

    What returned wrong data is added to ``wrong``; the other operations are measured nevertheless.
    """
    from isochrone.runfile.file import read

    for k, path in enumerate(files, start=1):
        try:
            launch = launched(
                job, path, k, args.launches, force=args.force, quiet=args.quiet, further=further
            )
        except WrongResult as error:
            wrong.append(error)
            launch = read(path)
        if k == 1:
            first, job = launch, job.like(launch)
    return first


def _say_files(files: Sequence[tuple[Launchable, list[Path]]], runs: int) -> None:
    """Say which files there are, if there are several."""
    if len(files) > 1:
        print("\nFiles:")
        for job, paths in files:
            print(f"  {job.ranks} ranks: {_names(paths)}")
    elif runs > 1:
        print(f"\nThis is the first of {runs} launches: {_names(files[0][1])}")


def _names(files: list[Path]) -> str:
    return printable(f"{files[0]} … {files[-1]}" if len(files) > 1 else files[0])


def _print_help(parser: Subcommand, file: IO[str] | None = None) -> None:
    """Print the own options of the named experiment; without one, or to experts, ours as well."""
    named = next((word for word in parser.words if word in experiments()), None)
    if named is None:
        print(parser.format_help(), end="", file=file)
        return
    print(f"usage: {parser.prog} {named} [-n RANKS] [-o FILE] [options]\n", file=file)
    from isochrone.cli.experiments import add_options, usual_probe

    inner = Parser(prog=parser.prog, add_help=False, usage=SUPPRESS)
    inner.whole_help = parser.whole_help
    try:
        if experiment := usual_probe(named).experiments.get(named):  # an older probe may lack it
            inner.description = f"{experiment.summary[:1].upper()}{experiment.summary[1:]}."
            add_options(inner.add_argument_group(f"options of {named}"), experiment.options)
            if named == "synthetic":
                hide(inner, "--repeats", "--precision")
        print(inner.format_help().lstrip("\n"), file=file)
    except IsochroneError as error:
        print(f"the options of {named} can be listed once an MPI is found: {error}\n", file=file)
    experiment_presets = presets.of(named)
    if experiment_presets:
        print(f"presets of {named}:", file=file)
        for preset in experiment_presets:
            print(f"  {preset.name:<20}  {preset.summary}", file=file)
        print(file=file)
    if parser.whole_help:
        general = parser.format_help().partition("\noptions:\n")[2].partition("\nexamples:\n")[0]
        print(f"options of every experiment:\n{general}", file=file)
    else:
        print("Options of all experiments: isochrone measure --help\n", file=file)
    mine = [pair for pair in (*EXAMPLES, *MORE_EXAMPLES) if f" {named} " in pair[1]]
    print(examples(mine) or "", file=file)
