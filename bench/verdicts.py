"""How often `check` is right, on machines whose truth is known: `python bench/verdicts.py`.

Without earlier runs: 12 shapes of machines, what is slow in each, several seeds; the host list is
right, names an innocent, or lacks a bad one. With five earlier launches: how often a change is
found, and how often one is seen where nothing changed. Also tori with one slow link, which must
never be called good. Seeds are those given, so that others can be tried: `--seed 1000`.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from isochrone.changes.check import Check, Earlier, check
from made_up import nights
from made_up.latency_maps import torus
from made_up.nights import SHAPES, Chance, Machine, Truth, launch, link_truth, shape

EARLIER = 5

ALONE = {
    "nothing": (nights.nothing, None),
    "node x1.25": (nights.node, 1.25),
    "node x3": (nights.node, 3.0),
    "pair x2": (nights.pair, 2.0),
    "level x1.3": (nights.level, 1.3),
}

CHANGES = {
    "nothing": (nights.nothing, None),
    "node x1.1": (nights.node, 1.1),
    "node x1.25": (nights.node, 1.25),
    "node x3": (nights.node, 3.0),
    "level x1.3": (nights.level, 1.3),
    "pair x1.3": (nights.pair, 1.3),
}


def main() -> None:
    """Count verdicts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1, help="of the first machine (default: 1)")
    parser.add_argument("--seeds", type=int, default=3, help="machines of each sort (default: 3)")
    parser.add_argument(
        "--only", choices=["alone", "links", "baseline"], help="this part (default: all)"
    )
    args = parser.parse_args()
    start = time.process_time()
    if args.only in (None, "alone"):
        for noise in (0.02, 0.05):
            alone(args.seed, args.seeds, noise)
    if args.only in (None, "links"):
        links(args.seed, args.seeds)
    if args.only in (None, "baseline"):
        with_baseline(args.seed, args.seeds)
    print(f"{time.process_time() - start:.0f} s of processor time")


def made(kind: tuple, machine: Machine, dice: np.random.Generator) -> Truth:
    """Make a truth."""
    draw, by = kind
    return draw(machine, dice) if by is None else draw(machine, dice, by)


def alone(
    seed: int, seeds: int, noise: float, without: Sequence[str] = ()
) -> dict[str, Counter[str]]:
    """Judge maps by themselves; return how often what was said, by what is slow."""
    by_name: dict[str, Counter[str]] = {}
    print(f"a map by itself, noise {noise:.0%}:")
    total: Counter[str] = Counter()
    for name, kind in ALONE.items():
        counts: Counter[str] = Counter()
        for number, of in enumerate(SHAPES):
            for k in range(seeds if of not in without else 0):
                dice = np.random.default_rng([seed + k, number, list(ALONE).index(name)])
                machine = shape(of, dice)
                truth = made(kind, machine, dice)
                found = check(launch(machine, dice, truth, Chance(noise=noise)))
                word = judged(found, truth)
                counts[word] += 1
                counts[f"verdict {found.verdict}"] += 1
                if word != "right":
                    print(
                        f"    {word}: {name} on {of}, seed {seed + k}: {found.bad_hosts}, "
                        f"true {sorted(truth.bad)}"
                    )
        total += counts
        by_name[name] = counts
        print(f"  {name:<12} {dict(counts)}", flush=True)
    print(f"  all          {dict(total)}")
    return by_name


def judged(found: Check, truth: Truth) -> str:
    """Say what is right or wrong with a list of hosts."""
    listed = set(found.bad_hosts)
    if listed - truth.bad:
        return "INNOCENT NAMED"
    return "right" if listed == truth.bad else "missed"


def links(seed: int, seeds: int) -> Counter[str]:
    """Judge tori with one slow link; return how often what was said."""
    counts: Counter[str] = Counter()
    for shape_ in ((4, 4), (8, 8), (3, 3, 3), (4, 4, 4), (16,)):
        for by in (10.0, 30.0):
            for k in range(seeds):
                dice = np.random.default_rng([seed + k, int(by), *shape_])
                machine = Machine("torus", torus(shape_), 1.0, np.arange(int(np.prod(shape_))))
                truth = link_truth(shape_, dice, by, 2.0, 1.0)
                found = check(launch(machine, dice, truth))
                counts[f"{found.verdict}, {judged(found, truth)}"] += 1
                if found.verdict == "good":
                    print(f"    good: {shape_} x{by:g} seed {seed + k}")
    print(f"tori with one slow link: {dict(counts)}")
    return counts


def with_baseline(
    seed: int, seeds: int, changes: Iterable[str] = CHANGES, without: Sequence[str] = ()
) -> dict[str, Counter[str]]:
    """Judge maps against five earlier launches; return how often what was said, by change."""
    by_name: dict[str, Counter[str]] = {}
    print(f"against {EARLIER} earlier launches:")
    for name in changes:
        kind = CHANGES[name]
        counts: Counter[str] = Counter()
        for number, of in enumerate(SHAPES):
            for k in range(seeds if of not in without else 0):
                dice = np.random.default_rng([seed + k, number, 77, list(CHANGES).index(name)])
                machine = shape(of, dice)
                truth = made(kind, machine, dice)
                earlier = Earlier("nights", [launch(machine, dice) for _ in range(EARLIER)])
                found = check(launch(machine, dice, truth), earlier)
                worse = [one for one in found.findings if one.verdict == "slower"]
                word = changed(name, found, truth)
                counts[word] += 1
                counts[judged(found, truth)] += 1
                if word in ("MISSED", "FALSE ALARM"):
                    what = [(one.who, round(one.ratio, 2)) for one in worse[:4]]
                    print(
                        f"    {word}: {name} on {of}, seed {seed + k}: {what} "
                        f"{found.verdict} {found.visible}"
                    )
        by_name[name] = counts
        print(f"  {name:<12} {dict(counts)}", flush=True)
    return by_name


def changed(name: str, found: Check, truth: Truth) -> str:
    """Say whether what changed was found, and as what it is."""
    kinds = {one.kind for one in found.findings if one.verdict == "slower"}
    if name == "nothing":
        return "FALSE ALARM" if kinds or found.findings else "quiet"
    what = name.split()[0]
    if what == "node":
        return "found" if truth.bad <= set(found.bad_hosts) else "MISSED"
    return "found" if what in kinds else f"as {sorted(kinds)}" if kinds else "MISSED"


if __name__ == "__main__":
    main()
