"""The command ``python -m tests.cluster``."""

from __future__ import annotations

import argparse
import os
import sys
from typing import NoReturn

from cluster import folders, lifetime, slurm
from cluster.folders import ClusterError
from cluster.plan import HEAD, Plan
from cluster.running import Cluster


def main() -> int:
    """Do what is asked for; return the exit code."""
    args = parser().parse_args()
    if why := lifetime.obstacle():
        print(f"cluster: {why}", file=sys.stderr)
        return 2
    try:
        args.act(args)
    except (ClusterError, TimeoutError, ValueError) as error:
        print(f"cluster: {error}", file=sys.stderr)
        return 2
    return 0


def parser() -> argparse.ArgumentParser:
    """Build the parser."""
    top = argparse.ArgumentParser(prog="python -m tests.cluster", description=lifetime.__doc__)
    commands = top.add_subparsers(required=True, metavar="COMMAND")
    add = commands.add_parser("up", help="make a cluster")
    add.add_argument("--nodes", type=int, help="how many (default: as many as --ranks)")
    add.add_argument("--ranks", default="2,2", help="of each node in its hostfiles: 4,2,1,1")
    add.add_argument("--rate", default="", help="of every link: 200mbit")
    add.add_argument("--small", default="", help="of every link, for small packets: 100kbit")
    add.add_argument("--slow", action="append", default=[], metavar="NODE=RATE")
    add.add_argument("--slurm", action="store_true", help="with Slurm's daemons")
    add.add_argument("--name")
    add.set_defaults(act=up)
    add = commands.add_parser("shape", help="change the rate of a node's link")
    add.add_argument("node")
    add.add_argument("rate")
    add.add_argument("--small", default="", help="rate for small packets: 50kbit")
    add.add_argument("--name")
    add.set_defaults(
        act=lambda args: lifetime.find(args.name).shape(args.node, args.rate, args.small)
    )
    add = commands.add_parser("run", help="run a command: run -- mpiexec …")
    add.add_argument("--name")
    add.add_argument("--on", default=HEAD, help="node (default: the head)")
    add.add_argument("words", nargs="+", metavar="WORD")
    add.set_defaults(act=run)
    add = commands.add_parser("status", help="list the clusters")
    add.set_defaults(act=status)
    add = commands.add_parser("down", help="end a cluster, and remove what dead ones left")
    add.add_argument("--name")
    add.set_defaults(act=down)
    return top


def up(args: argparse.Namespace) -> None:
    """Make a cluster that stays, and say how to use it."""
    ranks = tuple(int(count) for count in args.ranks.split(","))
    if args.nodes is not None and len(ranks) == 1:
        ranks *= args.nodes
    if args.nodes not in (None, len(ranks)):
        raise ClusterError(f"{args.nodes} nodes, but ranks for {len(ranks)}")
    named = {"name": args.name} if args.name else {}
    rates = dict(pair.split("=", 1) for pair in args.slow)
    if args.slurm and (why := slurm.obstacle()):
        raise ClusterError(why)
    made = lifetime.make(Plan(ranks, args.rate, rates, args.small, **named), keep=True)
    if args.slurm:
        with_slurm(made)
    print(f"{made.plan.name}: {describe(made.plan)}")
    print(f"MPICH:    mpiexec -f {made.hostfile('mpich')}")
    print(f"Open MPI: mpirun --hostfile {made.hostfile('openmpi')}")
    if args.slurm:
        print("Slurm:    salloc, sbatch, srun")


def with_slurm(made: Cluster) -> None:
    """Start Slurm, or end the cluster if that fails."""
    try:
        slurm.start(made)
    except BaseException:
        lifetime.end(made)
        raise


def describe(plan: Plan) -> str:
    """Nodes, ranks and rates in a line."""
    nodes = (
        f"{node} ({ranks} rank{'s' if ranks > 1 else ''}, {plan.rate_of(node) or 'not shaped'})"
        for node, ranks in zip(plan.nodes, plan.ranks, strict=True)
    )
    return ", ".join(nodes)


def run(args: argparse.Namespace) -> NoReturn:
    """Become a command in the cluster."""
    found = lifetime.find(args.name)
    tokens = [*found.entering(args.on), *args.words]
    os.execvpe(tokens[0], tokens, {**os.environ, **found.environ()})


def status(args: argparse.Namespace) -> None:
    """List the clusters, and those whose process is dead."""
    for folder in folders.folders():
        state = describe(Plan.read(folder)) if folders.is_alive(folder) else "dead"
        print(f"{folder.name}: {state}")


def down(args: argparse.Namespace) -> None:
    """End a cluster; one that is dead already is only tidied up, so it may be done twice."""
    folders.remove_dead()
    left = [folder.name for folder in folders.folders()]
    if args.name in left or (args.name is None and left):
        lifetime.end(lifetime.find(args.name))
