"""Two measurements compared: what is slower, faster or not known, and which settings differ."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from isochrone.base.text import printable
from isochrone.base.units import format_bytes, format_seconds
from isochrone.base.verdicts import FASTER, SAME, SLOWER
from isochrone.changes.compare import FAR_APART, Comparison
from isochrone.changes.components import Difference, Part
from isochrone.changes.gate import Limit, what_to_measure
from isochrone.pages.page import Block, Row, Sentence, Table, Tone, columns_of

MAX_ROWS = 20
TONES: dict[str, Tone] = {SLOWER: "bad", FASTER: "good"}


def blocks(found: Comparison) -> list[Block]:
    """Return what a comparison found: the components that changed, or the points if none did."""
    notes = (Sentence(f"  {note}") for note in found.notes)
    shown = [*head(found), *notes, *_environment(found)]
    nothing = found.unit == "exact" and found.counts[SAME] == len(found.changes)
    return shown if nothing else [*shown, table(found)]


def name_of(key: dict[str, Any]) -> str:
    """Name a point by what it is: ``op bcast, p 8, 1 KiB``; a pair by its places."""
    words = []
    if "places" in key:
        words.append("–".join(key["places"]))
    elif "i" in key and "j" in key:
        words.append(f"ranks {key['i']}–{key['j']}")
    words += [
        format_bytes(value) if name == "bytes" and isinstance(value, int) else f"{name} {value}"
        for name, value in key.items()
        if value is not None and name not in ("i", "j", "places")
    ]
    return printable(", ".join(words), 200)


def complaint(part: Part, found: Comparison) -> str:
    """Return one exceeded limit as a line: ``… node n5: 448 pairs, median +16.0 µs``."""
    change = 100 * abs(part.difference.ratio - 1)
    return f"{part.difference.verdict} by {change:.1f} %: {_full_name(part, found)}"


def passed(found: Comparison, limits: list[Limit]) -> str:
    """Return the line printed where no limit is exceeded."""
    what = " or ".join(f"{one.what} by more than {100 * one.by:g} %" for one in limits)
    if found.visible is None or found.unit != "launch":
        return f"nothing is {what}"
    return f"nothing is {what}; smallest detectable change of a point: {found.visible:.2f}x"


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
            "--one-launch", "bad",
        )  # fmt: skip
    elif found.overall is None:
        basis = Sentence(f"  {launches}")
    else:
        whole = f"{ratio_of(found.overall)}: {found.overall.verdict}; {launches}"
        return [
            Sentence(f"{found.experiment}: overall {whole}", "strong"),
            Sentence(f"  {points}, each judged alone: {counted}"),
        ]
    return [Sentence(f"{found.experiment}: {points}, {counted}", "strong"), basis]


def _environment(found: Comparison) -> Iterator[Block]:
    """Return what differs between the two sides, likely explanations first."""
    names = [one.what for one in found.explanations]
    for number, one in enumerate(found.explanations):
        text = f"{one.what}: {one.before} → {one.after}"
        yield (
            Sentence(f"  or: {text}")
            if number
            else Sentence(f"  likely explanation: {text}", "strong")
        )
    if len(names) > 1:
        yield Sentence("  to find the cause, measure again with one change at a time")
    for other in found.differences:
        if other["what"] not in names:
            yield Sentence(f"  differs: {other['what']}: {other['before']} | {other['after']}")


def table(found: Comparison) -> Table:
    """Return the components that changed, or the points that differ most if none did."""
    if found.parts:
        rows = [
            _row(part.difference, part.before, part.after, _full_name(part, found))
            for part in found.parts[:MAX_ROWS]
        ]
    else:
        off = np.abs(np.expm1(found.changes.differences.rows[:, 0]))
        listed = [found.changes[k] for k in np.argsort(-off, kind="stable")[:MAX_ROWS].tolist()]
        rows = [_row(p.difference, p.before, p.after, name_of(p.key)) for p in listed]
    more = len(found.parts or found.changes) - MAX_ROWS
    columns = columns_of("", ">ratio, 95 % interval", ">median, A -> B",
                         "component" if found.parts else "point")  # fmt: skip
    left_out = f"and {more} more (--json lists all)" if more > 0 else ""
    return Table("", columns, tuple(rows), left_out)


def _row(difference: Difference, before: float, after: float, name: str) -> Row:
    times = f"{format_seconds(before)} -> {format_seconds(after)}"
    cells = (difference.verdict, ratio_of(difference), times, name)
    return Row(cells, TONES.get(difference.verdict, ""))


def _full_name(part: Part, found: Comparison) -> str:
    """Name a component and what it adds: ``node n5: 46 of its 48 pairs, median +9.1 µs``."""
    added = f"{'+' if part.added >= 0 else '-'}{format_seconds(abs(part.added))}"
    number = len(part.points)
    if part.of == 1:
        return f"{name_of(found.changes[part.points[0]].key)}, {added}"
    kind = "node " if part.kind == "node" and not part.who.startswith("inside") else ""
    size = f", {format_bytes(part.nbytes)}" if part.nbytes is not None else ""
    name = printable(f"{kind}{part.who}{size}", 200)
    if part.kind != "all" or number != part.of:
        name += f": {number if number == part.of else f'{number} of its {part.of}'} {found.kind}s"
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
