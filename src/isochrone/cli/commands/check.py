"""Check runs for slow nodes and regressions; exit 1 if there are any, 4 if that is not known.

The nodes, ranks and pairs of a latency map are compared with each other. With --baseline, each
run is also compared with at least three earlier runs of the same experiment with the same settings;
latency maps need only have hosts in common. The verdict is "good", "slow" (compared with peers in
the map), "slower" (than the baseline) or "not known".
"""

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path

import msgspec

from isochrone.base.errors import InputError
from isochrone.base.files import write_text
from isochrone.base.text import printable, warn
from isochrone.base.verdicts import GOOD, NOT_KNOWN, NOT_KNOWN_EXIT
from isochrone.changes.check import Check, Earlier, Memory, check, hosts_of, together
from isochrone.changes.pages.check import blocks, check_page, closing
from isochrone.changes.pages.junit import junit
from isochrone.changes.pages.openmetrics import openmetrics
from isochrone.changes.thresholds import CHANGE_MARGIN
from isochrone.changes.waivers import Rule, is_host_name, parse_rule
from isochrone.console.as_json import add_json, print_json
from isochrone.console.input import earlier_runs, files_of
from isochrone.console.options import (
    add_expert,
    add_flag,
    add_force,
    add_journal,
    add_option,
    add_threshold,
    read_percent,
)
from isochrone.console.output import check_output, print_path
from isochrone.formats.comparison_sides import runs_of
from isochrone.pages.terminal import print_blocks
from isochrone.runfile.baseline_folder import Others, add, files

EXAMPLES = (
    (
        "is a node slow? write the bad hosts to a file",
        "isochrone check run.jsonl --hosts-out bad.txt",
    ),
    ("is tonight's run slower than earlier ones?", "isochrone check run.jsonl --baseline nights"),
)


class _Checked(msgspec.Struct):
    """The verdict on runs, and the hosts that are bad.

    Attributes
    ----------
    exit
        Exit code of the command.
    refused_hosts
        Bad hosts whose names are none.
    suspects
        Not confirmed, or ends of slow pairs: one of them, or what is between.
    """

    verdict: str
    exit: int
    bad_hosts: list[str]
    refused_hosts: list[str]
    suspects: list[str]
    unused_rules: list[str]
    runs: list[Check]


DOCUMENTS = {"check": _Checked}


def add_arguments(parser: ArgumentParser) -> None:
    """Add the options of ``isochrone check``."""
    add_option(
        parser,
        "runs",
        "RUN",
        str,
        "run files or their folders; each run is checked separately",
        nargs="+",
    )
    add_option(
        parser,
        "--baseline",
        "FOLDER",
        Path,
        "also compare with these reference runs (see isochrone baseline)",
    )
    add_flag(
        parser,
        "--add",
        "add runs to the baseline unless something is slow, slower or possibly slow; the folder "
        "is created if missing",
    )
    add_option(
        parser,
        "--allow",
        "RULE",
        str,
        "allow a known problem, such as host=n05, pair=n1,n2, or rank=3:30%% (a slowdown of up to "
        "30%%): do not fail for it; may be repeated",
        action="append",
        default=[],
    )
    add_option(parser, "--hosts-out", "FILE", Path, "write the hosts with confirmed problems")
    add_expert(parser, "--suspects-out", "FILE", Path, "write the hosts with unconfirmed problems")
    add_option(parser, "--junit", "FILE", Path, "write the verdict as JUnit XML")
    add_option(
        parser,
        "--page",
        "FILE",
        Path,
        "write an HTML page: the verdict, its reasons, and the pictures of the runs",
    )
    add_option(
        parser,
        "--openmetrics",
        "FILE",
        Path,
        "write the verdict as metrics for Prometheus (node_exporter's textfile collector)",
    )
    add_force(parser)
    add_json(parser)
    add_journal(parser)
    one_of = parser.add_mutually_exclusive_group()
    add_flag(one_of, "--strict", 'exit with 1 instead of 4 if a verdict is "not known"')
    add_flag(one_of, "--lenient", 'exit with 0 instead of 4 if a verdict is "not known"')
    add_option(
        parser,
        "--worse",
        "PERCENT",
        read_percent,
        "call a run slower if a time is worse than its typical time in the baseline by more than "
        "this (default: 5%%)",
        default=CHANGE_MARGIN,
    )
    add_threshold(parser)


