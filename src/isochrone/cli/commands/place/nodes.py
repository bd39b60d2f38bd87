"""Find the node order that minimises the communication of the busiest node in collective I/O.

The order is written as a host file or rank file for the launcher. A better order may exist:
the output gives an upper limit of what it could still gain.
"""

import os
from argparse import ArgumentParser, Namespace
from pathlib import Path

import numpy as np
from msgspec import Struct

from isochrone.base.documents import IfKnown
from isochrone.base.errors import InputError
from isochrone.base.files import write_text
from isochrone.base.inference import Speedup
from isochrone.base.text import printable, printable_path
from isochrone.base.units import format_seconds
from isochrone.collective_io.cli.placing import (
    block_placed,
    certainty,
    gained,
    print_warnings,
    unexchanged_first,
)
from isochrone.collective_io.cli.proof import (
    Launch,
    add_start,
    compare_in_turn,
    starter,
    tile_options,
)
from isochrone.collective_io.cli.workload import add_job, add_model, files_read, job
from isochrone.collective_io.orders.positions import Positions, best_order
from isochrone.collective_io.orders.search import BestOrder
from isochrone.collective_io.orders.setting import Setting
from isochrone.collective_io.predict.node_cost import refuse_no_time, saved
from isochrone.collective_io.workload.call import Call
from isochrone.collective_io.workload.traffic import layout_of
from isochrone.console.as_json import add_json, print_json
from isochrone.console.options import add_expert, add_flag, add_force, add_option, read_time_or_zero
from isochrone.console.output import check_output
from isochrone.measure import placement as placements
from isochrone.measure.allocation import Allocation
from isochrone.measure.arrangement import Arrangement
from isochrone.measure.job import folder_for
from isochrone.measure.placement import Placement
from isochrone.models import Model
from isochrone.models.pages.model import predicted_by
from isochrone.pages import terminal

EXAMPLES = (
    (
        "which order of nodes with 4, 4, 2 and 2 ranks is best?",
        "isochrone place nodes --nodes 4,4,2,2 --tiles 4x3 --model hot.json -o order",
    ),
    (
        "write it for Open MPI, and measure the gain",
        "isochrone place nodes --hostfile nodes.txt --tiles 4x4 --model hot.json --to "
        "openmpi --measure",
    ),
)

Files = list[tuple[Placement, Path]]
"""The files to write, and their formats."""

MAX_NAMES = 24
"""Nodes of an order that are printed; a file holds all."""


def add_arguments(parser: ArgumentParser) -> None:
    """Add the options of ``isochrone place nodes``."""
    formats = placements.names()
    add_job(parser)
    add_model(parser)
    add_expert(
        parser,
        "--search-time",
        "TIME",
        read_time_or_zero,
        "time limit of the search; 0: heuristics only (default: 8s; above 2,048 nodes: 30s)",
    )
    add_json(parser)
    add_option(
        parser,
        "--to",
        "FORMAT",
        str,
        f"format of the file: {', '.join(formats)}; may be repeated (default: detected)",
        action="append",
        choices=formats,
        default=[],
    )
    add_option(
        parser,
        "-o --output",
        "FILE",
        Path,
        "file to write, or folder for several formats (default: usual name of the format)",
    )
    add_force(parser)
    add_flag(parser, "--dry-run", "write nothing")
    add_start(parser, "order")
    add_flag(parser, "--verify", "check with a short job that each rank is on its node")


def run(args: Namespace) -> int:
    """Search, write the files, and prove what was asked for."""
    nodes, wanted, model, given = job(args)
    if args.driver == "ompio":
        raise InputError(
            "the aggregators of OMPIO do not depend on the node order",
            where="--driver",
            hint="predict a single order: isochrone predict collective-io --driver ompio",
        )
    if wanted.members is not None:
        raise InputError(
            f"only {len(wanted.members)} of {nodes.ranks} ranks open the file",
            where="--table",
            hint="predict a single order: isochrone predict collective-io",
        )
    files = _files(args, nodes)
    kinds = wanted.round_kinds(min(given.nodes or len(nodes.cores), len(nodes.cores)))
    cores = np.array(nodes.cores, np.int64)
    positions = Positions(kinds, cores, model)
    best = best_order(nodes.cores, positions, seconds=args.search_time)
    refuse_no_time(best.cost)

    order = Arrangement(nodes, best.order)
    commands = _write(order, files)
    filled = order.filled
    document = _Placed(
        best.order,
        [*filled.cores],
        [*filled.hosts],
        best.cost,
        best.given_cost,
        model.model.origin or None,
        best.lower_bound,
        best.gap,
        best.gap == 0,
        wanted.exchanges,
        best.method,
        best.starts,
        [path for _, path in files],
        commands,
        [*wanted.warnings(), *block_placed(order.given)],
    )
    _prove(args, order, files, wanted, given.nodes, document)
    if args.json:
        print_json(document)
    else:
        _print(best, order, document, model.model, wanted)
    return 1 if document.verified is False else 0


