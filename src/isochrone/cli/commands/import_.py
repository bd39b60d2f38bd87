"""Convert results of other programs to run files, or traces to application descriptions."""

from argparse import ArgumentParser, Namespace
from collections.abc import Iterable
from pathlib import Path

from isochrone.applications.description import reading
from isochrone.applications.traces.deriving import describe
from isochrone.base.errors import InputError
from isochrone.base.text import warn
from isochrone.console.options import add_message_size, add_option, count_of
from isochrone.console.output import add_output, output_of, print_path
from isochrone.formats import trace as traces
from isochrone.formats.table_notes import add_table_notes
from isochrone.runfile import importer as importers
from isochrone.runfile.file import write

EXAMPLES = (
    ("the output of an OSU benchmark", "isochrone import latency.txt --from osu -o latency.jsonl"),
    ("an application description from a trace",
     "isochrone import traces.otf2 --from otf2 -o app.yaml"),
)  # fmt: skip


def add_arguments(parser: ArgumentParser) -> None:
    """Add the options of ``isochrone import``."""
    runs, programs = importers.names(), traces.names()
    add_option(parser, "file", "FILE", Path,
        "file to convert; if a trace has one file per rank: all files, or their folder",
        nargs="+")  # fmt: skip
    add_option(parser, "--from", "FORMAT", str,
        f"format of results: {', '.join(runs)}; or of traces: {', '.join(programs)} "
        "(of isochrone record)",
        dest="source", choices=sorted({*runs, *programs}), required=True)  # fmt: skip
    add_option(parser, "--ranks", "N", count_of("ranks", 1_000_000),
        "number of ranks (default: from the file; output of OSU collectives lacks it)")  # fmt: skip
    add_message_size(parser)
    add_output(
        parser, "file to write (default: the name of FILE with the suffix .jsonl or .yaml)",
    )  # fmt: skip
    add_table_notes(parser)


def run(args: Namespace) -> int:
    """Write the file, say where it is and what was wrong with the other."""
    if args.source in traces.names():
        return _description(args)
    _only_one(args)
    path = output_of(args, args.file[0].with_suffix(".jsonl"), args.file)
    importer = importers.load(args.source)
    if args.ranks is not None and not importer.takes_ranks:
        raise _no_ranks(args.source)
    found = importer.run(args.file[0], args.ranks)
    write(found, path, overwrite=args.force)
    return _tell(path, (warning["text"] for warning in found.warnings))


def _description(args: Namespace) -> int:
    """Write the description of what a trace shows."""
    if args.ranks is not None:
        raise _no_ranks(args.source)
    form = traces.load(args.source)
    if form.files == "one":
        _only_one(args)
    path = output_of(args, args.file[0].with_suffix(".yaml"), args.file)
    document, warnings = describe(form.read(args.file))
    reading.write(reading.parse(document, str(path)), path, warnings)
    return _tell(path, warnings)


def _only_one(args: Namespace) -> None:
    if len(args.file) > 1:
        raise InputError(f"--from {args.source} reads one file, not {len(args.file)}")


def _no_ranks(source: str) -> InputError:
    return InputError(f"files of {source} already contain the number of ranks", where="--ranks")


def _tell(path: Path, warnings: Iterable[str]) -> int:
    for warning in warnings:
        warn(warning)
    print_path(path)
    return 0
