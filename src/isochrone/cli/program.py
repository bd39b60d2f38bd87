"""Options of the commands that start a user's unmodified program: its command, and its MPI."""

import shlex
from argparse import REMAINDER, ArgumentParser, Namespace, _ArgumentGroup

from isochrone.base.errors import InputError
from isochrone.console.options import add_mpi, add_option


def add_program(parser: ArgumentParser) -> None:
    """Add ``--probe``, ``--mpicc`` and the command that starts the program."""
    parser.usage = parser.usage or "%(prog)s [options] -- COMMAND ..."
    add_mpi(parser)
    add_option(parser, "command", "COMMAND", str,
        "launcher, program and its arguments", nargs=REMAINDER)  # fmt: skip


def command_of(args: Namespace, example: str) -> list[str]:
    """Return the words after ``--``.

    Raises
    ------
    InputError
        If there are none; ``example`` is what to type.
    """
    command: list[str] = args.command[1:] if args.command[:1] == ["--"] else args.command
    if not command:
        raise InputError("the command is missing", hint=example)
    return command


def add_before(parser: ArgumentParser | _ArgumentGroup) -> None:
    """Add ``--before``."""
    add_option(parser, "--before", "COMMAND", str,
        "command to run before each launch, such as 'rm -f out.h5' (default: none)",
        default="")  # fmt: skip


def before_of(args: Namespace) -> list[str]:
    """Return the words of ``--before``.

    Raises
    ------
    InputError
        If its quotes do not match.
    """
    try:
        return shlex.split(args.before)
    except ValueError as error:
        raise InputError(f"the command is not valid: {error}", where="--before") from error
