"""Compile the probe (the MPI program that measures) if needed.

Commands that measure compile the probe themselves. Use `isochrone build` to choose an MPI, or to
check the installation.
"""

import argparse
import os

from isochrone.base.text import printable, printable_path
from isochrone.console.options import add_flag, add_mpi
from isochrone.measure import discovery, probe
from isochrone.measure.library import library_file
from isochrone.measure.subprocesses import forget_answers
from isochrone.runfile.header import library_name

EXAMPLES = (
    ("for the MPI in your PATH", "isochrone build"),
    ("for another MPI", "isochrone build --mpicc /opt/openmpi/bin/mpicc --rebuild"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``isochrone build``."""
    add_mpi(parser)
    add_flag(parser, "--rebuild", "compile the probe even if it is up to date")
    add_flag(
        parser,
        "--no-cache",
        "ignore what is cached about mpiexec, mpicc and the probe",
        expert=True,
    )


def run(args: argparse.Namespace) -> int:
    """Find or build the probe, and say which it is."""
    if args.no_cache:
        forget_answers()
    named, mpicc = discovery.named_or_usual(args.probe, args.mpicc, args.usual)
    if args.rebuild:
        built = probe.build(probe.find_mpicc(mpicc), again=True)
    else:
        built = discovery.find(named, mpicc)
    print(f"probe    {printable_path(built.path)}")
    print(f"origin   {printable(built.origin)}")
    if os.access(built.mpicc, os.X_OK):
        print(f"mpicc    {printable_path(built.mpicc)}")
    file = library_file(built.path)
    if file is not None:
        print(f"loads    {printable_path(file.resolve())}")
    print(f"library  {printable(library_name(built.library))}")
    return 0
