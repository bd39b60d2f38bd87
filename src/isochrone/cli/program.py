"""Options of the commands that start a user's unmodified program: its command, and its MPI."""

import re
import shlex
import shutil
from argparse import REMAINDER, ArgumentParser, Namespace, _ArgumentGroup
from collections.abc import Sequence
from pathlib import Path

from isochrone.applications.description.grids import balanced
from isochrone.base.errors import InputError
from isochrone.console.options import add_mpi, add_option


def add_program(parser: ArgumentParser) -> None:
    """Add ``--probe``, ``--mpicc`` and the command that starts the program."""
    parser.usage = parser.usage or "%(prog)s [options] -- COMMAND ..."
    add_mpi(parser)
    add_option(
        parser, "command", "COMMAND", str, "launcher, program and its arguments", nargs=REMAINDER
    )


def command_of(args: Namespace, example: str) -> list[str]:
    """Return the words after ``--``.

    Raises
    ------
    InputError
        If there are none, ``example`` is what to type; if the program does not exist.
    """
    command: list[str] = args.command[1:] if args.command[:1] == ["--"] else args.command
    if not command:
        raise InputError("the command is missing", hint=example)
    launcher, *words = command
    paths = [word for word in words if word.startswith(("./", "../"))]
    programs = any(map(shutil.which, words)) or not shutil.which(launcher)
    if paths and not programs and not Path(paths[0]).exists():
        raise InputError(f"there is no program '{paths[0]}'")
    return command


_DIMENSIONS = {"ranks": 1, "grid2": 2, "grid3": 3, "grid4": 4}
"""Of what stands for the ranks in the arguments of a program."""

_STANDS_FOR_RANKS = re.compile(r"\{(ranks|grid[234])(?::([^{}]*))?\}")


def for_ranks(words: Sequence[str], ranks: int) -> list[str]:
    """Return the words of a program, with numbers for what stands for them.

    ``{ranks}`` is the number of ranks; ``{grid2}`` to ``{grid4}`` are the sides of the most
    balanced grid of them, in decreasing order, as MPI_Dims_create has them. A word ``{grid3}``
    becomes three words; ``{grid3:x}`` and those inside a word one text, such as ``4x2x2``.
    """
    replaced: list[str] = []
    for word in words:
        placeholder = _STANDS_FOR_RANKS.fullmatch(word)
        if placeholder and placeholder[2] is None:
            replaced += map(str, balanced(ranks, _DIMENSIONS[placeholder[1]]))
            continue
        replaced.append(
            _STANDS_FOR_RANKS.sub(
                lambda match: (match[2] or ",").join(
                    map(str, balanced(ranks, _DIMENSIONS[match[1]]))
                ),
                word,
            )
        )
    return replaced


def add_before(parser: ArgumentParser | _ArgumentGroup) -> None:
    """Add ``--before``."""
    add_option(
        parser,
        "--before",
        "COMMAND",
        str,
        "command to run before each launch, such as 'rm -f out.h5' (default: none)",
        default="",
    )


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