def run(args: Namespace) -> int:
    """Judge, write what was asked for, and say it."""
    rules = list(dict.fromkeys(map(parse_rule, args.allow)))
    _check_outputs(args)
    checks = _judge(args, rules)
    used = {finding.allowed for judgement in checks for finding in judgement.findings}
    unused = [rule.text for rule in rules if rule.text not in used]
    bad, suspects = hosts_of(checks)
    hosts, doubtful = ([host for host in names if is_host_name(host)] for names in (bad, suspects))
    # could harm whoever reads the lists
    refused = [host for host in (*bad, *suspects) if not is_host_name(host)]
    verdict = together(checks)
    code = {GOOD: 0, NOT_KNOWN: 1 if args.strict else 0 if args.lenient else NOT_KNOWN_EXIT}
    exit_code = code.get(verdict, 1)
    for path, text in (
        (args.hosts_out, "".join(f"{host}\n" for host in hosts)),
        (args.suspects_out, "".join(f"{host}\n" for host in doubtful)),
        (args.junit, junit(checks).decode()),
        (args.openmetrics, openmetrics(checks)),
    ):
        if path is not None:
            write_text(path, text)
    if args.page is not None:
        from isochrone.pages.html.render import write_page

        write_page(check_page(checks, unused), args.page)
    fit = [judgement.run for judgement in checks if args.add and judgement.fit]
    added = add(args.baseline, fit) if fit else []
    if args.json:
        print_json(_Checked(verdict, exit_code, hosts, refused, suspects, unused, checks))
    else:
        for judgement in checks:
            print_blocks(blocks(judgement))
        print_blocks(closing(checks, unused))
        for copy in added:
            print_path(copy.path, " (added to the baseline)" if copy.new else " (already there)")
    for host in refused:
        warn(f"host '{printable(host, 80)}' is left out of the host list: the name is not valid")
    return exit_code


def _judge(args: Namespace, rules: Sequence[Rule]) -> list[Check]:
    """Judge each run."""
    first = args.add and _is_new(args.baseline)
    if args.baseline is not None and not first:
        files(args.baseline)  # says that there is no such folder before anything else is read
    judged = runs_of(*args.runs)
    baseline_runs = earlier_runs(args.baseline) if args.baseline is not None and not first else []
    memory, earlier = Memory(), Others(baseline_runs)
    return [
        check(
            judged_run,
            Earlier(str(args.baseline), earlier.but(judged_run.path)) if args.baseline else None,
            rules,
            threshold=args.threshold,
            margin=args.worse,
            memory=memory,
        )
        for judged_run in judged
    ]


def _is_new(baseline: Path | None) -> bool:
    """Whether the folder that --add fills does not exist yet."""
    if baseline is None:
        raise InputError("--add needs --baseline FOLDER")
    return not baseline.exists()


def _check_outputs(args: Namespace) -> None:
    """Refuse files that may not be written, before anything is read."""
    outputs: dict[Path, str] = {}
    inputs = files_of(args.runs)
    for option in ("--hosts-out", "--suspects-out", "--junit", "--openmetrics", "--page"):
        path = getattr(args, option[2:].replace("-", "_"))
        if path is None:
            continue
        # a collector reads the metrics of the last night: they replace those of the night before
        check_output(path, force=args.force or option == "--openmetrics", inputs=inputs)
        first = outputs.setdefault(path.resolve(), option)
        if first != option:
            raise InputError(f"{first} and {option} name the same file", where=path)
