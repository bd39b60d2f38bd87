"""isochrone: measure, model, predict and reduce what MPI communication costs."""

from __future__ import annotations

import argparse
import contextlib
import errno
import io
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, TextIO

from isochrone import __version__
from isochrone.base.errors import ExhaustedError, Interrupted, IsochroneError
from isochrone.base.signals import taken_by
from isochrone.base.text import printable
from isochrone.cli.parser import Parser, add_subcommands

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


GROUPS = {
    "every day": ("measure", "show", "check", "compare", "report"),
    "understand": ("fit", "predict", "plot", "suite", "history"),
    "optimise": ("tune", "place", "exec", "record"),
    "applications": ("emulate", "scale"),
    "files and set-up": (
        "import",
        "export",
        "platform",
        "baseline",
        "build",
        "config",
        "doctor",
        "completion",
        "demo",
        "help",
    ),
}
"""Commands as the help lists them; others, such as those of plug-ins, come last."""

FIRST_STEPS = """\
Isochrone measures, models and predicts the communication of MPI programs. To begin:

  isochrone measure latency-map -n 4 -o map.jsonl    round trips between all pairs of 4 ranks
  isochrone show map.jsonl                           levels, slow nodes and slow pairs
  isochrone report map.jsonl -o report.html          the same with figures, as one HTML page

isochrone --help lists all commands, isochrone COMMAND --help describes a command."""


class _Top(Parser):
    """Lists the commands in groups."""

    def format_help(self) -> str:
        """Return the help."""
        formatter = self._get_formatter()
        formatter.add_usage(self.usage, self._actions, [])
        formatter.add_text(self.description)
        commands = {
            command.dest: command
            for action in self._actions
            if isinstance(action, argparse._SubParsersAction)
            for command in action._choices_actions
        }
        grouped = {name for names in GROUPS.values() for name in names}
        others = {"others": tuple(name for name in commands if name not in grouped)}
        for title, names in (GROUPS | others).items():
            formatter.start_section(title)
            formatter.add_arguments(commands[name] for name in names if name in commands)
            formatter.end_section()
        formatter.start_section("options")
        formatter.add_arguments(option for option in self._actions if option.option_strings)
        formatter.end_section()
        formatter.add_text(self.epilog)
        return formatter.format_help()


