"""isochrone: measure, model, predict and reduce what MPI communication costs."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from isochrone import __version__
from isochrone.base.errors import IsochroneError
from isochrone.base.text import printable
from isochrone.cli.parser import Parser, add_subcommands

__all__ = ["main"]


def parser() -> Parser:
    """Build the parser: one subcommand a file, of which only the named one is imported."""
    top = Parser(
        prog="isochrone",
        description="Measure, model, predict and reduce the cost of communication in MPI jobs.",
        epilog="isochrone COMMAND --help describes each command.",
        allow_abbrev=False,
    )
    top.add_argument("--version", action="version", version=f"isochrone {__version__}")
    top.set_defaults(passes_options_on=False)
    add_subcommands(top, "cli.commands", "COMMAND")
    return top


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit code."""
    # The systems solved here are small, and the machine is often busy or shared by many: threads
    # of the linear algebra would mostly wait for each other. Whoever sets the variable is obeyed.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        return _run(argv)
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


def _run(argv: Sequence[str] | None) -> int:
    args, rest = parser().parse_known_args(argv)
    if rest and not args.passes_options_on:
        args.parser.error(f"unrecognized arguments: {' '.join(rest)}")
    args.rest = rest
    status = int(args.run(args))
    sys.stdout.flush()
    return status


def _drop_output() -> None:
    """Send what is left of our output nowhere, so that Python does not fail over it at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    sys.exit(main())
