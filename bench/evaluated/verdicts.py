"""How often verdicts about random machines are correct."""

from __future__ import annotations

from collections import Counter

import sampled_maps
import verdicts
from scipy.stats import beta

from evaluated.section import Bed, Section, Table, percent

TITLE = "Verdicts on random machines"
QUICK = ("nothing", "node x1.1", "node x1.25", "pair x1.3")
COLUMNS = ("test", "slow or changed", "correct", "missed", "false", "cases", "false at most (95 %)")


def evaluate(bed: Bed) -> Section:
    """Count correct, missed and false verdicts."""
    seeds, without = bed.many(1, 10), ("large torus",) if bed.quick else ()
    changes = [name for name in verdicts.CHANGES if not bed.quick or name in QUICK]
    rows = []
    for name, counts in verdicts.alone(2000, seeds, 0.02, without).items():
        rows.append(_row("single map", name, counts, "right", "missed", "INNOCENT NAMED"))
    for name, counts in verdicts.with_baseline(2000, seeds, changes, without).items():
        good = "quiet" if name == "nothing" else "found"
        rows.append(_row("against 5 nights", name, counts, good, "MISSED", "FALSE ALARM"))
    torus = verdicts.links(2000, seeds)
    called = sum(number for word, number in torus.items() if word.startswith("good"))
    machines = bed.many(10, 400)
    words = ["--machines", machines, "--nodes", 64, 160, "--sample", 0.05, "--first", 5000]
    sampled, _ = sampled_maps.rates(sampled_maps.options().parse_args([str(one) for one in words]))
    right, false = sampled["right"], sampled["false"]
    rows.append(("5 % of the pairs", "anything", right, machines - right - false, false, machines,
                 _most(false, machines)))  # fmt: skip
    alone, false_alarms = (sum(int(row[4]) for row in rows if row[0] == what)
                           for what in ("single map", "against 5 nights"))  # fmt: skip
    return Section(
        f"Synthetic maps of {12 - len(without)} machine shapes, {seeds} of each, with a slow component drawn at "
        "random; and samples of 5 % of the pairs of machines of 64 to 160 nodes.",
        [f"{alone} verdicts on single maps name a healthy host; comparisons with earlier nights give "
         f"{false_alarms} false alarms. {called} of {sum(torus.values())} tori with a slow link are judged good. "
         f"A sample gives the correct levels on {percent(sampled['levels'] / machines)} of the machines."],
        [*(f"{row[0]}, {row[1]}: {row[3]} of {row[5]} missed or not known."
           for row in rows if row[3]),
         f"With so few cases the bounds are wide: 0 of {rows[0][5]} is compatible with a rate of up to "
         f"{_most(0, int(rows[0][5]))}. `FULL=1` draws ten times as many.",
         "Shapes and noise are drawn by the project itself: real machines differ."],
        [Table("verdicts", COLUMNS, rows, shown=14)],
    )  # fmt: skip


def _row(
    what: str, name: str, counts: Counter[str], right: str, missed: str, false: str
) -> tuple[object, ...]:
    good, bad = counts[right], counts[false]
    cases = (
        good
        + bad
        + counts[missed]
        + sum(number for word, number in counts.items() if word.startswith("as "))
    )
    return what, name, good, cases - good - bad, bad, cases, _most(bad, cases)


def _most(count: int, cases: int) -> str:
    return percent(float(beta.ppf(0.975, count + 1, cases - count))) if cases > count else "–"
