"""How often `check` is right where the hosts differ from night to night.

`python bench/baseline_hosts.py` draws nights of a cluster with switches. Each night, a job gets
some of the hosts. Nodes differ from each other for good, pairs have heavy tails, launches drift,
and in one earlier night a node was slow. Then, one more night is judged in which nothing changed,
or one node became slow.

With --healthy, nothing is ever slow. Each of several clusters of 16 to 32 hosts, half of them with
enclosures of two hosts, is measured on 20 nights, each compared with all before it. Hosts drift by
0.2 % a night; launches scatter by 3 %, nodes by 0.8 % and pairs by 1.2 %. Single measurements
scatter by 2 % with the tails of Student's distribution of 3 to 5 degrees of freedom. --tails 5
gives such tails to the pairs of a launch, too: some are then truly slow, for that launch.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from isochrone.changes.baseline import Reference
from isochrone.changes.check import Earlier, check
from isochrone.changes.thresholds import MIN_BASELINE_RUNS
from isochrone.runfile.run import Run
from made_up.nights import Cluster

FACTORS = (1.15, 1.25, 1.5, 2.0)
OVERLAPS = (1.0, 0.9, 0.5)
IN_A_ROW = 20


@dataclass(frozen=True)
class Judged:
    """What was said of one night: of a node that was known before, and of any other."""

    found: bool
    alarm: bool
    said: str


def main() -> None:
    """Print rates."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1, help="of the first night (default: 1)")
    parser.add_argument("--nights", type=int, default=50, help="of each sort (default: 50)")
    parser.add_argument("--earlier", type=int, nargs="+", default=[7], help="nights before")
    parser.add_argument("--hosts", type=int, nargs="+", default=[16], help="of a job")
    parser.add_argument("--each", type=int, default=2, help="ranks per node (default: 2)")
    parser.add_argument("--by-baseline", action="store_true", help="without peers of the same map")
    parser.add_argument("--healthy", action="store_true", help="only healthy nights, in a row")
    parser.add_argument("--tails", type=float, default=np.inf, help="of pairs, with --healthy")
    args = parser.parse_args()
    start = time.process_time()
    if args.healthy:
        healthy(args.seed, args.nights, args.tails)
    for hosts in () if args.healthy else args.hosts:
        for earlier in args.earlier:
            for overlap in OVERLAPS:
                rates(
                    args.seed,
                    args.nights,
                    hosts,
                    earlier,
                    overlap,
                    args.each,
                    by_baseline=args.by_baseline,
                )
    print(f"{time.process_time() - start:.0f} s of processor time")


def healthy(seed: int, nights: int, pairs: float) -> None:
    """Print the verdicts on healthy nights, but of the three that a baseline begins with."""
    verdicts, reasons = Counter[str](), Counter[str]()
    for number in range(-(-nights // (IN_A_ROW - MIN_BASELINE_RUNS))):
        dice = np.random.default_rng([seed, number])
        hosts, overlap = int(dice.integers(16, 33)), float(dice.choice(OVERLAPS))
        each, freedom = int(dice.integers(1, 4)), int(dice.integers(3, 6))
        cluster = Cluster.drawn(round(hosts / overlap), each, dice)
        cluster = replace(cluster, siblings=bool(number % 2))
        before: list[Run] = []
        for night in range(IN_A_ROW):
            cluster = cluster.older(0.002, dice)
            run = cluster.launch(cluster.job(hosts, dice), dice, again=True, tails=(pairs, freedom))
            found = check(run, Earlier("nights", before))
            if night >= MIN_BASELINE_RUNS:
                verdicts[found.verdict] += 1
                said = [f"{one.verdict} {one.kind} {one.ratio:.2f}" for one in found.findings]
                reasons.update(said + found.doubts)
            if found.fit:
                before.append(run)
        print(
            f"{hosts} hosts x {each}, {overlap:.0%} in common:",
            dict(verdicts),
            dict(reasons),
            flush=True,
        )


def rates(
    seed: int,
    nights: int,
    hosts: int,
    earlier: int,
    overlap: float,
    each: int = 2,
    factors: Sequence[float] = (1.0, *FACTORS),
    *,
    by_baseline: bool = False,
) -> dict[float, Counter[str]]:
    """Count what is found, and false alarms, by factor."""
    counts: dict[float, Counter[str]] = {}
    for by in factors:
        found = [
            night(seed + k, hosts, earlier, overlap, each, by, by_baseline=by_baseline)
            for k in range(nights)
        ]
        counts[by] = Counter(
            found=sum(one.found for one in found), alarms=sum(one.alarm for one in found)
        )
        said = Counter(one.said for one in found if one.alarm or (by > 1 and not one.found))
        print(
            f"{hosts} hosts, {earlier} nights, {overlap:.0%} in common, x{by}: "
            f"{dict(counts[by])} of {nights}",
            *said.most_common(4),
            flush=True,
        )
    return counts


def night(
    seed: int,
    hosts: int,
    earlier: int,
    overlap: float,
    each: int,
    by: float,
    *,
    by_baseline: bool = False,
) -> Judged:
    """Judge one night; of the hosts of the cluster, each job has the part ``overlap``."""
    dice = np.random.default_rng([seed, hosts, earlier, round(100 * overlap), round(100 * by)])
    cluster = Cluster.drawn(round(hosts / overlap), each, dice)
    before, known = [], Counter[int]()
    for k in range(earlier):
        job = cluster.job(hosts, dice)
        slow = {int(dice.choice(job)): 2.0} if k == earlier // 2 else {}
        before.append(cluster.launch(job, dice, slow))
        known.update(job.tolist())
    job = cluster.job(hosts, dice)
    often = [host for host in job.tolist() if known[host] >= 3]
    changed = int(dice.choice(often)) if often else int(job[0])
    run = cluster.launch(job, dice, {changed: by} if by > 1 else {}, again=not by_baseline)
    bad, said = judged(run, before, by_baseline=by_baseline)
    name = cluster.names[changed]
    return Judged(name in bad, any(one != name or by == 1 for one in said), ", ".join(said))


def judged(run: Run, before: list[Run], *, by_baseline: bool) -> tuple[list[str], list[str]]:
    """Return the hosts that are slower, and all that is said to be."""
    if by_baseline:
        found = Reference(before).judge(run).worse
        nodes = [one.what.hosts[0] for one in found if one.what.kind == "node" and one.proved]
        said = [one.what.who.split()[-1].split("(")[-1].rstrip(")") for one in found]
        return nodes, said
    checked = check(run, Earlier("nights", before))
    return checked.bad_hosts, [
        one.hosts[0] if len(one.hosts) == 1 else one.who for one in checked.findings
    ]


if __name__ == "__main__":
    main()
