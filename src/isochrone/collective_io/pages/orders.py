"""Page of compared orders: whether the prediction finds the best, and a table."""

from math import isfinite, isnan

from isochrone.base.text import printable
from isochrone.base.units import format_ratio, format_seconds
from isochrone.collective_io.orders.compared_orders import ComparedOrders
from isochrone.models import Model
from isochrone.models.pages.model import predicted_by
from isochrone.pages.page import Block, Row, Sentence, Table, Warnings, columns_of
from isochrone.pages.words import plural

MAX_ROWS = 40
"""Orders that are listed for a person: the first and the last ones."""


def blocks(found: ComparedOrders, model: Model) -> list[Block]:
    """Report a comparison; the answer first."""
    answer = [Sentence(text, "" if k else "strong") for k, text in enumerate(verdict(found))]
    return [*answer, predicted_by(model), _table(found), Warnings(tuple(found.warnings))]


def verdict(found: ComparedOrders) -> list[str]:
    """Whether the prediction finds the best order, and its deviation."""
    if not found.launched:
        return [_expected(found)]
    said = [_answer(found)]
    if found.tied > 1:
        took = [one.measured for one in found.orders[: found.tied]]
        said.append(
            f"{found.tied} orders are expected to be equally good. They took "
            f"{format_seconds(min(took))} to {format_seconds(max(took))}"
        )
    mean, worst = found.deviations()
    ranks = found.correlation
    if isnan(ranks.value):
        rank = "all orders have the same expected or measured time"
    else:
        rank = f"rank correlation (Spearman) {ranks.value:.2f}"
        if not isnan(ranks.low):
            rank += f" (95 % interval {ranks.low:.2f} to {ranks.high:.2f})"
    of = "" if found.timed == found.expected else ", the exchange against the whole call"
    said.append(f"Deviation: {_percent(mean)} on average, {_percent(worst)} at most{of}; {rank}")
    return said


def _expected(found: ComparedOrders) -> str:
    first, last = found.orders[0].predicted, found.orders[-1].predicted
    number, ratio = plural(len(found.orders), "order"), format_ratio(last / first)
    return (
        f"Expected times of {number}: {format_seconds(first)} to {format_seconds(last)}; "
        f"the worst takes {ratio} times as long as the best"
    )


def _answer(found: ComparedOrders) -> str:
    """Whether the order expected to be best is the fastest measured."""
    chosen, fastest = found.orders[0], found.orders[found.fastest]
    number = plural(len(found.orders), "order")
    took = f"{found.label(0)}, {format_seconds(chosen.measured)}{_gain(found)}"
    if found.tied == len(found.orders) > 1:
        return f"The prediction does not distinguish the {number}: the first is {took}"
    if found.fastest == 0:
        return f"The prediction finds the best of {number}: {took}"
    missed = found.missed()
    other = f"the fastest, {found.label(found.fastest)}, {format_seconds(fastest.measured)}"
    if len(chosen.times) > 1 and missed.low <= 1:
        return (
            f"The prediction finds the best of {number}, as far as {missed.launches} launches "
            f"can tell: {took}; {other}"
        )
    sure = " in the only launch of each"
    if len(chosen.times) > 1:
        sure = f" (95 % interval {_percent(missed.low - 1)} to {_percent(missed.high - 1)})"
    miss = f"The prediction misses the best of {number} by {_percent(missed.ratio - 1)}"
    return f"{miss}{sure}: {took}; {other}"


def _gain(found: ComparedOrders) -> str:
    """Speedup of the chosen order over the given one, and its share of the possible gain."""
    if not found.given:  # unknown, or the chosen one itself
        return ""
    ratio = found.orders[found.given].measured / found.orders[0].measured
    text = f", {format_ratio(ratio)} times as fast as the given order"
    reached = found.gain_reached()
    if found.fastest != 0 and isfinite(reached):
        text += f" ({100 * reached:.0f} % of the possible gain)"
    return text


def _table(found: ComparedOrders) -> Table:
    """Table of the orders, by expected time."""
    known = any(map(isfinite, (one.high for one in found.orders)))
    titles = [">expected", *[">interval"] * known]
    if found.launched:
        titles += [f">{found.origin}", ">interval", ">deviation"]
    columns = columns_of("order", "", *titles)
    rows = []
    for number, one in enumerate(found.orders):
        cells = [printable(found.label(number), 80), printable(found.what_is(number), 60)]
        cells += [format_seconds(one.predicted), *[_interval(one.low, one.high)] * known]
        if found.launched:
            measured, deviation = format_seconds(one.measured), f"{100 * one.deviation:+.1f} %"
            cells += [measured, _interval(*one.interval), deviation]
        best = found.launched and number == found.fastest
        rows.append(Row(tuple(cells), "good" if best else ""))
    left_out = len(rows) - MAX_ROWS
    if left_out > 0:
        rows[MAX_ROWS // 2 : -MAX_ROWS // 2] = []
    more = f"and {plural(left_out, 'order')} in between" if left_out > 0 else ""
    return Table("", columns, tuple(rows), more)


def _percent(part: float) -> str:
    return f"{100 * part:.1f} %"


def _interval(low: float, high: float) -> str:
    if not (isfinite(low) and isfinite(high)):
        return ""
    return f"{format_seconds(low)} – {format_seconds(high)}"
