"""Shared output of the `place` and `tune` commands."""

import math
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median

from rich.console import Console

from isochrone.base.inference import Speedup
from isochrone.base.record import Members
from isochrone.base.text import Tell, printable
from isochrone.base.units import format_seconds
from isochrone.base.verdicts import FASTER, NOT_KNOWN
from isochrone.collective_io.program.trials import RECORDING
from isochrone.collective_io.workload.call import Call
from isochrone.console.decision_page import VERDICT, in_use
from isochrone.measure.allocation import Allocation
from isochrone.pages.page import Block, Row, Section, Sentence, Table, Warnings, columns_of


def certainty(gap: float) -> str:
    """Describe the distance to the optimum; ``gap`` is a fraction of the bound."""
    if math.isinf(gap):
        return "not proven optimal"
    return "proven optimal" if gap == 0 else f"at most {100 * gap:.1f} % above the optimum"


def block_placed(allocation: Allocation) -> list[str]:
    """Warn if ranks do not fill the given nodes one after the other, as orders of nodes do."""
    filled = allocation.reordered(range(len(allocation.hosts))).by_rank
    if not allocation.host_of_rank or list(allocation.host_of_rank) == filled:
        return []
    return ["the given order is evaluated as block placement (nodes filled one after the other)"]


def unexchanged_first(console: Console, call: Call, warnings: Sequence[str]) -> list[str]:
    """Print first if nothing is exchanged; return the other warnings.

    The following output is then for another setting.
    """
    reasons = call.nothing_exchanged()
    for text in reasons:
        line = f"No gain: {text}. With it enabled:"
        console.print(line, style="bold yellow")
    return [text for text in warnings if text not in reasons]


def print_warnings(console: Console, warnings: Sequence[str]) -> None:
    """Print the warnings, a line each."""
    for warning in warnings:
        console.print(f"Warning: {printable(warning, 400)}", style="yellow")


# --- tuning --------------------------------------------------------------------------------------

# Progress and result output of ``isochrone tune collective-io``.


def reporter(*, quiet: bool) -> Tell:
    """Return the printer of progress lines; on standard error if stdout holds the document."""
    stream = sys.stderr if quiet else sys.stdout
    return lambda text: print(printable(text, 500), file=stream, flush=True)


def outcome(document: Members, folder: Path) -> list[Section]:
    """Return what was tried, what was gained, and how to use it."""
    local, portable = document.get("local_filesystems"), document["portable"]
    remarks: list[Block] = []
    if local:
        remark = (
            f"this explains the gain of '{document['proposed']['words']}'; do not expect it on a "
            f"parallel file system"
            if portable
            else "this gain may not appear on a parallel file system"
        )
        remarks.append(
            Sentence(
                f"The files are on {' and '.join(local)}, local to one host: "
                f"{printable(remark, 400)}",
                "strong",
            )
        )
    verdict: list[Block] = [*_gains(document)]
    if document["kept"] is None:
        conclusion = "Not known" if document.get("verdict") == NOT_KNOWN else "No gain"
        why = printable(document["why"], 400)
        verdict.append(Sentence(f"{conclusion}: keep the current settings ({why}).", "strong"))
    else:
        verdict += _setting("Accepted", document)
    if portable and portable["why"]:
        why = printable(portable["why"], 400)
        verdict.append(Sentence(f"No setting for other file systems: {why}", "strong"))
    elif portable:
        verdict += [*_setting("For other file systems", portable), *_gains(portable)]
    verdict.append(Warnings(tuple(printable(text, 400) for text in document["warnings"])))
    if document.get("advice"):
        verdict.append(Sentence(f"To try: {printable(document['advice'], 900)}"))
    where = f"The comparison is in {printable(folder / 'report.json', 400)}"
    if (folder / RECORDING).exists():
        where += "; 'isochrone show' of this folder shows the first recording"
    return [
        Section("What was tried", (*remarks, *_choices(document))),
        Section(VERDICT, (*verdict, Sentence(where))),
    ]


def _choices(document: Members) -> Iterator[Table]:
    """Tabulate the settings that were tried: of the winner, pairs give the gain."""
    columns = columns_of(
        "setting", "hints", ">launches", ">median", ">times as fast", "95 % interval", "verdict"
    )
    rows = []
    for choice in document["choices"]:
        starts, gain = [timed.calls for timed in choice.get("starts", [])], choice.get("gain")
        setting = {**choice["hints"], **choice["environment"]}
        cells = (
            choice["name"],
            ", ".join(f"{key} {value}" for key, value in setting.items()),
            str(len(starts)),
            format_seconds(median(starts)) if starts else "–",
            f"{gain.ratio:.2f}" if gain else "–",
            f"{gain.low:.2f} to {gain.high:.2f}" if gain else "–",
            choice.get("dropped") or document.get("verdict") or "–",
        )
        rows.append(Row(cells, "good" if cells[-1] == FASTER else ""))
    if rows:
        title = "Time in MPI-IO with each setting, compared with the given ones"
        yield Table(title, columns, tuple(rows))


def _setting(title: str, document: Members) -> Iterator[Block]:
    yield Sentence(f"{title}: {printable(document['proposed']['words'], 400)}", "strong")
    yield from in_use(document["use"])


def _gains(document: Members) -> Iterator[Sentence]:
    for name, key in (("The whole program", "whole_gain"), ("MPI-IO", "gain")):
        if document.get(key) is not None:
            yield Sentence(gained(document[key], name))


def gained(gain: Speedup, name: str = "") -> str:
    """Say what was gained, of what, and how sure that is."""
    return (
        f"{name or gain.origin.capitalize()}: {format_seconds(gain.given)} before, "
        f"{format_seconds(gain.proposed)} with the proposal: {gain.ratio:.2f} times as fast "
        f"(95 % interval {gain.low:.2f} to {gain.high:.2f}, {gain.launches} launches each)"
    )
