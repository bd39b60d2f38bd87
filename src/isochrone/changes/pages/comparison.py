"""Two measurements compared: what is slower, faster or not known, and which settings differ."""

from collections.abc import Iterable, Iterator

import numpy as np

from isochrone.base.record import Members
from isochrone.base.text import printable
from isochrone.base.units import format_bytes, format_rate, format_seconds
from isochrone.base.verdicts import FASTER, SAME, SLOWER
from isochrone.changes.compare import Change, Comparison
from isochrone.changes.components import Difference, Part
from isochrone.changes.gate import Limit, what_to_measure
from isochrone.changes.thresholds import FAR_APART
from isochrone.pages.page import Block, Row, Sentence, Table, Tone, columns_of

MAX_COMPARISON_ROWS = 20
TONES: dict[str, Tone] = {SLOWER: "bad", FASTER: "good"}


def blocks(analysis: Comparison) -> list[Block]:
    """Return what a comparison found: the components that changed, or the points if none did."""
    notes = (Sentence(f"  {note}") for note in analysis.notes)
    summary = [*head(analysis), *notes, *_environment(analysis)]
    nothing = analysis.unit == "exact" and analysis.counts[SAME] == len(analysis.changes)
    return summary if nothing else [*summary, table(analysis)]


def name_of(key: Members) -> str:
    """Name a point by what it is: ``op bcast, p 8, 1 KiB``; a pair by its places."""
    labels = []
    if "places" in key:
        labels.append("–".join(key["places"]))
    elif "i" in key and "j" in key:
        labels.append(f"ranks {key['i']}–{key['j']}")
    labels += [
        format_bytes(value) if name == "bytes" and isinstance(value, int) else f"{name} {value}"
        for name, value in key.items()
        if value is not None and name not in ("i", "j", "places")
    ]
    return printable(", ".join(labels), 200)


def complaint(component: Part, comparison: Comparison) -> str:
    """Return one exceeded limit as a line: ``… node n5: 448 pairs, median +16.0 µs``."""
    change = 100 * abs(component.difference.ratio - 1)
    return f"{component.difference.verdict} by {change:.1f} %: {_full_name(component, comparison)}"


def passed(comparison: Comparison, limits: list[Limit]) -> str:
    """Return the line printed where no limit is exceeded."""
    description = " or ".join(f"{limit.what} by more than {100 * limit.by:g} %" for limit in limits)
    if comparison.visible is None or comparison.unit != "launch":
        return f"nothing is {description}"
    return (
        f"nothing is {description}; smallest detectable change of a point: "
        f"{comparison.visible:.2f}x"
    )


def head(found: Comparison) -> list[Block]:
    """Return the verdict on all points together, those on single points, and their basis."""
    margin = f" (within {100 * found.margin:g} %)" if found.margin else ""
    counted = ", ".join(
        f"{number} {word}{margin if word == SAME else ''}" for word, number in found.counts.items()
    )
    points = f"{len(found.changes)} {found.kind}s"
    launches = f"{found.launches[0]} and {found.launches[1]} launches"
    if found.unit == "exact":
        basis = Sentence("  times are exact: every difference beyond rounding counts")
    elif found.one_launch and found.unit == "start":
        basis = Sentence("  one launch per side: differences may be random", "bad")
    elif found.one_launch:
        basis = Sentence(
            f"  one launch per side: no verdict on ratios below {FAR_APART:g}, because launches "
            "differ. "
            f"Measure three or more: {what_to_measure()}. To judge by the ratios alone: "
            "--one-launch",
            "bad",
        )
    elif found.overall is None:
        basis = Sentence(f"  {launches}")
    else:
        whole = f"{ratio_of(found.overall)}: {found.overall.verdict}; {launches}"
        return [
            Sentence(f"{found.experiment}: overall {whole}", "strong"),
            Sentence(f"  {points}, each judged alone: {counted}"),
        ]
    return [Sentence(f"{found.experiment}: {points}, {counted}", "strong"), basis]


