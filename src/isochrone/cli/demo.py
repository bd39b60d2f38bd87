"""The whole tour on this machine: measure a latency map, say what it means, write report.html."""

from __future__ import annotations

import argparse
import os
import shlex
from pathlib import Path
from typing import Final

from isochrone.errors import InputError

__all__ = ["add_arguments", "run"]

RANKS: Final = 4
RUN_FILE: Final = "demo-latency-map.jsonl"
TIMEOUT: Final = 120.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``isochrone demo``."""
    parser.add_argument("--mpicc", metavar="X", help="compiler wrapper of your MPI")
    parser.add_argument(
        "-o", "--output", type=Path, default=Path("report.html"), metavar="FILE",
        help="HTML file (default: report.html); an earlier report there is replaced",
    )  # fmt: skip


def run(args: argparse.Namespace) -> int:
    """Take the tour."""
    from isochrone import launchers, probe, registry
    from isochrone.cli import show
    from isochrone.cli._measuring import follow
    from isochrone.report.build import is_report, write_report
    from isochrone.run import read

    if args.output.exists() and not is_report(args.output):
        raise InputError(
            "it exists and is no report of ours", where=str(args.output), hint="give -o FILE"
        )
    built = probe.build(probe.find_mpicc(args.mpicc))
    run_file = args.output.with_name(RUN_FILE)
    options = ["--bytes", "64,64KiB", "--out", str(run_file), "--force", "--progress"]
    job = launchers.Job(
        ranks=RANKS,
        program=(str(built.path), "latency-map", *options),
        mpicc=built.mpicc,
        processors=launchers.processors(os.environ),
        library=built.library,
    )
    tokens = registry.load("launchers", launchers.choose(os.environ, built.library)).command(job)
    print(f"$ {shlex.join(tokens)}\n")
    follow(tokens, run_file, title="latency-map", timeout=TIMEOUT)
    show.print_file(run_file)
    write_report([read(run_file)], args.output)
    print(f"\nThe run file is {run_file}, the report is {args.output}: open it in a browser.")
    return 0
