"""Predict the busiest node of a collective MPI-IO access.

Ranks exchange their data with aggregators, the ranks that access the file. The node whose messages
take longest determines the time of the exchange.
"""

import argparse
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from isochrone.base.errors import InputError
from isochrone.base.text import listed, printable
from isochrone.base.units import format_bytes, format_seconds
from isochrone.collective_io import data_distribution
from isochrone.collective_io.cli.workload import (
    add_job,
    add_measured_calls,
    add_model,
    files_read,
    job,
    whole_call,
)
from isochrone.collective_io.data_distribution import distribution
from isochrone.collective_io.pages import whole_call as whole_page
from isochrone.collective_io.predict.best_possible import BestPossible, best_possible
from isochrone.collective_io.predict.call_parts import Parts
from isochrone.collective_io.predict.node_cost import CallCost, NodeRow, predict
from isochrone.collective_io.workload.call import DEFAULT
from isochrone.collective_io.workload.traffic import layout_of
from isochrone.console.as_json import add_json
from isochrone.console.decision_page import VERDICT, add_page, check_page_file, tell_decision
from isochrone.console.options import add_option
from isochrone.console.output import check_output
from isochrone.measure.allocation import Allocation
from isochrone.models import Model
from isochrone.models.pages.model import predicted_by, sections_of
from isochrone.pages.page import Block, Row, Section, Sentence, Table, Warnings, columns_of
from isochrone.pages.words import left_out, plural
from isochrone.views import save

EXAMPLES = (
    (
        "which node is busiest with 16 tiles on eight nodes?",
        "isochrone predict collective-io --nodes 4,4,2,2,1,1,1,1 --tiles 4x4 --model hot.json",
    ),
    (
        "the same for a recorded program",
        "isochrone predict collective-io --table io.jsonl --model hot.json",
    ),
)

MAX_HOT_NODES = 32
"""Nodes that are listed for a person; of more, the hottest."""


class _Whole(NamedTuple):
    seconds: float | None
    low: float
    high: float | None


class _Predicted(Struct):
    """A predicted collective write or read.

    Attributes
    ----------
    cost, low, high
        Seconds of a round of the exchange.
    hot_nodes
        Nodes that cost the most.
    seconds
        Of the exchange.
    """

    cost: float
    low: float | None
    high: float | None
    hot_nodes: list[int]
    rounds: int
    seconds: float
    message_size: float
    nodes: list[NodeRow]
    origin: str | None
    warnings: list[str]
    aggregators: list[int]
    ranks: int
    parts: Parts
    whole: _Whole
    best_possible: BestPossible


DOCUMENTS = {"predict-collective-io": _Predicted}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``isochrone predict collective-io``."""
    add_job(parser)
    add_model(parser)
    add_measured_calls(parser)
    add_json(parser)
    add_option(
        parser,
        "--figure",
        "FILE",
        Path,
        "figure to write: the nodes with data, and the aggregators (.png, .svg or .pdf)",
    )
    add_page(parser, "the times of the nodes, and the model")


def run(args: argparse.Namespace) -> int:
    """Predict, and say which node is the hot spot."""
    if args.figure is not None:
        check_output(args.figure, force=args.force, inputs=files_read(args))
    check_page_file(args, files_read(args))
    nodes, wanted, model, given = job(args, host_list=True)
    if args.driver == "ompio":
        if given.config != DEFAULT or given.nodes is not None:
            raise InputError("OMPIO ignores these hints", where="--hints")
        ranks = wanted.of_ompio()
    else:
        ranks = wanted.aggregators(nodes.by_rank, given.config, given.nodes)
    layout = layout_of(nodes.by_rank)
    kinds = wanted.round_kinds(len(ranks), exactly=True)
    cost = predict(kinds, layout, ranks, model)
    cost.warnings.extend(wanted.warnings())
    call_model = whole_call(args, model)
    total = call_model.predict(wanted, nodes.by_rank, ranks)
    best = best_possible(call_model, wanted, nodes.by_rank, ranks)
    if args.figure is not None:
        slices = distribution(wanted, layout, ranks, data_distribution.PICTURE_COLUMNS)
        first, last = wanted.pattern.extent
        picture = data_distribution.draw(slices, layout, cost.node_costs, last - first)
        save(picture, args.figure)
    low, high = cost.low / cost.rounds, cost.high / cost.rounds
    warnings = list(dict.fromkeys([*cost.warnings, *total.warnings]))
    seconds = total.seconds if total.known else None
    document = _Predicted(
        cost.cost,
        low,
        high,
        cost.hot_nodes,
        cost.rounds,
        cost.seconds,
        cost.counts.message_size,
        cost.nodes,
        cost.origin or None,
        warnings,
        ranks,
        nodes.ranks,
        Parts(**total.parts),
        _Whole(seconds, total.low, total.high),
        best,
    )
    call_warnings = [text for text in total.warnings if text not in cost.warnings]
    reasons = wanted.nothing_exchanged()
    nothing = [Sentence(f"No gain: {text}. With it enabled:", "strong") for text in reasons]
    cost = replace(cost, warnings=[text for text in cost.warnings if text not in reasons])
    call_blocks = whole_page.whole_call(
        replace(total, warnings=call_warnings), best, measured=bool(args.calls)
    )
    sections = [
        Section(VERDICT, (*nothing, *call_blocks, *_blocks(cost, nodes, model.model))),
        *sections_of([model.model]),
    ]
    tell_decision(args, document, "Predicted time of collective I/O", sections)
    return 0


def _blocks(cost: CallCost, nodes: Allocation, model: Model) -> list[Block]:
    """Say what a prediction found: every node, or the hottest ones."""
    hot = cost.hot_nodes
    names = listed([printable(cost.hosts[k], 40) for k in hot], 4)
    size = format_bytes(round(cost.counts.message_size))
    summary = (
        f"Exchange: {format_seconds(cost.cost, 4)} per round, {plural(cost.rounds, 'round')}, "
        f"{format_seconds(cost.seconds, 4)} in total. Hot spot: {names}. "
        f"Messages: {size} on average"
    )
    cores = dict(zip(nodes.hosts, nodes.cores, strict=True))
    hottest = cost.nodes
    if len(hottest) > MAX_HOT_NODES:
        hottest = sorted(hottest, key=lambda row: -row.cost)[:MAX_HOT_NODES]
    rows = [
        Row(
            (
                printable(row.host, 40),
                str(cores[row.host]),
                str(row.intra),
                str(row.in_),
                str(row.out),
                *(format_bytes(round(of)) for of in (row.intra_bytes, row.in_bytes, row.out_bytes)),
                format_seconds(row.cost, 4),
            ),
            "bad" if row.node in hot else "",
        )
        for row in hottest
    ]
    columns = columns_of(
        "node",
        ">ranks",
        ">intra",
        ">in",
        ">out",
        ">bytes within",
        ">bytes in",
        ">bytes out",
        ">cost",
    )
    remainder = left_out(len(cost.hosts), len(rows), "cooler node")
    table = Table("", columns, tuple(rows), remainder)
    return [Sentence(summary), predicted_by(model), table, Warnings(tuple(cost.warnings))]
