"""Shared output of the `place` commands."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rich.console import Console

from isochrone.base.inference import Speedup
from isochrone.base.text import printable
from isochrone.base.units import format_seconds
from isochrone.collective_io.workload.call import Call
from isochrone.measure.allocation import Allocation


def certainty(gap: float) -> str:
    """Describe the distance to the optimum; ``gap`` is a fraction of the bound."""
    if math.isinf(gap):
        return "not proven optimal"
    return "proven optimal" if gap == 0 else f"at most {100 * gap:.1f} % above the optimum"


def block_placed(given: Allocation) -> list[str]:
    """Warn if ranks do not fill the given nodes one after the other, as orders of nodes do."""
    filled = given.reordered(range(len(given.hosts))).by_rank
    if not given.host_of_rank or list(given.host_of_rank) == filled:
        return []
    return ["the given order is evaluated as block placement (nodes filled one after the other)"]


def unexchanged_first(console: Console, call: Call, warnings: Sequence[str]) -> list[str]:
    """Print first if nothing is exchanged; return the other warnings.

    The following output is then for another setting.
    """
    said = call.nothing_exchanged()
    for text in said:
        line = f"No gain: {text}. With it enabled:"
        console.print(line, style="bold yellow")
    return [text for text in warnings if text not in said]


def print_warnings(console: Console, warnings: Sequence[str]) -> None:
    """Print the warnings, a line each."""
    for warning in warnings:
        console.print(f"Warning: {printable(warning, 400)}", style="yellow")


def measured_line(gain: Speedup) -> str:
    """Return a sentence: before, after, ratio and interval."""
    return (
        f"{gain.origin.capitalize()}: {format_seconds(gain.given)} as given, "
        f"{format_seconds(gain.proposed)} as proposed: {gain.ratio:.2f} times as fast "
        f"(95 % interval {gain.low:.2f} to {gain.high:.2f}, {gain.launches} launches each)"
    )
