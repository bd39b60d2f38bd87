"""Page of a whole collective call: the best possible gain first, then its phases."""

from collections.abc import Mapping

from isochrone.base.errors import InputError
from isochrone.base.units import format_bytes, format_seconds
from isochrone.collective_io.predict.best_possible import NAMES, BestPossible, best_possible
from isochrone.collective_io.predict.call_parts import LATE, PARTS
from isochrone.collective_io.predict.calls_of_runs import measured_calls
from isochrone.collective_io.predict.whole_call import WholeCall, WholeCost
from isochrone.pages.page import Block, Row, Sentence, Table, Warnings, columns_of
from isochrone.pages.words import between
from isochrone.runfile.run import Run

MAX_CALLS = 4
"""Number of kinds of calls, longest first, whose possible gain is reported."""

MAX_RANKS = 4096
"""Of more ranks, the limit takes too long to find for a page."""

MEASURE = (
    "Only the exchange is predicted. For the whole call, add --calls RUN, recorded on the target "
    "cluster by 'isochrone measure tile-io --file FILE' or 'isochrone record --collective-io'."
)


def whole_call(cost: WholeCost, best: BestPossible, *, measured: bool) -> list[Block]:
    """Report the maximum gain and the phases of the call."""
    first, *more = best.why
    said: list[Block] = [Sentence(first, tone="strong"), *(Sentence(text) for text in more)]
    if not cost.known:
        said.append(Sentence(MEASURE))
        # expected without --calls
        return [*said, Warnings(tuple(cost.warnings))] if measured else said
    time = f"{format_seconds(cost.seconds)} ({between(cost.low, cost.high)})"
    return [
        *said, Sentence(f"The whole call: {time}"), _parts(cost), Warnings(tuple(cost.warnings)),
    ]  # fmt: skip


def best_gains(run: Run) -> list[Sentence]:
    """Report the maximum gain of each call of a run with recorded phases.

    Without a hot-spot model, the exchange is proportional to the bytes of the busiest node.
    """
    try:
        measured = measured_calls([run])
    except InputError:  # no call, or aggregators unknown
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
    """Table of the phases; unmeasured ones are marked."""
    rows = []
    for part in PARTS:
        seconds = cost.parts[part]
        cells = ("not known", "") if seconds is None else (
            format_seconds(seconds), f"{100 * seconds / cost.seconds:.0f} %"
        )  # fmt: skip
        rows.append(Row((NAMES[part], *cells)))
    columns = columns_of("part", ">time", ">share")
    return Table("", columns, tuple(rows))


# --- phases --------------------------------------------------------------------------------------

# Names of the phases of a collective access, and the sentence on the slowest one.

_DONE = {
    "offsets": "is the exchange of offsets and lengths before the first round",
    "counts": "is the exchange of message sizes in each round",
    "exchange": "is the data exchange between ranks",
    "file": "is file access",
    "rest": "is the remainder: packing and copying in the ranks",
    LATE: "is waiting for the last rank, which no hint changes",
}


def slow(name: str, whole: float, parts: Mapping[str, float]) -> Sentence | None:
    """Sentence on the longest phase of ``whole`` seconds; None if none is known.

    ``parts`` may include `LATE`, which is part of the remainder.
    """
    if not parts or whole <= 0:
        return None
    own = dict(parts)
    if LATE in own and "rest" in own:
        own[LATE] = min(own[LATE], own["rest"])
        own["rest"] -= own[LATE]
    if "exchange" not in own:  # communication inside the library is in the remainder
        done = {**_DONE, "rest": "is communication inside the library"}
    else:
        done = _DONE
    most = max(own, key=lambda part: own[part])
    time = format_seconds(own[most])
    share = own[most] / whole
    text = f"Of {format_seconds(whole)} in {name}, {time} ({share:.0%}) {done[most]}."
    return Sentence(text, stress=(time,))
