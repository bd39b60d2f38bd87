"""How often latency maps are read right: of random machines, of processors made up, of real ones.

    python bench/map_rates.py --suite machines --count 100
    python bench/map_rates.py --suite field --field DIR --half a

Suites: `machines` of 4 to 64 nodes with one thing slowed, `small` ones of 4 to 12 nodes,
`slow-nodes` (one to a third of the nodes), `processors` (`made_up.processors`), and `field`: maps
of real processors in DIR/truth.json and DIR/NAME.csv, by default those in $ISOCHRONE_FIELD/maps.
Each map of processors is read as it is, and with a defect: a rank at 1.5 times, a pair at 2 times.

`exact`: exactly the slow components are named, and on processors the levels are right, too;
`false`: something else is named; `levels`: every visible level with its groups, none invented;
`named`: slow components that are named; `nothing`: machines with a slow component of which nothing
is said at all, neither a slow component nor a doubt. `median` and `worst` are processor time.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random as chances
import signal
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from isochrone.latency_map.topology import Slow, Topology, analyse
from isochrone.runfile.run import Run
from made_up.latency_maps import Matrix, map_of
from made_up.machines import LAWS, SLOWED, Truth, map_with, random_machine, random_slow_nodes
from made_up.processors import (
    DEFECTS,
    FAMILIES,
    Defect,
    Grouping,
    deviations,
    map_with_defect,
    random_processor,
    with_defect,
)

SHARES = (0.25, 0.5, 1.0, 5.0)
SMALL = 12
"""Nodes of a small machine."""
LARGE = 64
AGAIN = 0.5
"""Seconds until an analysis is told again that it takes too long: some callbacks do not stop."""
CLEAR = 3.0
"""Defects of more standard deviations of their peers are to be named."""
HEADS = ("", "maps", "exact", "false", "levels", "named", "nothing", "median", "worst")

Name = tuple[str, frozenset[str]] | frozenset[int]


@dataclass(frozen=True)
class Case:
    """A map with its truth.

    Attributes
    ----------
    name
        Seed, or name of a map: what `--only` takes.
    rows
        The rows of the table that it counts in.
    run
        The map.
    slow
        What is slow: kind and hosts, or ranks.
    must, may
        Groupings that are to be found, and that may be.
    of
        What is compared of each slow component that is found.
    with_levels
        Whether an exact reading has the right levels, too.
    """

    name: str
    rows: tuple[str, ...]
    run: Run
    slow: frozenset[Name]
    must: frozenset[Grouping]
    may: frozenset[Grouping]
    of: Callable[[Slow], Name]
    with_levels: bool = False


@dataclass(frozen=True)
class Outcome:
    """How a map was read.

    Attributes
    ----------
    exact, false, levels, nothing
        As in the table.
    named, slow
        How many slow components are named, of how many.
    seconds
        Processor time.
    said
        What was found, for a person.
    late
        Whether nothing was found, for it took too long.
    """

    exact: bool
    false: bool
    levels: bool
    nothing: bool
    named: int
    slow: int
    seconds: float
    said: str
    late: bool = False


class TooLong(Exception):
    """An analysis takes longer than the limit."""


# ---- suites ------------------------------------------------------------------------------------


def machines(seed: int, noises: list[float], most: int = LARGE) -> Case | None:
    """Slow one thing of a machine; None if it has no such thing."""
    kind = SLOWED[seed % len(SLOWED)]
    turn = seed // len(SLOWED)
    noise = noises[turn % len(noises)]
    law = LAWS[turn // len(noises) % 2]
    random = np.random.default_rng([45, seed])
    share = float(random.choice(SHARES))
    made = map_with(random_machine(random, most), kind, share, noise, random, law)
    if made is None:
        return None
    by_law = (f"{kind}, {law}",) if kind in ("node", "nodes", "half rack") else ()
    rows = (_percent("noise", noise), f"kind {kind}", *by_law, _percent("slower by", share))
    return _of_nodes(seed, rows, *made)


def slow_nodes(seed: int, noises: list[float]) -> Case:
    """Slow one to a third of the nodes of a machine."""
    law = LAWS[seed % len(LAWS)]
    noise = noises[seed // len(LAWS) % len(noises)]
    run, truth = random_slow_nodes(np.random.default_rng([46, seed]), noise, law)
    several = "one slow node" if len(truth.named) == 1 else "several slow nodes"
    switches = any(len({run.hosts[rank] for rank in group}) > 1
                   for groups in truth.levels[:-1] for group in groups)  # fmt: skip
    levels = "on several switches" if switches else "on one switch"
    rows = (_percent("noise", noise), f"law {law}", several, levels)
    return _of_nodes(seed, rows, run, truth)


def _of_nodes(seed: int, rows: tuple[str, ...], run: Run, truth: Truth) -> Case:
    size = f"4-{SMALL} nodes" if len(set(run.hosts)) <= SMALL else f"{SMALL + 1}-{LARGE} nodes"
    must = _several(truth.levels, run.size)
    return Case(
        str(seed), ("all", size, *rows), run, frozenset(truth.named), must, frozenset(),
        lambda part: (part.kind, frozenset(part.hosts)),
    )  # fmt: skip


def processors(seed: int) -> Case:
    """Make up a processor, healthy or with a defect."""
    defect = DEFECTS[seed % len(DEFECTS)]
    family = list(FAMILIES)[seed // len(DEFECTS) % len(FAMILIES)]
    random = np.random.default_rng([47, seed])
    processor = random_processor(random, family)
    run, truth = map_with_defect(processor, random, defect, shuffled=bool(random.random() < 0.3))
    tails = "heavy tails" if math.isfinite(processor.freedom) else "normal tails"
    rows = [_defect_row(defect, truth.deviations), family, f"{family}, {defect}", tails]
    rows += [_cores(run.size)]
    slow = frozenset({truth.defect}) if truth.defect else frozenset()
    return Case(
        str(seed), ("all", *rows), run, slow, truth.visible, truth.may,
        lambda part: frozenset(part.ranks), with_levels=defect == "nothing",
    )  # fmt: skip


def field(folder: Path, half: str | None) -> Iterator[Case]:
    """Read maps of real processors; each as it is, and with two defects."""
    truths = json.loads((folder / "truth.json").read_text())
    names = sorted(truths)
    for name in names if half is None else names["ab".index(half) :: 2]:
        times = _matrix(folder / f"{name}.csv")
        pairs = np.argwhere(np.triu(np.isfinite(times), 1))
        chance = chances.Random(name)
        rank = chance.choice(np.unique(pairs).tolist())
        pair = chance.choice(pairs.tolist())
        for defect, ranks in zip(DEFECTS, ([], [rank], pair), strict=True):
            yield _of_field(name, defect, ranks, times, truths[name])


def _of_field(
    name: str, defect: Defect, ranks: list[int], times: Matrix, truth: Mapping[str, Any]
) -> Case:
    size = len(times)
    hardware = [_grouping(level["groups"]) for level in truth["levels"]]
    must = frozenset(
        groups for groups, level in zip(hardware, truth["levels"], strict=True) if level["visible"]
    )
    may = frozenset([*hardware, *(_grouping(level["groups"]) for level in truth["may"])])
    chain = [_numbered(level["groups"], size) for level in truth["levels"]]
    row = _defect_row(defect, deviations(times, chain, ranks) if ranks else math.inf)
    return Case(
        f"{name}:{defect}", ("all", row, f"{_cores(size)}, {defect}"),
        map_of(2e-3 * with_defect(times, ranks), ["n01"] * size),  # there and back, in µs
        frozenset({frozenset(ranks)}) if ranks else frozenset(), must, may,
        lambda part: frozenset(part.ranks), with_levels=defect == "nothing",
    )  # fmt: skip


def _numbered(groups: list[list[int]], size: int) -> NDArray[np.int64]:
    """Return the group of each core; one that is in none is alone."""
    found = np.arange(len(groups), len(groups) + size)
    for k, group in enumerate(groups):
        found[group] = k
    return found


def _matrix(path: Path) -> Matrix:
    """Read one-way latencies in ns: a lower triangle, or a square whose two ways are averaged."""
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    rows = [[cell.strip() for cell in line.split(",")] for line in lines]
    size = max(len(rows), *(len(row) for row in rows))
    one_way = np.full((size, size), np.nan)
    for i, row in enumerate(rows):
        for j, cell in enumerate(row):
            if cell and i != j:
                one_way[i, j] = float(cell)
    there, back = np.isfinite(one_way), np.isfinite(one_way.T)
    both = np.where(there & back, (one_way + one_way.T) / 2, one_way)
    return np.where(there, both, one_way.T)


def _grouping(groups: list[list[int]]) -> Grouping:
    return frozenset(frozenset(group) for group in groups)


def _several(levels: tuple[Grouping, ...], ranks: int) -> frozenset[Grouping]:
    """Leave out levels of single ranks, and of all of them."""
    return frozenset(groups for groups in levels if 1 < len(groups) < ranks)


def _cores(size: int) -> str:
    bounds = ((8, "4-8 cores"), (32, "9-32 cores"), (128, "33-128 cores"), (math.inf, "over 128"))
    return next(words for most, words in bounds if size <= most)


def _defect_row(defect: str, deviations: float) -> str:
    if defect == "nothing":
        return "defect nothing"
    clear = "over" if deviations > CLEAR else "within"
    return f"defect {defect}, {clear} {CLEAR:g} deviations"


def _percent(what: str, part: float) -> str:
    return f"{what} {100 * part:g} %"


# ---- reading -----------------------------------------------------------------------------------


def read(case: Case, limit: float) -> Outcome:
    """Analyse a map, and give up after so many seconds of processor time."""
    start = time.process_time()
    signal.setitimer(signal.ITIMER_PROF, limit, AGAIN)
    try:
        found = analyse(case.run)
    except TooLong:
        return Outcome(
            False, False, False, False, 0, len(case.slow), limit, "too long", late=True
        )  # fmt: skip
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return _outcome(case, found, time.process_time() - start)


def _outcome(case: Case, found: Topology, seconds: float) -> Outcome:
    named = frozenset(case.of(part) for part in found.slow)
    size = case.run.size
    groupings = _several(tuple(_grouping(level.groups) for level in found.levels), size)
    levels = case.must <= groupings <= case.must | case.may
    doubt = bool(found.not_understood.pairs or found.blind)
    false = len([part for part in found.slow if case.of(part) not in case.slow])
    right = named == case.slow and not false and (levels or not case.with_levels)
    wanted, got = (sorted(len(groups) for groups in of) for of in (case.must, groupings))
    said = (
        f"slow {_listed(case.slow)}, found {_listed(named)}; groups {wanted}, found {got}; "
        f"{found.not_understood.pairs} pairs unexplained; {'; '.join(found.blind) or 'not blind'}"
    )
    return Outcome(
        right, bool(false), levels, bool(case.slow) and not found.slow and not doubt,
        len(named & case.slow), len(case.slow), seconds, said,
    )  # fmt: skip


def _listed(names: frozenset[Name]) -> str:
    words = []
    for name in names:
        kind, members = name if isinstance(name, tuple) else ("ranks", name)
        words.append(f"{kind} {'+'.join(str(one) for one in sorted(members))}")
    most = 8
    more = f" and {len(words) - most} more" if len(words) > most else ""
    return ", ".join(sorted(words)[:most]) + more or "nothing"


class Rates:
    """Outcomes by row of a table."""

    def __init__(self) -> None:
        self.rows: dict[str, list[Outcome]] = {}

    def add(self, case: Case, outcome: Outcome) -> None:
        """Count an outcome in its rows."""
        for row in case.rows:
            self.rows.setdefault(row, []).append(outcome)

    def table(self) -> Iterator[list[str]]:
        """Return the cells of each row; what took too long is not exact, and has no levels."""
        first = ("all", "4-8 cores", "9-32 cores", "33-128 cores")
        order = {row: str(k) for k, row in enumerate(first)}
        for row in sorted(self.rows, key=lambda one: order.get(one, f"9{one}")):
            own = self.rows[row]
            late = sum(one.late for one in own)
            times = [one.seconds for one in own]
            yield [
                row, f"{len(own)}" + f" ({late} too long)" * bool(late),
                *(_part(sum(getattr(one, what) for one in own), len(own))
                  for what in ("exact", "false", "levels")),
                _part(sum(one.named for one in own), sum(one.slow for one in own)),
                _part(sum(one.nothing for one in own), sum(one.slow > 0 for one in own)),
                f"{statistics.median(times):.2f} s", f"{max(times):.1f} s",
            ]  # fmt: skip


def _part(number: int, count: int) -> str:
    return f"{100 * number / count:.1f} %" if count else "–"


# ---- program -----------------------------------------------------------------------------------


def cases(suite: str, args: argparse.Namespace) -> Iterator[Case]:
    """Draw the maps of a suite: so many, or the one with this seed or name."""
    if suite == "field":
        for case in field(args.field, args.half):
            if args.only is None or args.only in case.name:
                yield case
        return
    draw: dict[str, Callable[[int], Case | None]] = {
        "machines": lambda seed: machines(seed, args.noise),
        "small": lambda seed: machines(seed, args.noise, SMALL),
        "slow-nodes": lambda seed: slow_nodes(seed, args.noise),
        "processors": processors,
    }
    seed = args.seed if args.only is None else int(args.only)
    left = args.count if args.only is None else 1
    while left:
        drawn = draw[suite](seed)
        seed += 1
        if drawn is not None:
            left -= 1
            yield drawn
        elif args.only is not None:
            sys.exit(f"the machine of seed {seed - 1} has no such thing to slow")


def rates(suite: str, args: argparse.Namespace) -> Rates:
    """Read the maps of a suite, and stop when its processor time is spent."""
    counted, start = Rates(), time.process_time()
    for case in cases(suite, args):
        if time.process_time() - start > args.budget:
            print(f"stopped after {args.budget:g} s, before {case.name}")
            break
        outcome = read(case, args.limit)
        counted.add(case, outcome)
        if args.verbose and not (outcome.exact and outcome.levels):
            where = f"{suite} --only {case.name} ({', '.join(case.rows[1:])})"
            print(f"{where}: {_word(outcome)}: {outcome.said}", flush=True)
    return counted


def _word(outcome: Outcome) -> str:
    words = ["FALSE"] * outcome.false + ["not exact"] * (not outcome.exact)
    words += ["LEVELS"] * (not outcome.levels) + ["NOTHING SAID"] * outcome.nothing
    return " ".join(words)


def options() -> argparse.ArgumentParser:
    """Return the options of this program."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    folder = os.environ.get("ISOCHRONE_FIELD")
    suites = ["machines", "small", "slow-nodes", "processors", "field"]
    parser.add_argument("--suite", choices=[*suites, "all"], default="machines")
    parser.add_argument("--count", type=int, default=100, help="maps of a suite (default: 100)")
    parser.add_argument("--seed", type=int, default=0, help="of the first map (default: 0)")
    parser.add_argument("--noise", type=float, nargs="+", default=[0.0, 0.05],
                        help="of machines, in turn (default: 0 and 0.05)")  # fmt: skip
    parser.add_argument("--only", help="the map with this seed or name")
    parser.add_argument("--field", type=Path, default=folder and Path(folder) / "maps",
                        help="folder of maps (default: $ISOCHRONE_FIELD/maps)")  # fmt: skip
    parser.add_argument("--half", choices=["a", "b"], help="every second map of the folder")
    parser.add_argument("--limit", type=float, default=60,
                        help="seconds of processor time of a map (default: 60)")  # fmt: skip
    parser.add_argument("--budget", type=float, default=math.inf,
                        help="seconds of processor time of a suite (default: any)")  # fmt: skip
    parser.add_argument("--verbose", action="store_true", help="a line for each failure")
    return parser


def _stop(number: int, frame: FrameType | None) -> None:
    raise TooLong


def main() -> None:
    """Count, and print a table for each suite."""
    parser = options()
    args = parser.parse_args()
    if args.suite == "all":
        suites = ["machines", "small", "slow-nodes", "processors", *["field"] * bool(args.field)]
    else:
        suites = [args.suite]
    if "field" in suites and not args.field:
        parser.error("--field, or ISOCHRONE_FIELD, must name the folder of maps")
    signal.signal(signal.SIGPROF, _stop)
    for suite in suites:
        table = [list(HEADS), *rates(suite, args).table()]
        table[0][0] = suite
        widths = [max(len(row[k]) for row in table) for k in range(len(HEADS))]
        for row in table:
            first, *others = (
                cell.rjust(width) if k else cell.ljust(width)
                for k, (cell, width) in enumerate(zip(row, widths, strict=True))
            )
            print(first, *others, sep="  ")
        print()


if __name__ == "__main__":
    main()
