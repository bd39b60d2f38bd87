"""Print a summary of run files.

The intervals of a single run do not cover differences between launches. To cover such differences,
measure with --launches 5 and show the files with --pool.
"""

from argparse import ArgumentParser, Namespace

from isochrone.base.documents import Schema, record
from isochrone.console.as_json import add_json, print_json
from isochrone.console.input import files_of, read, tell_partial
from isochrone.console.options import add_flag, add_message_size, add_option, add_threshold
from isochrone.formats.table_notes import add_table_notes
from isochrone.pages import terminal
from isochrone.pages.common import document, page_of
from isochrone.pages.page import Asked

EXAMPLES = (
    ("what did a run find?", "isochrone show map.jsonl"),
    ("run-1.jsonl to run-5.jsonl, together", "isochrone show --pool run.jsonl"),
)  # fmt: skip


def _of_pool() -> Schema:
    from isochrone.changes.launches import Launches

    return record(Launches)


DOCUMENTS = {"show-pool": _of_pool}


def add_arguments(parser: ArgumentParser) -> None:
    """Add the options of ``isochrone show``."""
    add_option(parser, "files", "FILE", str,
        "run files or their folders; run.jsonl also means run-1.jsonl, run-2.jsonl …",
        nargs="+")  # fmt: skip
    add_json(parser)
    add_flag(parser, "--pool",
        "pool all files: show them as launches of one measurement")  # fmt: skip
    add_message_size(parser)
    add_threshold(parser)
    add_table_notes(parser)


def run(args: Namespace) -> int:
    """Print what each file holds, or all launches together."""
    if args.pool:
        return _pooled(args)
    asked = Asked(args.bytes, args.threshold)
    files = files_of(args.files)
    if args.json:
        documents = [document(read(path), asked) for path in files]
        print_json(documents[0] if len(documents) == 1 else documents)
        return 0
    for number, path in enumerate(files):
        if number:
            print()
        terminal.render(page_of(read(path), asked))
    return 0


def _pooled(args: Namespace) -> int:
    from isochrone.changes.launches import pool
    from isochrone.changes.pages import launches
    from isochrone.formats.comparison_sides import runs_of

    runs = runs_of(*args.files)
    found = pool(runs, args.bytes)
    for one in runs:
        if not one.complete:
            tell_partial(one.where)
    if args.json:
        print_json(found)
    else:
        terminal.print_blocks(launches.blocks(found))
    return 0