def parser() -> Parser:
    """Build the parser: one subcommand a file, of which only the named one is imported."""
    top = _Top(
        prog="isochrone",
        description="Measure, model, predict and optimise the communication of MPI jobs.",
        epilog="isochrone COMMAND --help describes a command. Exit codes: 0 success; 1 a "
        "requested check failed; 2 wrong usage or input; 3 the measurement failed; 4 the answer "
        "of check is not known.",
    )
    top.add_argument("--version", action="version", version=f"isochrone {__version__}")
    top.set_defaults(passes_options_on=False, environ=dict(os.environ))
    add_subcommands(top, "cli.commands", "COMMAND")
    return top


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit code."""
    sys.stdout, sys.stderr = _safe(sys.stdout), _safe(sys.stderr)
    interrupted = False

    def interrupt(signum: int, frame: object) -> None:
        """End a command as Ctrl-C does, at the first signal: what has to be tidied up is."""
        nonlocal interrupted
        if not interrupted:
            interrupted = True
            raise KeyboardInterrupt(signum)

    with taken_by(interrupt):
        try:
            with _no_memory_is_an_error():
                try:
                    return _reported(argv)
                finally:
                    sys.stdout.flush()  # after --help, too
        except OSError as error:  # a full disk, for example; what we know better is handled before
            name = error.filename or ("output" if error.errno == errno.ENOSPC else "")
            where = f"{printable(name)}: " if name else ""
            print(f"isochrone: {where}{error.strerror or error}", file=sys.stderr)
            _drop_output()
            return 2
        except MemoryError:
            print("isochrone: there is not enough memory (see ulimit -v)", file=sys.stderr)
            return 2
        except RuntimeError as error:
            if "can't start new thread" not in str(error):
                raise
            print(f"isochrone: {ExhaustedError()}", file=sys.stderr)
            return ExhaustedError.exit_code


@contextlib.contextmanager
def _no_memory_is_an_error() -> Iterator[None]:
    """Raise MemoryError where C code has swallowed it, or calls it something else.

    A font that got no memory, for example, lacks letters; FreeType and Expat have words of their
    own, and an interpreter that gets none for an exception has a SystemError.
    """
    previous_hook, lost = sys.unraisablehook, False

    def hear(unraisable: sys.UnraisableHookArgs) -> None:
        nonlocal lost
        if issubclass(unraisable.exc_type, MemoryError):
            lost = True
        else:
            previous_hook(unraisable)

    sys.unraisablehook = hear
    try:
        yield
        if lost:
            raise MemoryError
    except Exception as error:
        if lost or isinstance(error, SystemError) or "out of memory" in str(error):
            raise MemoryError from error
        raise
    finally:
        sys.unraisablehook = previous_hook


class _Unread(io.FileIO):
    """A pipe whose reader may go, as in `isochrone check … | head`: the exit code stays."""

    def write(self, data: ReadableBuffer) -> int:
        """Write; what nobody reads is dropped."""
        try:
            return super().write(data)
        except BrokenPipeError:
            return memoryview(data).nbytes


def _safe(stream: TextIO | None) -> TextIO:
    """Let output be lost rather than be a fault: closed, or of a locale without our characters."""
    if stream is None:
        return open(os.devnull, "w")  # noqa: PTH123 - for as long as we run
    if not isinstance(stream, io.TextIOWrapper):
        return stream
    # names of files need not be UTF-8, and go out as they came in
    errors = "surrogateescape" if stream.encoding.lower() in ("utf-8", "utf8") else "replace"
    if stream not in (sys.__stdout__, sys.__stderr__):
        stream.reconfigure(errors=errors)
        return stream
    raw = _Unread(stream.fileno(), "w", closefd=False)
    unbuffered = stream.write_through  # nothing is buffered: python -u
    return io.TextIOWrapper(
        raw if unbuffered else io.BufferedWriter(raw),
        stream.encoding,
        errors,
        line_buffering=stream.line_buffering,
        write_through=unbuffered,
    )


def _reported(argv: Sequence[str] | None) -> int:
    """Run the command; say what ended it, and return the exit code."""
    try:
        return _run(argv)
    except KeyboardInterrupt as stopped:
        error: IsochroneError = Interrupted(*stopped.args or [signal.SIGINT])
    except IsochroneError as failed:
        error = failed
    print(f"isochrone: {printable(error, 2000)}", file=sys.stderr)
    for line in error.details:
        print(f"  | {printable(line, 500)}", file=sys.stderr)
    return error.exit_code


def _run(argv: Sequence[str] | None) -> int:
    words = sys.argv[1:] if argv is None else argv
    if not words:
        print(FIRST_STEPS)
        return 0
    top = parser()  # keeps the environment as the user gave it
    top.check_order(words)
    # The systems solved here are small, and the machine is often busy or shared by many: threads
    # of the linear algebra would mostly wait for each other. Whoever sets the variable is obeyed.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    args, remaining = top.parse_known_args(words)
    if remaining and not args.passes_options_on:
        args.parser.refuse(remaining)
    args.rest = remaining
    with args.noting(args) if "noting" in args else contextlib.nullcontext():
        return _logged(args, words)


def _logged(args: argparse.Namespace, words: Sequence[str]) -> int:
    """Run the command; keep a journal if asked for."""
    verbose, log = getattr(args, "journal", False), getattr(args, "log", None)
    if not verbose and log is None:
        return int(args.run(args))
    from isochrone.base import journal
    from isochrone.console.output import check_output

    if log is not None:
        check_output(log, force=True)  # a log is appended to
    with journal.kept(verbose=verbose, file=log, command=words):
        code = int(args.run(args))
        journal.note(f"exit code {code}")
        return code


def _drop_output() -> None:
    """Send what is left of our output nowhere, so that Python does not fail over it at exit."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            with contextlib.suppress(OSError, ValueError):  # a stream that is no file
                os.dup2(nowhere, stream.fileno())


if __name__ == "__main__":
    sys.exit(main())
