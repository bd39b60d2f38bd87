"""Select the aggregators of collective I/O; write a ROMIO hints file.

Aggregators are the ranks that access the file for all others. The hints need ROMIO: they have no
effect with OMPIO (default of Open MPI 5), or with Open MPI 6. They also have no effect if the
program sets cb_nodes or cb_config_list itself, or if the ranks' accesses do not interleave.
"""

from argparse import ArgumentParser, Namespace
from pathlib import Path

from msgspec.structs import replace

from isochrone.base.errors import InputError
from isochrone.base.files import write_text
from isochrone.base.inference import Speedup
from isochrone.base.record import Members
from isochrone.base.text import printable, printable_path
from isochrone.collective_io.cli.aggregator_choice import (
    ByAll,
    ByOrder,
    PlacedByAll,
    PlacedByOrder,
    by_all,
    by_order,
    served,
)
from isochrone.collective_io.cli.placing import (
    block_placed,
    gained,
    print_warnings,
    unexchanged_first,
)
from isochrone.collective_io.cli.proof import (
    Launch,
    add_start,
    compare_in_turn,
    launch_plan,
    starter,
    tile_options,
)
from isochrone.collective_io.cli.workload import (
    add_job,
    add_measured_calls,
    add_model,
    files_read,
    job,
    whole_call,
)
from isochrone.collective_io.orders.setting import HINTS_FILE, SettingCosts
from isochrone.collective_io.workload.call import BUFFER, DEFAULT
from isochrone.console.as_json import add_json, print_json
from isochrone.console.options import add_flag
from isochrone.console.output import add_output, check_output
from isochrone.measure.allocation import Allocation
from isochrone.measure.arrangement import Arrangement
from isochrone.measure.job import folder_for
from isochrone.models.pages.model import predicted_by
from isochrone.pages import terminal
from isochrone.pages.terminal import print_blocks

EXAMPLES = (
    (
        "write a hints file",
        "isochrone place aggregators --hostfile nodes.txt --tiles 4x4 --model hot.json "
        "-o romio-hints",
    ),
    (
        "choose also the number of aggregators and their buffers",
        "isochrone place aggregators --table io.jsonl --model hot.json --choose all",
    ),
)


DOCUMENTS = {"place-aggregators": PlacedByOrder | PlacedByAll}


def add_arguments(parser: ArgumentParser) -> None:
    """Add the options of ``isochrone place aggregators``."""
    add_job(parser)
    add_model(parser)
    add_measured_calls(parser)
    parser.add_argument(
        "--choose",
        choices=("order", "all"),
        default="order",
        help="what to choose: order (hosts of the aggregators and their order, default), all (also "
        "their number, the buffer size and the stripes)",
    )
    add_json(parser)
    add_output(parser, "hints file to write (default: romio-hints)")
    add_flag(parser, "--dry-run", "write nothing")
    add_start(parser, "aggregators")


def run(args: Namespace) -> int:
    """Search, write the hints, and prove what was asked for."""
    nodes, wanted, model, given = job(args, host_list=True)
    given = given._replace(config=args.hints.get("cb_config_list", DEFAULT))
    of_bytes = model.of_bytes or args.calls
    if args.choose == "all" and wanted.buffer is None and of_bytes:
        wanted = replace(wanted, buffer=BUFFER)
    output = args.output or (Path(HINTS_FILE) if nodes.named else None)
    output = None if args.dry_run else output
    if args.driver == "ompio":
        if args.choose == "order":
            raise InputError(
                "OMPIO has no hint for the order of its aggregators",
                where="--driver",
                hint="use --choose all for the number of aggregators",
            )
        if args.output is not None:
            raise InputError("OMPIO reads no hints files, so none is written", where="--output")
        output = None
    if output is not None:
        check_output(output, force=args.force, inputs=[*files_read(args), *args.calls])
    call_model = whole_call(args, model) if args.calls else None
    costs = SettingCosts(wanted, nodes.by_rank, model, call_model)
    proposal = (by_order if args.choose == "order" else by_all)(costs, given)
    text = proposal.hints()
    if output is not None:
        write_text(output, text)
    document = proposal.document(output)
    if args.measure:
        document["measured"] = _measured(args, nodes, proposal)
    if args.json:
        print_json(document)
    else:
        _print(proposal, document, text)
    return 0


def _measured(args: Namespace, nodes: Allocation, proposal: ByOrder | ByAll) -> Speedup:
    """Launch with the given setting and with the proposed one, in turn; ranks stay."""
    jobs = starter(args, nodes.ranks)
    given, best, call = proposal.given, proposal.best, proposal.costs.call
    if args.file is None and best.setting.collective is False:
        raise InputError(
            "without collective buffering there is no exchange to measure",
            where="--measure",
            hint="give --file",
        )
    present = served(proposal.costs, given)
    sides = [
        tile_options(args, setting.of(call), ranks, setting)
        for setting, ranks in ((given, present), (best.setting, best.aggregators))
    ]
    with folder_for(None) as folder:
        if args.hostfile is not None and block_placed(nodes):
            raise InputError(
                "the ranks of a host are not on consecutive lines",
                where=args.hostfile,
                hint="put the lines of each host together",
            )
        same = Arrangement(nodes, range(len(nodes.hosts)))
        start = None if args.hostfile is None else launch_plan(jobs, same, folder / "hosts")
        given_launch, proposed = (Launch(options, start, nodes.by_rank) for options in sides)
        return compare_in_turn(args, jobs, given_launch, proposed)


def _print(proposal: ByOrder | ByAll, document: Members, text: str) -> None:
    console = terminal.console()
    warnings = document["warnings"]
    if document["choose"] == "order" or not proposal.costs.alone_is_known:
        warnings = unexchanged_first(console, proposal.costs.call, warnings)
    console.print(printable(proposal.headline(), 400), style="bold")
    print_blocks([predicted_by(proposal.costs.model.model), *proposal.blocks()], console)
    for line in [*text.splitlines(), *proposal.advice()]:
        console.print(printable(line, 1200))
    for file in document["files"]:
        written = f"Written: {printable_path(file)}. To use it, without changing the program:"
        console.print(written)
    for line in document["environment"]:
        console.print(f"  {printable(line, 1400)}")
    if "measured" in document:
        console.print(gained(document["measured"]))
    if document["no_effect"]:
        console.print("The hints have no effect")
    for case in document["no_effect"]:
        console.print(f"  {printable(case)}")
    print_warnings(console, warnings)
