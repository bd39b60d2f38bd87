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

MAX_LIMIT_RANKS = 4096
"""Of more ranks, the limit takes too long to find for a page."""

MEASURE = (
    "Only the exchange is predicted. For the whole call, add --calls RUN, recorded on the target "
    "cluster by 'isochrone measure tile-io --file FILE' or 'isochrone record --collective-io'."
)


def whole_call(cost: WholeCost, best: BestPossible, *, measured: bool) -> list[Block]:
    """Report the maximum gain and the phases of the call."""
    first, *reasons = best.why
    blocks: list[Block] = [Sentence(first, tone="strong"), *(Sentence(text) for text in reasons)]
    if not cost.known:
        blocks.append(Sentence(MEASURE))
        # expected without --calls
        return [*blocks, Warnings(tuple(cost.warnings))] if measured else blocks
    time = f"{format_seconds(cost.seconds)} ({between(cost.low, cost.high)})"
    return [
        *blocks,
        Sentence(f"The whole call: {time}"),
        _parts(cost),
        Warnings(tuple(cost.warnings)),
    ]


def best_gains(run: Run) -> list[Sentence]:
    """Report the maximum gain of each call of a run with recorded phases.

    Without a hot-spot model, the exchange is proportional to the bytes of the busiest node.
    """
    try:
        measured = measured_calls([run])
    except InputError:  # no call, or aggregators unknown
        return []
    seen = [call for call in measured if call.collective and "exchange" in call.parts]
    seen = [call for call in seen if len(call.by_rank) <= MAX_LIMIT_RANKS]
    sentences = []
    for call in sorted(seen, key=lambda call: -call.seconds)[:MAX_CALLS]:
        calibrated = WholeCall.calibrated(None, [call])
        best = best_possible(calibrated, call.call, call.by_rank, call.aggregators)
        about = "read" if call.call.reading else "write"
        first, last = call.call.pattern.extent
        size = format_bytes(last - first)
        sentences.append(Sentence(" ".join(best.why), about=f"{about} of {size}"))
    return sentences


def _parts(cost: WholeCost) -> Table:
    """Table of the phases; unmeasured ones are marked."""
    rows = []
    for part_name in PARTS:
        seconds = cost.parts[part_name]
        cells = (
            ("not known", "")
            if seconds is None
            else (format_seconds(seconds), f"{100 * seconds / cost.seconds:.0f} %")
        )
        rows.append(Row((NAMES[part_name], *cells)))
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


def slow(name: str, total: float, phases: Mapping[str, float]) -> Sentence | None:
    """Sentence on the longest phase of ``total`` seconds; None if none is known.

    ``phases`` may include `LATE`, which is part of the remainder.
    """
    if not phases or total <= 0:
        return None
    seconds = dict(phases)
    if LATE in seconds and "rest" in seconds:
        seconds[LATE] = min(seconds[LATE], seconds["rest"])
        seconds["rest"] -= seconds[LATE]
    if "exchange" not in seconds:  # communication inside the library is in the remainder
        done = {**_DONE, "rest": "is communication inside the library"}
    else:
        done = _DONE
    longest = max(seconds, key=lambda part_name: seconds[part_name])
    time = format_seconds(seconds[longest])
    share = seconds[longest] / total
    text = f"Of {format_seconds(total)} in {name}, {time} ({share:.0%}) {done[longest]}."
    return Sentence(text, stress=(time,))
