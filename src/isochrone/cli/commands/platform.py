"""Describe a machine for the simulator SimGrid."""

import argparse

from isochrone.base.errors import InputError
from isochrone.base.files import write_text
from isochrone.base.text import printable_path, shell_word
from isochrone.console.options import add_option
from isochrone.console.output import add_output, check_output, output_of
from isochrone.measure import platforms

EXAMPLES = (
    (
        "16 nodes of 4 cores behind two switches",
        "isochrone platform 'nodes:16 cores:4 switches:2' -o machine.xml",
    ),
    (
        "simulate a latency map of it",
        "isochrone measure latency-map -n 64 --launcher simgrid --platform machine.xml",
    ),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``isochrone platform``."""
    add_option(
        parser,
        "machine",
        "MACHINE",
        str,
        "keywords, such as 'nodes:16 cores:4 slow-node:3' or torus:4x4x2, see docs/what-if.md",
    )
    add_output(
        parser, "platform file to write; the list of hosts gets the suffix .hosts", required=True
    )


def run(args: argparse.Namespace) -> int:
    """Write the platform and the host file; say how to measure it."""
    machine = platforms.parse(args.machine)
    if args.output.suffix == ".hosts":
        raise InputError(
            "this suffix is reserved for the host file",
            where=args.output,
            hint="choose a name with .xml",
        )
    path = output_of(args)
    hosts = check_output(path.with_suffix(".hosts"), force=args.force)
    for file, text in ((path, machine.xml()), (hosts, machine.hosts())):
        write_text(file, text)
    ranks = machine.nodes * machine.cores
    written = f"{printable_path(path)} and {printable_path(hosts)}"
    print(f"{written}: {ranks} ranks on {machine.nodes} nodes. To measure it:")
    typed = shell_word(str(path))
    print(f"isochrone measure latency-map -n {ranks} --launcher simgrid --platform {typed}")
    return 0
