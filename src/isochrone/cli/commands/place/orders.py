"""Predict and measure collective I/O in several node orders, to test the model.

The orders are the given one, the best and the worst found, and random ones. The output shows
whether the order with the shortest prediction is really the fastest.
"""

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from isochrone import views
from isochrone.base.errors import InputError
from isochrone.collective_io.cli.placing import block_placed, unexchanged_first
from isochrone.collective_io.cli.proof import (
    JobRunner,
    Launch,
    Turns,
    add_launches,
    launch_in_turns,
    launch_plan,
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
from isochrone.collective_io.orders import compared_orders as orders_file
from isochrone.collective_io.orders.compared_orders import ComparedOrder, ComparedOrders, OrdersFile
from isochrone.collective_io.orders.ordered import Candidate, Nodes, choose
from isochrone.collective_io.orders.setting import Setting
from isochrone.collective_io.pages import orders as page
from isochrone.collective_io.predict.node_cost import CallCost
from isochrone.collective_io.predict.whole_call import WholeCall, WholeCost
from isochrone.console.as_json import add_json, print_json
from isochrone.console.measuring import setup_of
from isochrone.console.options import add_expert, add_flag, add_option, read_count
from isochrone.console.output import add_output, check_output
from isochrone.measure.allocation import Allocation
from isochrone.measure.job import folder_for
from isochrone.measure.progress import progress_bar
from isochrone.pages.terminal import console, print_blocks

EXAMPLES = (
    (
        "predict six orders",
        "isochrone place orders --nodes 4,4,2,2,1,1,1,1 --tiles 4x4 --model hot.json "
        "--max-orders 6 --dry-run",
    ),
    (
        "predict, measure and plot ten orders",
        "isochrone place orders --hostfile nodes.txt --tiles 4x4 --model hot.json "
        "--figure orders.png",
    ),
)

MAX_COMPARED_ORDERS = 200
"""Orders that are compared at most."""


DOCUMENTS = {"place-orders": OrdersFile}


def add_arguments(parser: ArgumentParser) -> None:
    """Add the options of ``isochrone place orders``."""
    add_job(parser)
    add_model(parser)
    add_measured_calls(parser)
    group = parser.add_argument_group("orders")
    add_option(
        group,
        "--max-orders",
        "N",
        read_count,
        "maximum number of orders to compare (default: 10)",
        default=10,
    )
    add_expert(
        group,
        "--orders",
        "LIST",
        str,
        "compare these orders instead: ranks on each node (4,4,2,2), or host names; NAME=LIST "
        "gives a name",
        nargs="+",
        action="extend",
        default=[],
        dest="listed",
    )
    add_launches(parser, "order")
    add_flag(parser, "--dry-run", "predict only; start nothing")
    add_json(parser)
    add_output(parser, "file to write, for isochrone plot (default: none)")
    add_option(
        parser,
        "--figure",
        "FILE",
        Path,
        "figure to write: predicted and measured times (.png, .svg or .pdf)",
    )


def run(args: Namespace) -> int:
    """Choose orders, expect, launch, and say whether the prediction finds the best."""
    nodes, wanted, model, given = job(args)
    if args.driver == "ompio":
        raise InputError(
            "the aggregators of OMPIO do not depend on the node order", where="--driver"
        )
    if args.calls and args.file is None and not args.dry_run:
        raise InputError(
            "--calls predicts the file access, but only the exchange is measured",
            where="--calls",
            hint="add --file, or --dry-run",
        )
    if args.max_orders > MAX_COMPARED_ORDERS or len(args.listed) > MAX_COMPARED_ORDERS:
        raise InputError(f"the limit is {MAX_COMPARED_ORDERS} orders", where="--max-orders")
    for path in (args.output, args.figure):
        if path is not None:
            check_output(path, force=args.force, inputs=files_read(args))
    ordered = Nodes(nodes, wanted, model, given.nodes)
    call_model = whole_call(args, model) if args.calls else None
    orders, warnings = _expected(ordered, _candidates(args, ordered), call_model)
    warnings = [
        *warnings,
        *wanted.warnings(),
        *block_placed(nodes),
    ]
    compared = ComparedOrders(
        orders,
        op=args.op,
        expected="call" if args.calls else "exchange",
        model_origin=model.model.origin,
        warnings=warnings,
    )
    _draw(args, compared)  # what is wrong with the figure shows before anything is launched
    jobs, why = _starter(args, nodes)
    if jobs is not None:
        compared = _measured(compared, _launch(args, jobs, ordered, orders))
        _draw(args, compared)
    elif why:
        warnings.append(f"nothing was launched: {why}")
    document = compared.document([*wanted.nothing_exchanged(), *page.verdict(compared)])
    if args.output is not None:
        orders_file.write(args.output, document)
    if args.json:
        print_json(document)
    else:
        left = unexchanged_first(console(), wanted, compared.warnings)
        print_blocks(page.blocks(replace(compared, warnings=left), model.model))
    return 0


def _candidates(args: Namespace, ordered: Nodes) -> list[Candidate]:
    """Return the orders that are listed, or those worth comparing."""
    if args.listed:
        listed = []
        for index, text in enumerate(args.listed, start=1):
            name, equals, order = text.rpartition("=")
            listed.append((name if equals else f"listed {index}", ordered.read(order)))
        given_order = range(len(ordered.given.hosts))
        if ordered.alike(given_order) in {ordered.alike(order) for _, order in listed}:
            listed.append(("given", list(given_order)))
        return choose(listed, ordered.alike, limit=len(listed))
    nodes = len(ordered.given.hosts)
    return choose(ordered.named(), ordered.alike, limit=args.max_orders, random=nodes)


def _expected(
    ordered: Nodes, candidates: Sequence[Candidate], call_model: WholeCall | None
) -> tuple[list[ComparedOrder], list[str]]:
    """Predict each order; return them sorted, those that are alike as they come.

    Of the exchange, or of the whole call if measured calls say what the rest of it takes.
    """
    predicted = []
    warnings = []
    for choice in candidates:
        cost: CallCost | WholeCost = ordered.predict(choice.order)
        if call_model is not None:
            servers = ordered.aggregators(choice.order)
            cost = call_model.predict(ordered.call, ordered.ranks(choice.order), servers)
        warnings += [text for text in cost.warnings if text not in warnings]
        nodes = ordered.given.reordered(choice.order)
        predicted.append(
            ComparedOrder(
                choice.names,
                choice.order,
                nodes.hosts,
                nodes.cores,
                cost.seconds,
                cost.low,
                cost.high,
            )
        )
    return sorted(predicted, key=lambda order: float(f"{order.predicted:.6g}")), warnings


def _starter(args: Namespace, nodes: Allocation) -> tuple[JobRunner | None, str]:
    """Return what starts the ranks, or why nothing is launched though it was not forbidden."""
    if args.dry_run:
        return None, ""
    if not nodes.named:
        return None, "the nodes have no names; give --hostfile"
    try:
        return JobRunner(setup_of(args), nodes.ranks), ""
    except InputError as error:
        if any(option is not None for option in (args.probe, args.mpicc, args.launcher)):
            raise
        return None, str(error)


def _launch(
    args: Namespace, jobs: JobRunner, ordered: Nodes, orders: Sequence[ComparedOrder]
) -> Turns:
    """Launch all orders in turns, each turn in another sequence."""
    with folder_for(None) as folder, progress_bar("orders", quiet=args.json) as progress:
        sides = {}
        for index, compared_order in enumerate(orders, start=1):
            served = ordered.aggregators(compared_order.order)
            options = tile_options(args, ordered.call, served, Setting(nodes=ordered.most))
            arranged = ordered.arranged(compared_order.order)
            plan = launch_plan(jobs, arranged, folder / f"hosts-{index}")
            if plan is None:
                raise InputError(
                    f"{jobs.setup.name} has no known file for the order of nodes",
                    where="--launcher",
                    hint="--dry-run only predicts",
                )
            sides[f"order-{index}"] = Launch(options, plan, ordered.ranks(compared_order.order))
        return launch_in_turns(
            jobs,
            sides,
            launches=args.launches,
            op=args.op,
            runs=args.keep,
            seed=1,
            progress=progress,
        )


def _measured(compared: ComparedOrders, turns: Turns) -> ComparedOrders:
    """Return the orders with the times of their launches."""
    timed = "exchange" if turns.exchange and compared.expected == "exchange" else "call"
    launches = turns.exchange if timed == "exchange" else turns.times
    pairs = zip(compared.orders, launches.values(), strict=True)
    orders = [replace(order, times=times) for order, times in pairs]
    return replace(compared, orders=orders, timed=timed, origin=turns.origin)


def _draw(args: Namespace, compared: ComparedOrders) -> None:
    if args.figure is not None:
        views.save(views.draw("orders", [compared]), args.figure)
