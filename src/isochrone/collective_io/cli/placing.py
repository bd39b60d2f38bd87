"""Shared output of the `place` and `tune` commands."""

import math
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from rich.console import Console

from isochrone.base.inference import Speedup
from isochrone.base.text import Tell, printable
from isochrone.base.units import format_seconds
from isochrone.base.verdicts import FASTER, NOT_KNOWN
from isochrone.collective_io.workload.call import Call
from isochrone.measure.allocation import Allocation
from isochrone.pages import terminal
from isochrone.pages.page import Row, Table, columns_of


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


Document = Mapping[str, Any]


def print_outcome(document: Document, folder: Path) -> None:
    """Print what was gained, and how to use it."""
    console = terminal.console()
    local, portable = document.get("local_filesystems"), document["portable"]
    if local:
        remark = (
            f"this explains the gain of '{document['proposed']['words']}'; do not expect it on a "
            f"parallel file system"
            if portable
            else "this gain may not appear on a parallel file system"
        )
        console.print(
            f"The files are on {' and '.join(local)}, local to one host: "
            f"{printable(remark, 400)}", style="bold yellow",
        )  # fmt: skip
    _print_choices(console, document["choices"], document.get("verdict"))
    _print_gains(console, document)
    if document["kept"] is None:
        conclusion = "Not known" if document.get("verdict") == NOT_KNOWN else "No gain"
        console.print(
            f"{conclusion}: keep the current settings ({printable(document['why'], 400)}).",
            style="bold",
        )  # fmt: skip
    else:
        _print_setting(console, "Accepted", document)
    if portable and portable["why"]:
        why = printable(portable["why"], 400)
        console.print(f"No setting for other file systems: {why}", style="bold")
    elif portable:
        _print_setting(console, "For other file systems", portable)
        _print_gains(console, portable)
    for hint in document["kept_hints"]:
        console.print(printable(_cost(hint), 900))
    print_warnings(console, document["warnings"])
    if document.get("advice"):
        console.print(f"To try: {printable(document['advice'], 900)}")
    console.print(
        f"The comparison is in {printable(folder / 'report.json', 400)}; 'isochrone show' of this "
        "folder shows the first recording"
    )


def _print_choices(console: Console, choices: Sequence[Document], verdict: str | None) -> None:
    """Print a table of the settings that were tried: of the winner, pairs give the gain."""
    columns = columns_of(
        "setting", "hints", ">launches", ">median", ">times as fast", "95 % interval", "verdict"
    )
    rows = []
    for choice in choices:
        starts, gain = [timed.calls for timed in choice.get("starts", [])], choice.get("gain")
        setting = {**choice["hints"], **choice["environment"]}
        cells = (
            choice["name"], ", ".join(f"{key} {value}" for key, value in setting.items()),
            str(len(starts)), format_seconds(median(starts)) if starts else "–",
            f"{gain.ratio:.2f}" if gain else "–",
            f"{gain.low:.2f} to {gain.high:.2f}" if gain else "–",
            choice.get("dropped") or verdict or "–",
        )  # fmt: skip
        rows.append(Row(cells, "good" if cells[-1] == FASTER else ""))
    if rows:
        table = Table("Time in MPI-IO with each setting, compared with the given ones", columns,
                      tuple(rows))  # fmt: skip
        terminal.print_blocks([table], console)


def _print_setting(console: Console, title: str, document: Document) -> None:
    description = printable(document["proposed"]["words"], 400)
    console.print(f"{title}: {description}", style="bold")
    console.print("To use it, without changing the program:")
    for line in document["use"]:
        console.print(f"  {printable(line, 1400)}")


def _print_gains(console: Console, document: Document) -> None:
    for name, key in (("The whole program", "whole_gain"), ("MPI-IO", "gain")):
        if document.get(key) is not None:
            console.print(gained(document[key], name))


def _cost(hint: Document) -> str:
    """Describe the cost of a user's hint that is not overridden."""
    expected, gain = hint["expected_seconds"], hint["gain"]
    effect = "not predicted"
    if expected is not None:
        present_time = format_seconds(hint["seconds"])
        effect = f"{format_seconds(expected)} in MPI-IO expected instead of {present_time}"
    effect += f"; {gained(gain, 'measured') if gain else hint['why']}"
    return (
        f"{hint['hint']} {hint['value']} of your hints file is unchanged. With "
        f"{hint['words']}: {effect} (--override tries it)"
    )


def gained(gain: Speedup, name: str = "") -> str:
    """Say what was gained, of what, and how sure that is."""
    return (
        f"{name or gain.origin.capitalize()}: {format_seconds(gain.given)} before, "
        f"{format_seconds(gain.proposed)} with the proposal: {gain.ratio:.2f} times as fast "
        f"(95 % interval {gain.low:.2f} to {gain.high:.2f}, {gain.launches} launches each)"
    )
