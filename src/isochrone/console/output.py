"""Where a command writes: nothing is overwritten unless the user says so."""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from isochrone.base.errors import InputError
from isochrone.base.text import printable_path
from isochrone.console.options import add_force, add_option


def add_output(parser: argparse.ArgumentParser, help_text: str, *, required: bool = False) -> None:
    """Add ``-o/--output`` and ``--force``."""
    add_option(parser, "-o --output", "FILE", Path, help_text, required=required)
    add_force(parser)


_PROMISED = (".png", ".svg", ".pdf", ".html", ".csv", ".jsonl")
"""Ends of names by which a person knows what is in a file."""


def check_output(path: Path, *, force: bool, inputs: Sequence[Path] = ()) -> Path:
    """Return ``path`` if it may be written.

    ``inputs`` are the files the command reads, which ``force`` does not give away.

    Raises
    ------
    InputError
        If it exists and ``force`` is false, is an input or no ordinary file, or its folder does
        not exist or cannot be written to.
    """
    where = str(path)
    if not path.parent.is_dir():
        raise InputError("the folder does not exist", where=where)
    if path.exists() and not path.is_file():
        raise InputError("it is not a regular file", where=where, hint="choose another name")
    if path.is_symlink():
        raise InputError("it is a symbolic link", where=where, hint="give its target")
    if any(path.exists() and file.exists() and path.samefile(file) for file in inputs):
        raise InputError("it is also the input", where=where, hint="choose another name")
    if path.exists() and not force:
        raise InputError("the file exists", where=where, hint="choose another name, or --force")
    if not os.access(path.parent, os.W_OK):
        raise InputError("the folder is not writable", where=where)
    return path


def output_of(
    args: argparse.Namespace, default: Path = Path(), inputs: Sequence[Path] = ()
) -> Path:
    """Return what ``--output`` names, or the default, if it may be written; as `check_output`."""
    output = check_output(args.output or default, force=args.force, inputs=inputs)
    check_suffix(args.output, default.suffix)
    return output


def check_suffix(path: Path | None, suffix: str) -> None:
    """Refuse a name that promises another kind of file than is written.

    Raises
    ------
    InputError
        If, for example, the name ends with ``.png``, and ``suffix`` is ``.html``.
    """
    if path is not None and suffix in _PROMISED and path.suffix in {*_PROMISED} - {suffix}:
        raise InputError(
            f"the file will be {suffix}, not {path.suffix}",
            where=path,
            hint=f"write -o {path.with_suffix(suffix)}; isochrone plot and isochrone export write "
            "other kinds",
        )


def print_path(path: Path, suffix: str = "") -> None:
    """Print the name of a file that was written, and words behind it.

    A script gets the name as it is; a terminal gets none of its control characters.
    """
    print(f"{printable_path(path) if sys.stdout.isatty() else path}{suffix}")
