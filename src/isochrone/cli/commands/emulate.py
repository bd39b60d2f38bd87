"""Run synthetic applications at the same time and measure their slowdown.

SPEC describes each application as phases of computation and communication (docs/applications.md).
One MPI job runs each application alone, each pair at the same time, and all at the same time. The
result is how much each application slows down when the others run.
"""

from argparse import Action, ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from isochrone import views
from isochrone.applications.description import schema
from isochrone.applications.description.description import RUNS, Description
from isochrone.applications.description.lowering import program
from isochrone.applications.description.phases import ExchangeSpec, leaves
from isochrone.applications.description.program import Program
from isochrone.applications.description.reading import as_document, parse
from isochrone.applications.description.reading import read as read_description
from isochrone.applications.emulation.summary import ranks_on_node, sharing
from isochrone.applications.emulation.timing import MIN_REPEATS
from isochrone.base.errors import InputError
from isochrone.base.text import command_line
from isochrone.base.units import format_seconds
from isochrone.cli.emulations import EXPERIMENT, notes_of, written
from isochrone.cli.launches import default_name
from isochrone.cli.long_work import add_yes, agree
from isochrone.console.measuring import add_setup, follow, setup_of
from isochrone.console.options import (
    add_expert,
    add_flag,
    add_option,
    count_of,
    hide,
    read_setting,
    read_time,
    values_of,
)
from isochrone.console.output import add_output, check_output, output_of, print_path
from isochrone.measure.estimate import Expected
from isochrone.measure.setup import Setup
from isochrone.pages import terminal
from isochrone.pages.common import page_of
from isochrone.pages.page import Row, Table, columns_of
from isochrone.pages.terminal import print_blocks
from isochrone.pages.words import ratio_of
from isochrone.runfile.file import read
from isochrone.runfile.run import Run

EXAMPLES = (
    (
        "how much do the applications slow each other down?",
        "isochrone emulate fig2.yaml -n 16 -o fig2.jsonl",
    ),
    (
        "the same with 1, 2 and 4 ranks on a node",
        "isochrone emulate fig2.yaml -n 16 --per-node 1,2,4 -o fig2.jsonl",
    ),
)

Together = list[str | list[str]]
"""Which applications run at the same time: a word, or their names."""


def add_arguments(parser: ArgumentParser) -> None:
    """Add the options of ``isochrone emulate``."""
    add_option(
        parser, "spec", "SPEC", Path, "file that describes the applications (YAML, JSON or TOML)"
    )
    parser.add_argument(
        "--schema",
        action=_Schema,
        nargs=0,
        help="print the JSON Schema of descriptions, for editors, and exit",
    )
    add_option(
        parser,
        "-n --ranks",
        "N",
        count_of("ranks"),
        "number of ranks (default: as SPEC says, or all available)",
    )
    add_option(
        parser,
        "--repeats",
        "N",
        count_of("runs of at least 1", 9999),
        f"runs of each combination; intervals need {MIN_REPEATS} or more (default: as SPEC says)",
    )
    add_option(
        parser,
        "--combinations",
        "LIST",
        _runs,
        "combinations to run: alone, pairs, all, or names such as victim+bully (default: as SPEC "
        "says)",
    )
    add_option(
        parser,
        "--set",
        "NAME=VALUE",
        read_setting,
        "set a parameter of SPEC, such as n=1024, or of one application: APP.n=1024; may be "
        "repeated",
        action="append",
        default=[],
    )
    add_option(
        parser,
        "--per-node",
        "LIST",
        values_of("ranks"),
        "compare these numbers of ranks per node, such as 1,2,4",
    )
    add_option(
        parser,
        "--time-limit",
        "TIME",
        read_time,
        "start no further run after TIME, such as 5m (default: no limit)",
    )
    add_expert(
        parser, "--kill-after", "TIME", read_time, "end a launch after TIME (default: never)"
    )
    add_setup(parser)
    add_yes(parser)
    add_flag(parser, "--quiet", "print no progress and no summary")
    hide(parser, "--schema", "--mpicc", "--launcher", "--dry-run", "--quiet")
    add_output(parser, "run file to write (default: SPEC-DATE-TIME.jsonl)")