def _environment(comparison: Comparison) -> Iterator[Block]:
    """Return what differs between the two sides, likely explanations first."""
    names = [explanation.what for explanation in comparison.explanations]
    for index, explanation in enumerate(comparison.explanations):
        text = f"{explanation.what}: {explanation.before} → {explanation.after}"
        yield (
            Sentence(f"  or: {text}")
            if index
            else Sentence(f"  likely explanation: {text}", "strong")
        )
    if len(names) > 1:
        yield Sentence("  to find the cause, measure again with one change at a time")
    for difference in comparison.differences:
        if difference["what"] not in names:
            yield Sentence(
                f"  differs: {difference['what']}: {difference['before']} | {difference['after']}"
            )


def table(found: Comparison) -> Table:
    """Return the components that changed, or the points that differ most if none did."""
    if found.parts:
        rows = [
            _row(part.difference, amounts_of(part, part.points, found), _full_name(part, found))
            for part in found.parts[:MAX_COMPARISON_ROWS]
        ]
    else:
        off = np.abs(np.expm1(found.changes.differences.rows[:, 0]))
        rows = []
        for k in np.argsort(-off, kind="stable")[:MAX_COMPARISON_ROWS].tolist():
            change = found.changes[k]
            amounts = amounts_of(change, [k], found)
            rows.append(_row(change.difference, amounts, name_of(change.key)))
    more = len(found.parts or found.changes) - MAX_COMPARISON_ROWS
    columns = columns_of(
        "", f">{ratio_title(found)}", ">median, A -> B", "component" if found.parts else "point"
    )
    left_out = f"and {more} more (--json lists all)" if more > 0 else ""
    return Table("", columns, tuple(rows), left_out)


def _row(difference: Difference, amounts: tuple[str, str], name: str) -> Row:
    cells = (difference.verdict, ratio_of(difference), " -> ".join(amounts), name)
    return Row(cells, TONES.get(difference.verdict, ""))


def ratio_title(comparison: Comparison) -> str:
    """Title the column of ratios, which are of times also in a map of bandwidths."""
    of_times = " of times" if comparison.moved([0]) is not None else ""
    return f"ratio{of_times}, 95 % interval"


def amounts_of(
    change: Change | Part, points: Iterable[int], comparison: Comparison
) -> tuple[str, str]:
    """Write what A and B take, or the bandwidths of both in a map of these."""
    moved = comparison.moved(points)
    if moved is None:
        return format_seconds(change.before), format_seconds(change.after)
    return format_rate(moved / change.before), format_rate(moved / change.after)


def _full_name(component: Part, comparison: Comparison) -> str:
    """Name a component and what it adds: ``node n5: 46 of its 48 pairs, median +9.1 µs``."""
    moved = comparison.moved(component.points)
    if moved is None:
        sign, amount = component.added >= 0, format_seconds(abs(component.added))
    else:
        more = moved / component.after - moved / component.before
        sign, amount = more >= 0, format_rate(abs(more))
    added = f"{'+' if sign else '-'}{amount}"
    count = len(component.points)
    if component.of == 1:
        return f"{name_of(comparison.changes[component.points[0]].key)}, {added}"
    kind = "node " if component.kind == "node" and not component.who.startswith("inside") else ""
    size = f", {format_bytes(component.nbytes)}" if component.nbytes is not None else ""
    name = printable(f"{kind}{component.who}{size}", 200)
    if component.kind != "all" or count != component.of:
        name += (
            f": {count if count == component.of else f'{count} of its {component.of}'} "
            f"{comparison.kind}s"
        )
    return f"{name}, median {added}"


def ratio_of(difference: Difference) -> str:
    """Return a ratio with its interval, which a single launch does not have."""
    if difference.low is None or difference.high is None:
        return f"{difference.ratio:.3f} [not known]"
    interval = (
        f"[{difference.low:.3f}, {difference.high:.3f}]"
        if difference.low < difference.high
        else "[–]"
    )
    return f"{difference.ratio:.3f} {interval}"
