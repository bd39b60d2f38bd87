"""What the commands that measure share: the options that say how, and progress on the screen."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from isochrone.base.text import warn
from isochrone.console.options import add_expert, add_flag, add_mpi, add_option, read_time_or_zero
from isochrone.measure import launcher as launchers

if TYPE_CHECKING:
    from isochrone.measure.setup import Setup


def add_setup(parser: argparse.ArgumentParser) -> None:
    """Add the options that say how ranks are started: MPI, launcher, limits."""
    names = launchers.names()
    add_mpi(parser)
    add_option(
        parser,
        "--launcher",
        "NAME",
        launchers.named,
        "launcher of the ranks, such as srun (default: detected)",
        choices=names,
    )
    add_launcher_arg(parser)
    add_expert(
        parser,
        "--stall-timeout",
        "TIME",
        read_time_or_zero,
        "abort after TIME without progress, and name the unresponsive ranks; 0: never (default: "
        "10min; tile-io: 1h; app: never)",
    )
    add_flag(parser, "--dry-run", "print the launch command; start nothing")
    for name in names:
        launchers.load(name).add_arguments(parser)


def add_launcher_arg(parser: argparse._ActionsContainer) -> None:
    """Add ``--launcher-arg``."""
    add_expert(
        parser,
        "--launcher-arg",
        "A",
        str,
        "additional argument of the launcher, such as --launcher-arg=--exclusive; may be repeated",
        action="append",
        default=[],
    )


def setup_of(args: argparse.Namespace) -> Setup:
    """Return the MPI and the launcher that the options mean; their warnings go to the screen."""
    from isochrone.measure.setup import Setup

    return Setup.choose(vars(args), warn)


def follow(
    tokens: list[str], path: Path, title: str, timeout: float | None, *, quiet: bool = False
) -> None:
    """Run the launcher to its end, and show how far it is unless ``quiet``."""
    from isochrone.measure import progress, setup

    with progress.progress_bar(title, quiet=quiet) as advance:
        setup.follow(tokens, path, timeout=timeout, progress=advance)
