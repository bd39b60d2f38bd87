"""Print a summary of run files, or of results of other programs.

Of a log with several tests, the tests are listed; --test shows one of them.

The intervals of a single run do not cover differences between launches. To cover such differences,
measure with --launches 5 and show the files with --pool.
"""

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path

from isochrone.base.documents import Schema, record
from isochrone.base.text import printable_path
from isochrone.base.units import format_bytes
from isochrone.console.as_json import add_json, print_json
from isochrone.console.input import add_tests, files_of, read_all, tell_partial, wanted
from isochrone.console.options import add_flag, add_message_size, add_option, add_threshold
from isochrone.formats.table_notes import add_table_notes
from isochrone.pages import terminal
from isochrone.pages.common import document, page_of
from isochrone.pages.page import Asked, Block, Row, Sentence, Table, columns_of
from isochrone.runfile.importer import Wanted

EXAMPLES = (
    ("what did a run find?", "isochrone show map.jsonl"),
    ("run-1.jsonl to run-5.jsonl, together", "isochrone show --pool run.jsonl"),
    ("what does the log of a job contain?", "isochrone show slurm-123.out"),
)


def _of_pool() -> Schema:
    from isochrone.changes.launches import Launches

    return record(Launches)


DOCUMENTS = {"show-pool": _of_pool}


def add_arguments(parser: ArgumentParser) -> None:
    """Add the options of ``isochrone show``."""
    add_option(
        parser,
        "files",
        "FILE",
        str,
        "run files or their folders; run.jsonl also means run-1.jsonl, run-2.jsonl …; - is "
        "standard input",
        nargs="+",
    )
    add_json(parser)
    add_flag(parser, "--pool", "pool all files: show them as launches of one measurement")
    add_message_size(parser)
    add_threshold(parser)
    add_tests(parser, hidden=False)
    add_table_notes(parser)


def run(args: Namespace) -> int:
    """Print what each file holds, or all launches together."""
    if args.pool:
        return _pooled(args)
    request = Asked(args.bytes, args.threshold)
    files = files_of(args.files)
    if args.json:
        runs = [run for path in files for run in read_all(path, wanted(args))]
        documents = [document(run, request) for run in runs]
        print_json(documents[0] if len(documents) == 1 else documents)
        return 0
    for index, path in enumerate(files):
        if index:
            print()
        runs = read_all(path, wanted(args))
        if len(runs) == 1 or args.tests or args.op:
            for k, run in enumerate(runs):
                print("\n" * (k > 0), end="")
                terminal.render(page_of(run, request))
        else:
            terminal.print_blocks(contents(path, wanted(args)))
    return 0


def contents(path: Path, which: Wanted) -> list[Block]:
    """Say which tests a log has."""
    from isochrone.formats.log import tests_in

    tests, left_out = tests_in(path, which)
    rows = tuple(
        Row((one.test, str(one.ranks or "?"), _extent(one.sizes), str(one.launches), str(one.line)))
        for one in tests
    )
    columns = columns_of("test", ">ranks", ">sizes", ">times", ">first line")
    title = f"{printable_path(path)} has several tests; --test shows one"
    return [Table(title, columns, rows), *[Sentence(left_out)] * bool(left_out)]


def _extent(sizes: Sequence[int]) -> str:
    ends = [*dict.fromkeys(map(format_bytes, (sizes[0], sizes[-1])))]
    return f"{len(sizes)}: {'-'.join(ends)}"


def _pooled(args: Namespace) -> int:
    from isochrone.changes.launches import pool
    from isochrone.changes.pages import launches
    from isochrone.formats.comparison_sides import runs_of

    runs = runs_of(*args.files)
    pooled = pool(runs, args.bytes)
    for launch in runs:
        if not launch.complete:
            tell_partial(launch.where)
    if args.json:
        print_json(pooled)
    else:
        terminal.print_blocks(launches.blocks(pooled))
    return 0
