"""How often verdicts about random machines are correct."""

from __future__ import annotations

from collections import Counter

import sampled_maps
import verdicts
from scipy.stats import beta

from evaluated.section import Bed, Page, Rows, Section, Table, percent

TITLE = "Verdicts on random machines"
TABLES = ("verdicts",)
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
    rows.append(
        (
            "5 % of the pairs",
            "varied",
            right,
            machines - right - false,
            false,
            machines,
            _most(false, machines),
        )
    )
    return Section(
        [Table("verdicts", COLUMNS, rows)],
        {
            "shapes": str(12 - len(without)),
            "tori": str(sum(torus.values())),
            "good tori": str(called),
            "levels": percent(sampled["levels"] / machines),
        },
    )


def page(facts: dict[str, str], tables: dict[str, Rows]) -> Page:
    """Say what the table shows."""
    rows = tables["verdicts"]
    right, missed, false, cases = (sum(int(row[k]) for row in rows) for k in (2, 3, 4, 5))
    where = [_in_words(row[1]) for row in rows if row[3] != "0"]
    return Page(
        "How often are verdicts on random machines correct?",
        f"{right} of {cases} verdicts correct, {false} false alarms",
        f"{missed} missed: {', '.join(where)}" if where else "few cases, so the bounds are wide",
        f"The latency maps are synthetic, with {facts['shapes']} shapes of machines. The slow component is chosen at "
        "random. *node x1.25* means that all round trips of one node take 1.25 times as long. *level x1.3* slows all pairs of the "
        "highest level, so a correct verdict reports no host. There are three tests:\n\n"
        "- *single map*: a map is judged alone.\n"
        "- *against 5 nights*: a map is compared with five earlier maps of the same machine.\n"
        "- *5 % of the pairs*: a machine of 64 to 160 nodes is judged from a sample of its pairs. Slow components vary.\n\n"
        "The last column is the upper end of the 95 % interval of the rate of false alarms.",
        (
            "test",
            "slow or changed",
            "correct",
            "missed",
            "false alarms",
            "cases",
            "rate of false alarms, at most",
        ),
        rows,
        f"In the test *5 % of the pairs*, all levels are found on {facts['levels']} of the machines.\n\n"
        f"In a further test, {facts['tori']} tori had a slow link. {int(facts['tori']) - int(facts['good tori'])} of "
        f"the {facts['tori']} verdicts were correct, that is, *slow* or *not known*.",
        [
            *(
                f"In the test *{row[0]}*, {row[1]} was not found in {row[3]} of {row[5]} cases."
                for row in rows
                if row[3] != "0"
            ),
            "The number of cases is small. `make evaluation FULL=1` tests ten times as many.",
        ],
    )


def _in_words(name: str) -> str:
    kind, _, factor = name.partition(" x")
    return f"a {kind} whose round trips take {factor} times as long" if factor else name


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
