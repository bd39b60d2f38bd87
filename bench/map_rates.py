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
import math
import os
import signal
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from beds.field_maps import field_cases
from beds.map_readings import Case, Outcome, processor_case, read, several
from isochrone.runfile.run import Run
from made_up.machines import LAWS, SLOWED, Truth, map_with, random_machine, random_slow_nodes

SHARES = (0.25, 0.5, 1.0, 5.0)
SMALL = 12
"""Nodes of a small machine."""
LARGE = 64
AGAIN = 0.5
"""Seconds until an analysis is told again that it takes too long: some callbacks do not stop."""
HEADS = ("", "maps", "exact", "false", "levels", "named", "nothing", "median", "worst")


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
    switches = any(
        len({run.hosts[rank] for rank in group}) > 1
        for groups in truth.levels[:-1]
        for group in groups
    )
    levels = "on several switches" if switches else "on one switch"
    rows = (_percent("noise", noise), f"law {law}", several, levels)
    return _of_nodes(seed, rows, run, truth)


def _of_nodes(seed: int, rows: tuple[str, ...], run: Run, truth: Truth) -> Case:
    size = f"4-{SMALL} nodes" if len(set(run.hosts)) <= SMALL else f"{SMALL + 1}-{LARGE} nodes"
    must = several(truth.levels, run.size)
    return Case(
        str(seed),
        ("all", size, *rows),
        run,
        frozenset(truth.named),
        must,
        frozenset(),
        lambda part: (part.kind, frozenset(part.hosts)),
    )


def _percent(what: str, part: float) -> str:
    return f"{what} {100 * part:g} %"


# ---- reading -----------------------------------------------------------------------------------


def read_within(case: Case, limit: float) -> Outcome:
    """Analyse a map, and give up after so many seconds of processor time."""
    signal.setitimer(signal.ITIMER_PROF, limit, AGAIN)
    try:
        return read(case)
    except TooLong:
        return Outcome(False, False, False, False, 0, len(case.slow), limit, "too long", late=True)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


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
                row,
                f"{len(own)}" + f" ({late} too long)" * bool(late),
                *(
                    _part(sum(getattr(one, what) for one in own), len(own))
                    for what in ("exact", "false", "levels")
                ),
                _part(sum(one.named for one in own), sum(one.slow for one in own)),
                _part(sum(one.nothing for one in own), sum(one.slow > 0 for one in own)),
                f"{statistics.median(times):.2f} s",
                f"{max(times):.1f} s",
            ]


def _part(number: int, count: int) -> str:
    return f"{100 * number / count:.1f} %" if count else "–"


# ---- program -----------------------------------------------------------------------------------


def cases(suite: str, args: argparse.Namespace) -> Iterator[Case]:
    """Draw the maps of a suite: so many, or the one with this seed or name."""
    if suite == "field":
        for case in field_cases(args.field, args.half):
            if args.only is None or args.only in case.name:
                yield case
        return
    draw: dict[str, Callable[[int], Case | None]] = {
        "machines": lambda seed: machines(seed, args.noise),
        "small": lambda seed: machines(seed, args.noise, SMALL),
        "slow-nodes": lambda seed: slow_nodes(seed, args.noise),
        "processors": processor_case,
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
        outcome = read_within(case, args.limit)
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
    parser.add_argument(
        "--noise",
        type=float,
        nargs="+",
        default=[0.0, 0.05],
        help="of machines, in turn (default: 0 and 0.05)",
    )
    parser.add_argument("--only", help="the map with this seed or name")
    parser.add_argument(
        "--field",
        type=Path,
        default=folder and Path(folder) / "maps",
        help="folder of maps (default: $ISOCHRONE_FIELD/maps)",
    )
    parser.add_argument("--half", choices=["a", "b"], help="every second map of the folder")
    parser.add_argument(
        "--limit", type=float, default=60, help="seconds of processor time of a map (default: 60)"
    )
    parser.add_argument(
        "--budget",
        type=float,
        default=math.inf,
        help="seconds of processor time of a suite (default: any)",
    )
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
