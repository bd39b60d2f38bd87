"""isochrone: measure, model, predict and reduce what MPI communication costs."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from isochrone import __version__
from isochrone.cli._commands import add_commands
from isochrone.errors import IsochroneError
from isochrone.text import printable

__all__ = ["main"]


class _Parser(argparse.ArgumentParser):
    """Reports wrong use in one line, as everything else does."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {printable(message, 1000)} (try: {self.prog} --help)\n")


def parser(argv: Sequence[str]) -> argparse.ArgumentParser:
    """Build the parser: one subcommand a file, each adds its own options.

    Only the command that is named adds them: some import much for their help.
    """
    top = _Parser(
        prog="isochrone",
        description="What communication costs on a parallel machine: measure, show, compare.",
        epilog="isochrone COMMAND --help tells more of each command.",
        allow_abbrev=False,
    )
    top.add_argument("--version", action="version", version=f"isochrone {__version__}")
    commands = top.add_subparsers(metavar="COMMAND", required=True)
    named = next((word for word in argv if not word.startswith("-")), None)
    for name, module, command in add_commands(commands, "cli"):
        if name == named:
            module.add_arguments(command)
        command.set_defaults(run=module.run, rest=[], parser=command)
    return top


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit code."""
    argv = sys.argv[1:] if argv is None else argv
    top = parser(argv)
    args, rest = top.parse_known_args(argv)
    if rest and not getattr(args, "passes_options_on", False):
        args.parser.error(f"unrecognized arguments: {' '.join(rest)}")
    args.rest = rest
    try:
        status = int(args.run(args))
        sys.stdout.flush()
        return status
    except IsochroneError as error:
        print(f"isochrone: {printable(error, 2000)}", file=sys.stderr)
        for line in error.details:
            print(f"  | {printable(line, 500)}", file=sys.stderr)
        return error.exit_code
    except BrokenPipeError:  # the reader of our output has gone: `isochrone show … | head`
        _drop_output()
        return 0
    except OSError as error:  # a full disk, for example; what we know better is handled before
        where = f"{printable(error.filename)}: " if error.filename else ""
        print(f"isochrone: {where}{error.strerror or error}", file=sys.stderr)
        _drop_output()
        return 2
    except KeyboardInterrupt:
        print("isochrone: interrupted", file=sys.stderr)
        return 130


def _drop_output() -> None:
    """Send what is left of our output nowhere, so that Python does not fail over it at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    sys.exit(main())
