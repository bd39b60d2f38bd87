"""How often a sampled map of a random machine is read right: a sample of the pairs, nothing else.

    python bench/sampled_maps.py --machines 500 --nodes 64 2048 --sample 0.05 --noise 0.05

Machines are those of `made_up.machines`. Pairs are chosen as the probe's `--sample` does: random
perfect matchings of the nodes, and within nodes all pairs or a matching. A slow pair that is not in
the sample is not expected to be named.
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections import Counter
from dataclasses import replace

import numpy as np

from isochrone.base.table import Table
from isochrone.latency_map.retests import to_measure_again
from isochrone.latency_map.topology import analyse
from isochrone.runfile.run import Rank, Run
from made_up import machines
from made_up.machines import SLOWED, Machine, random_machine


def sampled_pairs(
    node: np.ndarray, part: float, random: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Choose pairs of ranks as the probe does."""
    ranks, nodes = len(node), int(node.max()) + 1
    members = [np.flatnonzero(node == k) for k in range(nodes)]
    wanted = int(part * ranks * (ranks - 1) / 2)
    inner = [(a, b) for own in members for a, b in itertools.combinations(own.tolist(), 2)]
    if len(inner) > 0.2 * wanted:
        some = [own[random.permutation(len(own))] for own in members]
        inner = [(a, b) for own in some[4:] for a, b in zip(own[::2], own[1::2], strict=False)]
        inner += [(a, b) for own in some[:4] for a, b in itertools.combinations(own.tolist(), 2)]
    found = {(min(pair), max(pair)) for pair in inner}
    players = nodes + nodes % 2
    turns = random.permutation(players - 1)
    places = random.permutation(players)
    round_ = 0
    outer = -(-(wanted - len(found)) // (nodes // 2))
    for near in range(min(4, (outer + 1) // 2)):  # neighbours by name, then those after the next
        stride, phase = 1 + near // 2, near % 2
        for a in range(nodes - stride):
            if a // stride % 2 == phase:
                i, j = int(random.choice(members[a])), int(random.choice(members[a + stride]))
                found.add((min(i, j), max(i, j)))
    while len(found) < wanted:
        turn = int(turns[round_ % (players - 1)])
        k = np.arange(1, players // 2)
        left = np.append(players - 1, (turn + k) % (players - 1))
        right = np.append(turn, (turn - k) % (players - 1))
        for a, b in zip(places[left].tolist(), places[right].tolist(), strict=True):
            if max(a, b) < nodes:
                i, j = int(random.choice(members[a])), int(random.choice(members[b]))
                found.add((min(i, j), max(i, j)))
        round_ += 1
    pairs = np.array(sorted(found))
    return pairs[:, 0], pairs[:, 1]


def sampled_map(
    machine: Machine,
    slowed: str,
    share: float,
    noise: float,
    part: float,
    random: np.random.Generator,
) -> tuple[Run, machines.Truth, np.ndarray] | None:
    """Slow one thing of a machine and measure a sample; None if it has no such thing."""
    between = machine.between_nodes()
    typical = float(np.median(between[np.triu_indices(machine.nodes, 1)]))
    found = machines._slow(machine, slowed, random)
    if found is None:
        return None
    between = between + share * typical * found[0]
    i, j = sampled_pairs(machine.node, part, random)
    a, b = machine.node[i], machine.node[j]
    seconds = 1e-6 * np.where(a == b, machine.times[0], between[a, b])
    again = np.concatenate([seconds, seconds]) * np.exp(
        noise * random.standard_normal(2 * len(i))
    )  # measured twice: what is found is confirmed
    table = Table(
        {
            "i": i,
            "j": j,
            "bytes": np.full(len(i), 64),
            "median": again[: len(i)],
        }
    )
    ranks = [
        Rank(k, host, int(n))
        for k, (host, n) in enumerate(zip(machine.hosts, machine.node, strict=True))
    ]
    header = {
        "experiment": "latency-map",
        "kind": "latency-map",
        "ranks": len(machine.node),
        "options": {"bytes": [64], "sample": f"{100 * part:g}%"},
    }
    run = Run(header, ranks, {"pair": table}, end={"complete": True})
    measured = {frozenset((x, y)) for x, y in zip(a.tolist(), b.tolist(), strict=True)}
    named = frozenset(
        one
        for one in found[1]
        if one[0] != "pair" or frozenset(int(host[1:]) for host in one[1]) in measured
    )
    return run, machines.Truth(named, machines._levels(machine)), between


def with_retests(
    run: Run,
    machine: Machine,
    chosen: list[tuple[int, int]],
    between: np.ndarray,
    noise: float,
    random: np.random.Generator,
) -> Run:
    """Measure some pairs alone."""
    i, j = np.array(chosen).T
    a, b = machine.node[i], machine.node[j]
    seconds = 1e-6 * np.where(a == b, machine.times[0], between[a, b])
    seconds = seconds * np.exp(noise * random.standard_normal(len(i)))
    old = run.tables["pair"]
    flags = old["retest"] if "retest" in old else np.zeros(len(old), dtype=bool)
    table = Table(
        {
            "i": np.append(old["i"], i),
            "j": np.append(old["j"], j),
            "bytes": np.full(len(old) + len(i), 64),
            "median": np.append(old["median"], seconds),
            "retest": np.append(flags, np.ones(len(i), dtype=bool)),
        }
    )
    return Run(run.header, run.ranks, {"pair": table}, end=run.end)


def large_machine(random: np.random.Generator, least: int, most: int) -> Machine:
    """Draw a machine of so many nodes."""
    wanted = int(np.exp(random.uniform(np.log(least), np.log(most + 0.999))))
    while True:
        machine = random_machine(random, wanted)
        if machine.nodes >= least:
            return machine


def rates(args: argparse.Namespace) -> tuple[Counter[str], float]:
    """Count how many of random machines are read right; return also the longest analysis."""
    counts: Counter[str] = Counter()
    seed, longest = args.first, 0.0
    while counts["machines"] < args.machines:
        slowed = SLOWED[seed % len(SLOWED)]
        random = np.random.default_rng([33, seed])
        seed += 1
        machine = large_machine(random, *args.nodes)
        if args.names == "shuffled":
            mixed = random.permutation(machine.nodes)
            machine = replace(machine, chain=tuple(groups[mixed] for groups in machine.chain))
        made = sampled_map(machine, slowed, args.share, args.noise, args.sample, random)
        if made is None:
            continue
        run, truth, seconds = made
        before = time.process_time()
        found = analyse(run)
        for _ in range(4):  # as `measure` does
            chosen = to_measure_again(run, found).suspected
            if not chosen:
                break
            run = with_retests(run, machine, chosen, seconds, args.noise, random)
            found = analyse(run)
            counts["retests"] += len(chosen)
        took = time.process_time() - before
        longest = max(longest, took)
        named = frozenset((part.kind, frozenset(part.hosts)) for part in found.slow)
        groups = tuple(frozenset(map(frozenset, level.groups)) for level in found.levels)
        counts["machines"] += 1
        counts["right"] += named == truth.named
        counts["false"] += bool(named - truth.named)
        counts["levels"] += groups == truth.levels
        codes = {str(w["code"]) for w in found.warnings}
        counts["few pairs"] += "few-pairs" in codes
        if args.verbose:
            density = 2 * len(run.pairs()) / len(machine.node) / machine.nodes
            print(
                f"{seed - 1}: {slowed}, {machine.nodes} nodes, {len(machine.node)} ranks, "
                f"{len(machine.chain) + 1} levels, met {density:.2f}: "
                f"{'right' if named == truth.named else 'WRONG'} "
                f"{'FALSE' if named - truth.named else ''} "
                f"{'levels' if groups == truth.levels else 'NO LEVELS'} {took:.1f} s "
                f"{' '.join(sorted(codes))}",
                flush=True,
            )
    return counts, longest


def options() -> argparse.ArgumentParser:
    """Return the options of this program."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--machines", type=int, default=100)
    parser.add_argument("--nodes", type=int, nargs=2, default=(64, 512))
    parser.add_argument("--sample", type=float, default=0.05)
    parser.add_argument("--noise", type=float, default=0.05)
    parser.add_argument("--share", type=float, default=0.5)
    parser.add_argument("--names", choices=["in-order", "shuffled"], default="in-order")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--verbose", action="store_true")
    return parser


def main() -> None:
    """Count, and print."""
    args = options().parse_args()
    counts, longest = rates(args)
    total = counts.pop("machines")
    said = ", ".join(f"{what} {100 * number / total:.1f} %" for what, number in counts.items())
    print(
        f"{total} machines of {args.nodes[0]}-{args.nodes[1]} nodes, {100 * args.sample:g} % of "
        f"the pairs: {said}; longest analysis {longest:.1f} s"
    )


if __name__ == "__main__":
    main()