def _files(args: Namespace, nodes: Allocation) -> Files:
    """Return what to write, after a check that it may be written."""
    proof = args.verify or args.measure
    if args.dry_run:
        if proof:
            raise InputError(
                "--verify and --measure need the file; remove --dry-run", where="--dry-run"
            )
        return []
    names = list(dict.fromkeys(args.to))
    if not names and (args.output is not None or nodes.named or proof):
        names = [_usual(args, proof)]
    in_folder = args.output is not None and (len(names) > 1 or args.output.is_dir())
    if in_folder and not args.output.is_dir():
        raise InputError(
            "several formats need a folder", where=args.output, hint="create the folder first"
        )
    formats = [placements.load(name) for name in names]
    files = [
        (form, args.output / form.file if in_folder else args.output or Path(form.file))
        for form in formats
    ]
    inputs = files_read(args)
    for form, path in files:
        form.start(path, nodes.ranks)  # refuses what its launcher cannot take
    for _, path in files:
        check_output(path, force=args.force, inputs=inputs)
    return files


def _usual(args: Namespace, proof: bool) -> str:
    """Name the format that fits the batch system, or the MPI if a job is to be started."""
    for variable, name in (("SLURM_JOB_ID", "slurm"), ("FLUX_URI", "flux")):
        if variable in os.environ:
            return name
    by_openmpi = proof and starter(args, 1).setup.name == "mpirun-openmpi"
    return "openmpi" if by_openmpi else "hydra"


def _write(order: Arrangement, files: Files) -> list[str]:
    """Write the files; return the command lines that use them."""
    for placement, path in files:
        write_text(path, placement.text(order))
    return [placement.start(path, order.given.ranks).line() for placement, path in files]


class _Misplaced(Struct):
    rank: int
    wanted: str
    found: str


class _Placed(Struct):
    """The best order of nodes.

    Attributes
    ----------
    order
        Indices of the nodes as they were given.
    nodes, hosts
        Ranks on each, and their names, in this order.
    cost, given_cost
        Seconds of a round.
    gap
        Part by which a better order may be better.
    exchanges
        Whether anything is exchanged, so that the order matters.
    verified
        Whether every rank lands where it should.
    """

    order: list[int]
    nodes: list[int]
    hosts: list[str]
    cost: float
    given_cost: float
    origin: str | None
    lower_bound: float
    gap: float | None
    proven: bool
    exchanges: bool
    method: str
    others: dict[str, float]
    files: list[Path]
    commands: list[str]
    warnings: list[str]
    verified: IfKnown[bool] = None
    misplaced: IfKnown[list[_Misplaced]] = None
    measured: IfKnown[Speedup] = None


DOCUMENTS = {"place-nodes": _Placed}


def _prove(
    args: Namespace,
    order: Arrangement,
    files: Files,
    wanted: Call,
    most: int | None,
    document: _Placed,
) -> None:
    """Start the jobs that were asked for, with ``most`` aggregators."""
    if not (args.verify or args.measure):
        return
    jobs = starter(args, order.given.ranks)
    placement, path = files[0]
    start = placement.start(path, order.given.ranks)
    if args.verify:
        pairs = zip(order.hosts(), jobs.hosts(start), strict=True)
        document.misplaced = [_Misplaced(k, a, b) for k, (a, b) in enumerate(pairs) if a != b]
        document.verified = not document.misplaced
    if args.measure:
        same = Arrangement(order.given, range(len(order.given.hosts)))
        with folder_for(None) as folder:
            given_file = folder / "given"
            given_file.write_text(placement.text(same))
            sides = []
            for arranged, file in ((same, given_file), (order, path)):
                first = layout_of(arranged.filled.by_rank).first[:most]
                setting = Setting(nodes=most)
                options = tile_options(args, wanted, first.tolist(), setting)
                started = placement.start(file, same.given.ranks)
                sides.append(Launch(options, started, list(arranged.hosts())))
            given_launch, proposed = sides
            document.measured = compare_in_turn(args, jobs, given_launch, proposed)


def _print(
    proposal: BestOrder, order: Arrangement, document: _Placed, model: Model, wanted: Call
) -> None:
    console = terminal.console()
    warnings = unexchanged_first(console, wanted, document.warnings)
    less = 100 * saved(proposal.cost, proposal.given_cost)
    console.print(
        f"Best order of {len(proposal.order)} nodes: {format_seconds(proposal.cost, 4)} per round, "
        f"{less:.1f} % less than the given order; {certainty(proposal.gap)} ({proposal.method})",
        style="bold",
    )
    console.print(f"  {predicted_by(model).text}")
    others = (f"{name} {format_seconds(cost, 4)}" for name, cost in proposal.starts.items())
    console.print("  " + " · ".join(others))
    pairs = list(zip(order.filled.hosts, order.filled.cores, strict=True))
    host_list = " ".join(f"{printable(host, 40)}:{count}" for host, count in pairs[:MAX_NAMES])
    console.print(f"  {host_list}{' …' if len(pairs) > MAX_NAMES else ''}")
    for path, command in zip(document.files, document.commands, strict=True):
        console.print(f"Written: {printable_path(path)}. To use it:\n  {command}")
    if document.verified:
        console.print("Verified: every rank is on the planned node", style="green")
    for wrong in (document.misplaced or [])[:8]:
        text = f"Rank {wrong.rank} should be on {wrong.wanted}, but is on {wrong.found}"
        console.print(printable(text), style="red")
    if document.measured:
        console.print(gained(document.measured))
    print_warnings(console, warnings)
