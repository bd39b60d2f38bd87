"""Page of compared orders: whether the prediction finds the best, and a table."""

from math import isfinite, isnan

from isochrone.base.text import printable
from isochrone.base.units import format_ratio, format_seconds
from isochrone.collective_io.orders.compared_orders import ComparedOrders
from isochrone.models import Model
from isochrone.models.pages.model import predicted_by
from isochrone.pages.page import Block, Row, Sentence, Table, Warnings, columns_of
from isochrone.pages.words import plural

MAX_ORDER_ROWS = 40
"""Orders that are listed for a person: the first and the last ones."""


def blocks(analysis: ComparedOrders, model: Model) -> list[Block]:
    """Report a comparison; the answer first."""
    answer = [Sentence(text, "" if k else "strong") for k, text in enumerate(verdict(analysis))]
    return [*answer, predicted_by(model), _table(analysis), Warnings(tuple(analysis.warnings))]


def verdict(comparison: ComparedOrders) -> list[str]:
    """Whether the prediction finds the best order, and its deviation."""
    if not comparison.launched:
        return [_expected(comparison)]
    sentences = [_answer(comparison)]
    if comparison.tied > 1:
        took = [order.measured for order in comparison.orders[: comparison.tied]]
        sentences.append(
            f"{comparison.tied} orders are expected to be equally good. They took "
            f"{format_seconds(min(took))} to {format_seconds(max(took))}"
        )
    mean, worst = comparison.deviations()
    ranks = comparison.correlation
    if isnan(ranks.value):
        rank = "all orders have the same expected or measured time"
    else:
        rank = f"rank correlation (Spearman) {ranks.value:.2f}"
        if not isnan(ranks.low):
            rank += f" (95 % interval {ranks.low:.2f} to {ranks.high:.2f})"
    of = "" if comparison.timed == comparison.expected else ", the exchange against the whole call"
    sentences.append(
        f"Deviation: {_percent(mean)} on average, {_percent(worst)} at most{of}; {rank}"
    )
    return sentences


def _expected(comparison: ComparedOrders) -> str:
    first, last = comparison.orders[0].predicted, comparison.orders[-1].predicted
    count, ratio = plural(len(comparison.orders), "order"), format_ratio(last / first)
    return (
        f"Expected times of {count}: {format_seconds(first)} to {format_seconds(last)}; "
        f"the worst takes {ratio} times as long as the best"
    )


def _answer(comparison: ComparedOrders) -> str:
    """Whether the order expected to be best is the fastest measured."""
    chosen, fastest = comparison.orders[0], comparison.orders[comparison.fastest]
    count = plural(len(comparison.orders), "order")
    took = f"{comparison.label(0)}, {format_seconds(chosen.measured)}{_gain(comparison)}"
    if comparison.tied == len(comparison.orders) > 1:
        return f"The prediction does not distinguish the {count}: the first is {took}"
    if comparison.fastest == 0:
        return f"The prediction finds the best of {count}: {took}"
    missed = comparison.missed()
    fastest_text = (
        f"the fastest, {comparison.label(comparison.fastest)}, {format_seconds(fastest.measured)}"
    )
    if len(chosen.times) > 1 and missed.low <= 1:
        return (
            f"The prediction finds the best of {count}, as far as {missed.launches} launches "
            f"can tell: {took}; {fastest_text}"
        )
    sure = " in the only launch of each"
    if len(chosen.times) > 1:
        sure = f" (95 % interval {_percent(missed.low - 1)} to {_percent(missed.high - 1)})"
    miss = f"The prediction misses the best of {count} by {_percent(missed.ratio - 1)}"
    return f"{miss}{sure}: {took}; {fastest_text}"


def _gain(comparison: ComparedOrders) -> str:
    """Speedup of the chosen order over the given one, and its share of the possible gain."""
    if not comparison.given:  # unknown, or the chosen one itself
        return ""
    ratio = comparison.orders[comparison.given].measured / comparison.orders[0].measured
    text = f", {format_ratio(ratio)} times as fast as the given order"
    reached = comparison.gain_reached()
    if comparison.fastest != 0 and isfinite(reached):
        text += f" ({100 * reached:.0f} % of the possible gain)"
    return text


def _table(comparison: ComparedOrders) -> Table:
    """Table of the orders, by expected time."""
    has_intervals = any(map(isfinite, (order.high for order in comparison.orders)))
    titles = [">expected", *[">interval"] * has_intervals]
    if comparison.launched:
        titles += [f">{comparison.origin}", ">interval", ">deviation"]
    columns = columns_of("order", "", *titles)
    rows = []
    for index, order in enumerate(comparison.orders):
        cells = [printable(comparison.label(index), 80), printable(comparison.what_is(index), 60)]
        cells += [
            format_seconds(order.predicted),
            *[_interval(order.low, order.high)] * has_intervals,
        ]
        if comparison.launched:
            measured, deviation = format_seconds(order.measured), f"{100 * order.deviation:+.1f} %"
            cells += [measured, _interval(*order.interval), deviation]
        best = comparison.launched and index == comparison.fastest
        rows.append(Row(tuple(cells), "good" if best else ""))
    left_out = len(rows) - MAX_ORDER_ROWS
    if left_out > 0:
        rows[MAX_ORDER_ROWS // 2 : -MAX_ORDER_ROWS // 2] = []
    omitted = f"and {plural(left_out, 'order')} in between" if left_out > 0 else ""
    return Table("", columns, tuple(rows), omitted)


def _percent(fraction: float) -> str:
    return f"{100 * fraction:.1f} %"


def _interval(low: float, high: float) -> str:
    if not (isfinite(low) and isfinite(high)):
        return ""
    return f"{format_seconds(low)} – {format_seconds(high)}"
