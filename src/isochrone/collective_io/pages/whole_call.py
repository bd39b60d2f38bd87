"""What is said of a whole collective call: the best possible gain first, then its parts."""

from __future__ import annotations

from typing import Final

from isochrone.base.errors import InputError
from isochrone.base.units import format_bytes, format_seconds
from isochrone.collective_io.pages.call_parts import LABELS
from isochrone.collective_io.predict.best_possible import BestPossible, best_possible
from isochrone.collective_io.predict.call_parts import PARTS
from isochrone.collective_io.predict.calls_of_runs import measured_calls
from isochrone.collective_io.predict.whole_call import WholeCall, WholeCost
from isochrone.pages.page import Block, Column, Row, Sentence, Table, Warnings
from isochrone.pages.words import between
from isochrone.runfile.run import Run

MAX_CALLS: Final = 4
"""Kinds of calls of which it is said how much faster they can get; those that take longest."""

MAX_RANKS: Final = 4096
"""Of more ranks, the limit takes too long to find for a page."""

MEASURE: Final = (
    "Only the exchange is predicted. For the whole call, measure one on this machine with "
    "'isochrone measure tile-io --file FILE' or 'isochrone record --collective-io', and add it "
    "with --calls."
)


def whole_call(cost: WholeCost, best: BestPossible, *, measured: bool) -> list[Block]:
    """Say how much can be gained at most, and what the call consists of."""
    first, *more = best.why
    said: list[Block] = [Sentence(first, tone="strong"), *(Sentence(text) for text in more)]
    if not cost.known:
        said.append(Sentence(MEASURE))
        # without --calls it is no news that nothing was measured
        return [*said, Warnings(tuple(cost.warnings))] if measured else said
    time = f"{format_seconds(cost.seconds, 3)} ({between(cost.low, cost.high)})"
    return [
        *said, Sentence(f"The whole call: {time}"), _parts(cost), Warnings(tuple(cost.warnings)),
    ]  # fmt: skip


def best_gains(run: Run) -> list[Sentence]:
    """Say of each call of a run, whose parts were seen, how much faster it can get at most.

    Without a model of the hot spot: the exchange goes by the bytes of the busiest node.
    """
    try:
        measured = measured_calls([run])
    except InputError:  # it holds no call, or not who served it: there is nothing to say
        return []
    seen = [one for one in measured if one.collective and "exchange" in one.parts]
    seen = [one for one in seen if len(one.by_rank) <= MAX_RANKS]
    found = []
    for one in sorted(seen, key=lambda one: -one.seconds)[:MAX_CALLS]:
        whole = WholeCall.calibrated(None, [one])
        best = best_possible(whole, one.call, one.by_rank, one.aggregators)
        about = "read" if one.call.reading else "write"
        first, last = one.call.pattern.extent
        size = format_bytes(last - first)
        found.append(Sentence(" ".join(best.why), about=f"{about} of {size}"))
    return found


def _parts(cost: WholeCost) -> Table:
    """Tabulate the parts; one that was not measured is not known, which is said."""
    rows = []
    for part in PARTS:
        seconds = cost.parts[part]
        cells = ("not known", "") if seconds is None else (
            format_seconds(seconds, 3), f"{100 * seconds / cost.seconds:.0f} %"
        )  # fmt: skip
        rows.append(Row((LABELS[part], *cells)))
    columns = (Column("part"), Column("time", right=True), Column("share", right=True))
    return Table("", columns, tuple(rows))