def run(args: Namespace) -> int:
    """Work out the description, run it, and show what was found."""
    path = output_of(args, default_name(args.spec.stem), [args.spec])
    description = _asked(args)
    setup, ranks, job_program = _ranks(args, description)
    setup = setup or setup_of(args)
    notes = notes_of(description, setup)
    per_node = args.per_node or [0]
    if max(per_node) > ranks:
        raise InputError(f"the job has only {ranks} ranks", where="--per-node", hint="see -n")
    paths = [path.with_stem(f"{path.stem}-ppn{k}") if k else path for k in per_node]
    picture = path.with_suffix(".png")
    for file in [picture, *paths] if args.per_node else ():
        check_output(file, force=args.force)
    with TemporaryDirectory() as folder, written(job_program, path) as file:
        options = ["--program", str(file)]
        options += ["--time-limit", str(args.time_limit)] if args.time_limit is not None else []
        setup.check(EXPERIMENT, options, ranks)
        if setup.launcher.stands_alone and args.time_limit and not args.dry_run:
            agree(Expected(args.time_limit, "at most"), args)
        for k, out in zip(per_node, paths, strict=True):
            chosen = setup.with_per_node(ranks, k, Path(folder)) if k else setup
            tokens = chosen.tokens(EXPERIMENT, options, ranks, out, force=args.force, notes=notes)
            if args.dry_run:
                print(command_line(tokens))
                continue
            follow(tokens, out, args.spec.stem, args.kill_after, quiet=args.quiet)
            if k and (node_ranks := ranks_on_node(read(out))) != k:
                raise InputError(
                    f"the launcher put {node_ranks} ranks on a node, not {k}",
                    where=out,
                    hint="give the job more nodes, or fewer -n",
                )
    if args.dry_run:
        return 0
    runs = [read(out) for out in paths]
    if args.per_node:
        views.save(views.draw("per-node", runs), picture)
    if args.quiet:
        return 0
    if args.per_node:
        print_blocks([_compared(runs)])
        print_path(picture)
    else:
        terminal.render(page_of(runs[0]))
    return 0


def _compared(runs: Sequence[Run]) -> Table:
    """Return wall times and slowdowns by the number of ranks on a node."""
    rows = [
        Row((name, str(k), format_seconds(seconds.median), ratio_of(slowdown)))
        for name, of in sharing(runs).items()
        for k, seconds, slowdown in of
    ]
    title = "Slowdown: wall time / wall time with the fewest ranks on a node; 95 % interval"
    return Table(
        title, columns_of("application", ">ranks on a node", ">time", ">slowdown"), tuple(rows)
    )


def _asked(args: Namespace) -> Description:
    """Read the description, with what is asked for instead of what it says."""
    description = read_description(args.spec, dict(args.set))
    document = as_document(description)
    if args.repeats is not None:
        document["repeats"] = args.repeats
    if args.combinations is not None:
        document["runs"] = _known_runs(args.combinations, [app.name for app in description.apps])
    adapted = parse(document, str(args.spec))
    _check_folders(adapted)
    return adapted


def _known_runs(runs: Together, names: list[str]) -> Together:
    """Return which applications run together; a single name is one that runs alone."""
    combinations = [
        combination if isinstance(combination, list) or combination in RUNS else [combination]
        for combination in runs
    ]
    for name in (
        name
        for combination in combinations
        if isinstance(combination, list)
        for name in combination
    ):
        if name not in names:
            raise InputError(
                f"no application '{name}'",
                where="--combinations",
                hint=f"there are: {', '.join([*names, *RUNS])}",
            )
    return combinations


def _check_folders(description: Description) -> None:
    """Refuse files for messages in folders that are not there."""
    for app in description.apps:
        for phase in leaves(app.phases):
            if isinstance(phase, ExchangeSpec) and phase.method.path:
                folder = Path(phase.method.path).parent
                if not folder.is_dir():
                    raise phase.at.key("method").error(f"the folder {folder} does not exist")


def _ranks(args: Namespace, description: Description) -> tuple[Setup | None, int, Program]:
    """Return the ranks of the job and what they do; an MPI only if it has to be asked for them."""
    setup, ranks = None, args.ranks
    if ranks is None and any(app.ranks is None and app.on is None for app in description.apps):
        setup = setup_of(args)
        ranks = setup.default_ranks()
    job_program = program(description, ranks)
    named = [rank + 1 for app in job_program.applications for rank in app.on]
    return setup, ranks or max([job_program.ranks, *named]), job_program


class _Schema(Action):
    """Prints the schema of descriptions and ends, whatever else is asked for."""

    def __call__(self, parser: ArgumentParser, *args: object, **options: object) -> None:
        """Print it."""
        print(schema.text(), end="")
        parser.exit()


def _runs(text: str) -> Together:
    """Read ``alone,pairs,victim+bully``."""
    combinations = [combination.strip() for combination in text.split(",")]
    if not all(all(name for name in combination.split("+")) for combination in combinations):
        raise InputError(f"'{text}' has an empty name between two commas")
    return [
        combination.split("+") if "+" in combination else combination
        for combination in combinations
    ]
