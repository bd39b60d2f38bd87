"""Plot the times of runs over days, and mark changes, in one HTML page.

Each curve shows one kind of measurement. Latency maps belong together if they share a host, other
runs if they have the same hosts. A mark shows where the MPI library, an option or another setting
changed.
"""

import argparse
import hashlib
from contextlib import suppress
from pathlib import Path

import msgspec

from isochrone import __version__
from isochrone.base import journal
from isochrone.base.errors import InputError
from isochrone.base.files import whole_file
from isochrone.base.text import warn
from isochrone.changes.nights import Night, night_of
from isochrone.changes.pages.history import history_page
from isochrone.console.input import add_tests, files_of, read_one, wanted
from isochrone.console.options import add_journal, add_option
from isochrone.console.output import add_output, output_of, print_path
from isochrone.measure.cache import cache_folder
from isochrone.pages.html.render import write_page
from isochrone.runfile.baseline_folder import files
from isochrone.runfile.importer import Wanted
from isochrone.runfile.run import NO_END

EXAMPLES = (
    ("the runs of a baseline over time", "isochrone history nights -o history.html"),
    ("write the page again every morning", "isochrone history nights -o history.html --force"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``isochrone history``."""
    add_option(parser, "folder", "FOLDER", Path, "baseline, or any folder of run files")
    add_tests(parser)
    add_output(parser, "HTML file (default: history.html)")
    add_journal(parser)


def run(args: argparse.Namespace) -> int:
    """Write the page, and say where it is."""
    stored = files(args.folder) or files_of([args.folder])
    path = output_of(args, Path("history.html"), stored)
    which = wanted(args)
    cache_file = _kept_in(args.folder, which)
    cached = _kept(cache_file)
    nights = [
        night
        for file in stored
        if (night := _night(file, which, cached.get(str(file)))) is not None
    ]
    anew = sum(night is not cached.get(night.file) for night in nights)
    journal.note(f"{len(nights)} runs, of which {anew} were read; the rest is in {cache_file}")
    try:
        write_page(history_page(nights, lambda file: read_one(Path(file), which)), path)
    finally:
        _keep(cache_file, nights)
    print_path(path)
    return 0


def _night(file: Path, which: Wanted, cached: Night | None) -> Night | None:
    """Return what is kept of a run; None, with a warning, if it cannot be read."""
    try:
        stat = file.stat()
        stamp = stat.st_size, stat.st_mtime_ns
        if cached is None or cached.stamp != stamp:
            cached = night_of(read_one(file, which), str(file), stamp)
    except (InputError, OSError) as error:
        warn(f"skipped: {error}", 510)
        return None
    if cached.left_out not in ("", NO_END):
        warn(f"skipped: {file}: {cached.left_out}", 510)
    return cached


def _kept_in(folder: Path, which: Wanted) -> Path | None:
    """Return the file that keeps what the runs of a folder say; None if there can be none."""
    name = hashlib.sha256(f"{__version__} {folder.absolute()} {which}".encode()).hexdigest()
    with suppress(InputError):
        return cache_folder() / f"history-{name[:16]}.msgpack"
    return None


def _kept(path: Path | None) -> dict[str, Night]:
    """Read what was kept; empty if that cannot be read."""
    with suppress(OSError, msgspec.MsgspecError):
        if path is not None:
            nights = msgspec.msgpack.decode(path.read_bytes(), type=list[Night])
            return {night.file: night for night in nights}
    return {}


def _keep(path: Path | None, nights: list[Night]) -> None:
    with suppress(InputError):
        if path is not None:
            with whole_file(path) as stream:
                stream.write(msgspec.msgpack.encode(nights))
