"""Predict the messages of every node in collective I/O, their cost, and the hot spot."""

from __future__ import annotations

import argparse
import json

from isochrone.base.errors import InputError
from isochrone.base.text import printable
from isochrone.base.units import format_seconds
from isochrone.cli.workload import add_call, add_model, add_nodes, allocation, call, node_cost
from isochrone.models import Model
from isochrone.pages.model import predicted_by
from isochrone.pages.page import Block, Column, Row, Sentence, Table, Warnings
from isochrone.pages.terminal import print_blocks
from isochrone.pages.words import plural
from isochrone.predict.collective_io import CallCost, predict
from isochrone.workloads.allocation import Allocation
from isochrone.workloads.cb_config_list import aggregators
from isochrone.workloads.node_messages import layout_of

__all__ = ["add_arguments", "run"]

MAX_NODES = 32
"""Nodes that are listed for a person; of more, the hottest."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``isochrone predict collective-io``."""
    add_nodes(parser)
    add_call(parser)
    parser.add_argument(
        "--cb-config-list", default="*:1", metavar="LIST",
        help="ROMIO's hint, e.g. 'n0,n4,*:1' (default: *:1)",
    )  # fmt: skip
    add_model(parser)
    parser.add_argument("--json", action="store_true", help="one JSON document, for scripts")


def run(args: argparse.Namespace) -> int:
    """Predict, and say which node is the hot spot."""
    nodes = allocation(args)
    wanted, model = call(args, nodes.ranks), node_cost(args)
    if args.driver == "ompio":
        if args.cb_config_list != "*:1" or args.cb_nodes is not None:
            raise InputError("OMPIO ignores them", where="--cb-config-list, --cb-nodes")
        ranks = wanted.rows()
    else:
        ranks = aggregators(nodes.by_rank, args.cb_config_list, args.cb_nodes)
    layout, hosts = layout_of(nodes.by_rank)
    kinds = wanted.round_kinds(len(ranks))
    found = predict(kinds, layout, ranks, hosts, model, reading=args.op == "read")
    found.warnings.extend(wanted.warnings())
    if args.json:
        document = {**found.to_json(), "aggregators": ranks, "ranks": nodes.ranks}
        print(json.dumps(document))
    else:
        print_blocks(_blocks(found, nodes, model.model))
    return 0


def _blocks(found: CallCost, nodes: Allocation, model: Model) -> list[Block]:
    """Say what a prediction found: every node, or the hottest ones."""
    hot = found.hot_nodes
    names = ", ".join(printable(found.hosts[k], 40) for k in hot[:4])
    more = f" and {len(hot) - 4} more" if len(hot) > 4 else ""
    summary = (
        f"Exchange: {format_seconds(found.cost, 4)} a round, {plural(found.rounds, 'round')}, "
        f"{format_seconds(found.seconds, 4)} in all. Hot spot: {names}{more}"
    )
    cores = dict(zip(nodes.hosts, nodes.cores, strict=True))
    listed = found.to_json()["nodes"]
    if len(listed) > MAX_NODES:
        listed = sorted(listed, key=lambda row: -row["cost"])[:MAX_NODES]
    rows = [
        Row((
            printable(row["host"], 40), str(cores[row["host"]]), str(row["intra"]),
            str(row["in"]), str(row["out"]), f"{row['pa']:g}", f"{row['pe']:g}",
            format_seconds(row["cost"], 4),
        ), "bad" if row["node"] in hot else "")
        for row in listed
    ]  # fmt: skip
    titles = ("ranks", "intra", "in", "out", "pa", "pe", "cost")
    columns = (Column("node"), *(Column(title, right=True) for title in titles))
    cooler = len(found.hosts) - len(rows)
    left_out = f"and {plural(cooler, 'cooler node')} (--json lists all)" if cooler else ""
    table = Table("", columns, tuple(rows), left_out)
    return [Sentence(summary), predicted_by(model), table, Warnings(tuple(found.warnings))]
