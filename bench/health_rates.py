"""How often `check` is right about machines with slow nodes, and about healthy ones.

    python bench/health_rates.py --count 100 --most 256
    python bench/health_rates.py --detectable --count 200
    python bench/health_rates.py --simulated --count 20 --most 24

Of every two maps one is of a machine with one to a third of its nodes slow, by 1.25 to 10 times, in
latency, bandwidth or both. With --detectable, one node is slow, by just what `check` says of the
healthy map would have been found; `named` should then be 95 %. With --simulated, the probe measures
the maps on SimGrid, which has no noise.

`good`, `not known`: verdicts (nothing is measured twice, so none is "slow"); `named`: slow nodes
that are suspects; `false`: machines of which a healthy node is a suspect.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from beds.simulation import Simulation
from isochrone.base.verdicts import GOOD, NOT_KNOWN
from isochrone.changes.check import check
from isochrone.measure.platforms import parse
from isochrone.runfile.run import Run
from made_up.latency_maps import map_of
from made_up.machines import LAWS, random_slow_nodes, slow_nodes

NOISES = (0.0, 0.02, 0.05, 0.1)


def slow_machines(args: argparse.Namespace) -> Iterator[tuple[str, Run, frozenset[str]]]:
    """Yield a row of the table, a map, and its slow hosts."""
    for seed in range(args.seed, args.seed + args.count):
        random = np.random.default_rng([46, seed])
        law, noise = LAWS[seed % len(LAWS)], NOISES[seed // len(LAWS) % len(NOISES)]
        if seed % 2:
            run, truth = random_slow_nodes(random, noise, law, args.least, args.most)
            yield "slow nodes", run, frozenset(host for _, hosts in truth.named for host in hosts)
        else:
            nodes = int(np.exp(random.uniform(np.log(args.least), np.log(args.most + 0.999))))
            yield "healthy", healthy(random, nodes, noise), frozenset()


def healthy(random: np.random.Generator, nodes: int, noise: float) -> Run:
    """Draw a healthy machine: no node is slow, on one switch or several."""
    switches = int(random.integers(1, max(2, nodes // 3 + 1)))
    each = int(random.integers(1, 5))
    return slow_nodes(
        random,
        nodes=nodes,
        slow=0,
        factors=[1.0],
        law="sum",
        noise=noise,
        ranks_per_node=each,
        switches=switches,
    )[0]


def just_detectable(args: argparse.Namespace) -> Iterator[tuple[str, Run, frozenset[str]]]:
    """Yield maps in which one node is slow by what `check` says would have been found."""
    for seed in range(args.seed, args.seed + args.count):
        random = np.random.default_rng([48, seed])
        nodes = int(np.exp(random.uniform(np.log(args.least), np.log(args.most + 0.999))))
        run = healthy(random, nodes, random.choice(NOISES[1:]))
        ratio = check(run).visible.get("node", np.nan)
        if np.isnan(ratio):
            continue
        host = run.hosts[int(random.integers(run.size))]
        of_node = np.array([one == host for one in run.hosts])
        times = run.matrix() * 1e6
        times[of_node[:, None] != of_node] *= ratio
        row = "up to 7 nodes" if nodes < 8 else "8 nodes or more"
        yield row, map_of(times, run.hosts), frozenset({host})


def simulated(args: argparse.Namespace) -> Iterator[tuple[str, Run, frozenset[str]]]:
    """Yield maps of 64 B and 1 MiB, with up to a third of the links of nodes slow."""
    with TemporaryDirectory() as folder:
        simulation = Simulation(Path(folder))
        for seed in range(args.seed, args.seed + args.count):
            random = np.random.default_rng([49, seed])
            nodes = int(np.exp(random.uniform(np.log(args.least), np.log(args.most + 0.999))))
            switches = int(random.integers(1, nodes // 4 + 1))
            nodes -= nodes % switches
            platform = parse(f"nodes:{nodes}" + (f" switches:{switches}" if switches > 1 else ""))
            slow = random.permutation(nodes)[: int(random.integers(1, nodes // 3 + 1)) * (seed % 2)]
            factor = float(np.exp(random.uniform(np.log(1.5), np.log(19))))  # of 1.25 to 10
            in_latency, in_bandwidth = [(1, 0), (0, 1), (1, 1)][int(random.integers(3))]
            for node in slow.tolist():
                link = platform.links[f"node-{node}-link"]
                link.latency *= factor**in_latency
                link.bandwidth /= factor**in_bandwidth
            run = simulation.map(platform, "--bytes", "64,1MiB", "--repeats", "5")
            name = "slow nodes" if len(slow) else "healthy"
            yield name, run, frozenset(f"node-{k}" for k in slow)


def main() -> None:
    """Count verdicts, and print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=100, help="maps (default: 100)")
    parser.add_argument("--seed", type=int, default=0, help="of the first map (default: 0)")
    parser.add_argument("--least", type=int, default=8, help="nodes, at least (default: 8)")
    parser.add_argument("--most", type=int, default=64, help="nodes, at most (default: 64)")
    parser.add_argument("--detectable", action="store_true", help="one node, just detectable")
    parser.add_argument("--simulated", action="store_true", help="maps of SimGrid")
    parser.add_argument("--verbose", action="store_true", help="a line for each failure")
    args = parser.parse_args()
    rows: dict[str, list[tuple[int, ...]]] = {}
    maps = simulated if args.simulated else just_detectable if args.detectable else slow_machines
    for name, run, slow in maps(args):
        start = time.process_time()
        verdict = check(run)
        seconds = time.process_time() - start
        named = {*verdict.bad_hosts, *verdict.suspects}
        wrong = bool(named - slow)
        rows.setdefault(name, []).append(
            (
                verdict.verdict == GOOD,
                verdict.verdict == NOT_KNOWN,
                len(named & slow),
                len(slow),
                wrong,
            )
        )
        if args.verbose and (wrong or slow - named or (not slow and verdict.verdict != GOOD)):
            print(
                name,
                len(set(run.hosts)),
                "nodes:",
                verdict.verdict,
                "slow",
                sorted(slow)[:8],
                "named",
                sorted(named)[:8],
                verdict.doubts,
                f"{seconds:.1f} s",
            )
    print(f"{'':18}  maps   good  not known  named  false")
    for name, outcomes in rows.items():
        good, unknown, named_count, slow_count, wrong_count = np.sum(outcomes, axis=0)
        share = f"{named_count / slow_count:6.1%}" if slow_count else "     –"
        print(f"{name:18}  {len(outcomes):4}  {good:5}  {unknown:9}  {share}  {wrong_count:5}")


if __name__ == "__main__":
    main()
