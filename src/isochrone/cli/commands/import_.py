"""Convert results of other programs to run files, or traces to application descriptions."""

from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from msgspec.structs import replace

from isochrone.applications.description import reading
from isochrone.applications.traces.deriving import describe
from isochrone.base.errors import InputError, failing
from isochrone.base.text import warn
from isochrone.console.input import add_tests, wanted
from isochrone.console.options import add_message_size, add_option
from isochrone.console.output import add_output, check_output, output_of, print_path
from isochrone.formats import trace as traces
from isochrone.formats.table_notes import add_table_notes
from isochrone.runfile import importer as importers
from isochrone.runfile.any_file import foreign, tests_of
from isochrone.runfile.file import write
from isochrone.runfile.file_type import other_kind
from isochrone.runfile.run import Run

EXAMPLES = (
    ("the output of an OSU benchmark", "isochrone import latency.txt --from osu -o latency.jsonl"),
    (
        "an application description from a trace",
        "isochrone import traces.otf2 --from otf2 -o app.yaml",
    ),
)


def add_arguments(parser: ArgumentParser) -> None:
    """Add the options of ``isochrone import``."""
    runs, programs = importers.names(), traces.names()
    add_option(
        parser,
        "file",
        "FILE",
        Path,
        "file to convert; if a trace has one file per rank: all files, or their folder",
        nargs="+",
    )
    add_option(
        parser,
        "--from",
        "FORMAT",
        str,
        "format of results, such as osu or csv (default: recognised), or of traces: "
        f"{', '.join(programs)}",
        dest="source",
        choices=sorted({*runs, *programs}),
    )
    add_tests(parser, hidden=False)
    add_message_size(parser)
    add_output(
        parser,
        "file to write (default: the name of FILE with the suffix .jsonl or .yaml)",
    )
    add_table_notes(parser)


def run(args: Namespace) -> int:
    """Write the file, say where it is and what was wrong with the other."""
    args.source = args.source or _recognised(args.file[0])
    if args.source in traces.names():
        return _description(args)
    _only_one(args)
    path = output_of(args, args.file[0].with_suffix(".jsonl"), args.file)
    importer = importers.load(args.source)
    if args.rank_count is not None and not importer.takes_ranks:
        raise _no_ranks(args.source)
    try:
        runs = importer.all_runs(
            args.file[0], replace(wanted(args, launches=True), formats=(args.source,))
        )
    except InputError as error:
        if (recognised := foreign(args.file[0])) not in ("", args.source):
            error.hint = f"--from {recognised}"
        raise
    paths = _names(path, runs)
    for path in paths:
        check_output(path, force=args.force, inputs=args.file)
    for imported, path in zip(runs, paths, strict=True):
        write(imported, path, overwrite=args.force)
    for text in dict.fromkeys(
        warning["text"] for imported in runs for warning in imported.warnings
    ):
        warn(text)
    for path in paths:
        print_path(path)
    return 0


def _recognised(path: Path) -> str:
    """Return the format of a file by its content."""
    if name := foreign(path):
        return name
    with failing("the file cannot be read", path):
        path.stat()
    what, hint = other_kind(path) if path.is_file() else ("", "")
    raise InputError(
        what or "this is no result of another program", where=path, hint=hint or "--from FORMAT"
    )


def _names(path: Path, runs: Sequence[Run]) -> list[Path]:
    """Return a file for each run: ``a-osu_bw.jsonl``, and ``a-osu_bw-1.jsonl`` for launches."""
    if len(runs) == 1:
        return [path]
    tests = [tests_of(run).replace(", ", "+") for run in runs]
    alone = len({*tests}) == 1
    total, seen = Counter(tests), Counter[str]()
    names = []
    for test in tests:
        seen[test] += 1
        parts = [path.stem, *[test] * (not alone), *[str(seen[test])] * (total[test] > 1)]
        names.append(path.with_name("-".join(parts) + path.suffix))
    return names


def _description(args: Namespace) -> int:
    """Write the description of what a trace shows."""
    if args.rank_count is not None:
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
