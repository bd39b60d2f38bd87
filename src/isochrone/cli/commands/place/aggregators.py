"""Assign file domains to hosts with a ROMIO hints file; no rank moves.

The hints have no effect with OMPIO (Open MPI's default), with Open MPI 6, where the application
sets cb_nodes or cb_config_list itself, and where the ranks' accesses do not interleave.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from rich.console import Console

from isochrone.base.errors import InputError
from isochrone.base.files import whole_file
from isochrone.base.text import printable
from isochrone.base.units import format_seconds
from isochrone.cli.output import add_output, check_output
from isochrone.cli.proof import add_start, compare_in_turn, starter, tile_options
from isochrone.cli.speedups import measured_line
from isochrone.cli.workload import (
    add_call,
    add_model,
    add_nodes,
    allocation,
    call,
    files_read,
    node_cost,
)
from isochrone.formats import placement as placements
from isochrone.formats.placement import LaunchPlan
from isochrone.improve import romio_hints
from isochrone.improve.assignment import Assignment, assign, hint
from isochrone.improve.proof import JobRunner, Launch, folder_for
from isochrone.models import Model
from isochrone.pages.model import predicted_by
from isochrone.predict.node_cost import refuse_no_time
from isochrone.workloads.allocation import Allocation
from isochrone.workloads.arrangement import Arrangement
from isochrone.workloads.call import Call
from isochrone.workloads.cb_config_list import aggregators
from isochrone.workloads.node_messages import layout_of

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``isochrone place aggregators``."""
    add_nodes(parser)
    add_call(parser)
    add_model(parser)
    parser.add_argument("--json", action="store_true", help="one JSON document, for scripts")
    add_output(parser, "hints file (default: romio-hints, if the node names are known)")
    parser.add_argument("--dry-run", action="store_true", help="write nothing")
    add_start(parser, "order of aggregators")


def run(args: argparse.Namespace) -> int:
    """Search, write the hints, and prove what was asked for."""
    nodes = allocation(args)
    wanted, model = call(args, nodes.ranks), node_cost(args)
    if args.driver == "ompio":
        raise InputError("OMPIO has no hint for the order of its aggregators", where="--driver")
    output = args.output or (Path(romio_hints.FILE) if nodes.named else None)
    output = None if args.dry_run else output
    if output is not None:
        check_output(output, force=args.force, inputs=files_read(args))
    layout, hosts = layout_of(nodes.by_rank)
    kinds = wanted.round_kinds(min(args.cb_nodes or len(hosts), len(hosts)))
    found = assign(kinds, layout, hosts, model, reading=wanted.reading)
    refuse_no_time(found.cost)
    config = hint(hosts, found.order[: found.named])
    text = romio_hints.text(config, args.cb_nodes)
    if output is not None:
        with whole_file(output) as stream:
            stream.write(text.encode())
    document = _document(found, hosts, config, output, wanted, model.model.origin)
    if args.measure:
        document["measured"] = _measured(args, nodes, wanted, found, config)
    if args.json:
        print(json.dumps(document))
    else:
        _print(found, hosts, document, text, model.model)
    return 0


def _document(
    found: Assignment,
    hosts: list[str],
    config: str,
    output: Path | None,
    wanted: Call,
    origin: str,
) -> dict[str, Any]:
    warnings = wanted.warnings()
    if not found.whole:
        warnings.append(
            f"a hint value is limited to 1,023 characters, too few for {len(hosts)} hosts: "
            f"it names the {found.named} most useful ones"
        )
    return {
        "order": found.order,
        "hosts": [hosts[k] for k in found.order],
        "cost": found.cost,
        "given_cost": found.given_cost,
        "origin": origin or None,
        "lower_bound": found.lower_bound,
        "gap": found.gap,
        "proven": found.gap == 0,
        "named": found.named,
        "cb_config_list": config,
        "files": [str(output)] if output is not None else [],
        "environment": romio_hints.environment(output, config) if output is not None else [],
        "no_effect": list(romio_hints.NO_EFFECT),
        "warnings": warnings,
    }


def _measured(
    args: argparse.Namespace, nodes: Allocation, wanted: Call, found: Assignment, config: str
) -> dict[str, Any]:
    """Launch with ROMIO's own order and with the proposed one, in turn; ranks stay."""
    jobs = starter(args, nodes.ranks)
    by_rank = nodes.by_rank
    sides = []
    for listed in ("*:1", config):
        options = tile_options(args, wanted, aggregators(by_rank, listed, args.cb_nodes))
        if args.file is not None:
            hints = f"cb_config_list={listed},romio_cb_write=enable,romio_cb_read=enable"
            extra = f",cb_nodes={args.cb_nodes}" if args.cb_nodes else ""
            options += ["--hints", hints + extra]
        sides.append(options)
    with folder_for(None) as folder:
        start = None if args.hostfile is None else _as_given(jobs, nodes, folder)
        given, proposed = (Launch(options, start, by_rank) for options in sides)
        return compare_in_turn(args, jobs, given, proposed).to_json()


def _as_given(jobs: JobRunner, nodes: Allocation, folder: Path) -> LaunchPlan | None:
    """Write a placement file for the launcher that leaves the nodes in their order."""
    formats = (placements.load(name) for name in placements.names())
    fitting = [f for f in formats if f.start(folder, 1).launcher == jobs.setup.name]
    if not fitting:
        return None
    file = folder / "hosts"
    file.write_text(fitting[0].text(Arrangement(nodes, range(len(nodes.hosts)))))
    return fitting[0].start(file, nodes.ranks)


def _print(
    found: Assignment, hosts: list[str], document: dict[str, Any], text: str, model: Model
) -> None:
    console = Console(highlight=False, soft_wrap=True)
    less = 100 * (1 - found.cost / found.given_cost)
    sure = (
        "proven optimal" if found.gap == 0 else f"at most {100 * found.gap:.1f} % above the optimum"
    )
    words = (
        f"{less:.1f} % less than with ROMIO's default order"
        if found.named
        else "ROMIO's default order"
    )
    console.print(
        f"Aggregators on {len(hosts)} hosts: {format_seconds(found.cost, 4)} a round, "
        f"{words}; {sure}",
        style="bold", markup=False,
    )  # fmt: skip
    console.print(predicted_by(model).text, markup=False)
    console.print(printable(text.rstrip("\n"), 1200), markup=False)
    for file in document["files"]:
        console.print(f"Written: {file}. To use it, without changing the program:", markup=False)
    for line in document["environment"]:
        console.print(f"  {printable(line, 1400)}", markup=False)
    if "measured" in document:
        console.print(measured_line(document["measured"]), markup=False)
    console.print("The hints have no effect", markup=False)
    for case in document["no_effect"]:
        console.print(f"  {case}", markup=False)
    for warning in document["warnings"]:
        console.print(f"Warning: {printable(warning, 400)}", style="yellow", markup=False)
