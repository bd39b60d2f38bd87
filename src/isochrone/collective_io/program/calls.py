"""The most expensive collective calls of a recorded program, prepared for prediction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Final

from isochrone.base.errors import InputError
from isochrone.base.text import whole_number
from isochrone.collective_io.predict.call_parts import PARTS
from isochrone.collective_io.predict.calls_of_runs import call_of
from isochrone.collective_io.predict.whole_call import MeasuredCall
from isochrone.collective_io.program.summary import Summary
from isochrone.collective_io.results.io_recording import RecordedCall, RecordedFile, RecordedPattern
from isochrone.collective_io.workload import cb_config_list
from isochrone.collective_io.workload.accesses import made as made_accesses
from isochrone.runfile.run import Run

MOST_PATTERNS: Final = 6
ENOUGH: Final = 0.95
"""Patterns are looked at until they have this part of the time of all calls."""


@dataclass(frozen=True)
class Made:
    """A collective call of the program.

    Attributes
    ----------
    call
        Measured: the median of the calls of its pattern.
    times
        Number of calls.
    config, nodes
        Active ``cb_config_list`` and ``cb_nodes``.
    """

    call: MeasuredCall
    times: int
    config: str
    nodes: int | None

    @property
    def seconds(self) -> float:
        """Of all of them."""
        return self.times * self.call.seconds


def program_calls(run: Run, found: Summary) -> list[Made]:
    """Return the most expensive calls, longest first.

    Patterns with unknown pieces or without a prediction are omitted.
    """
    listed: list[Made] = []
    seconds = 0.0
    for pattern in found.patterns[:MOST_PATTERNS]:
        if seconds >= ENOUGH * found.in_calls:
            break
        seconds += found.seconds[pattern.number]
        mine = [call for call in found.calls if call.pattern == pattern.number]
        file = next(one for one in found.files if one.number == pattern.file)
        try:
            listed += [_made(run, pattern, file, mine)] if pattern.whole else []
        except InputError:  # hints or pieces of a kind that is not modelled
            continue
    return listed


def _made(
    run: Run, pattern: RecordedPattern, file: RecordedFile, mine: Sequence[RecordedCall]
) -> Made:
    members = tuple(file.ranks.tolist())
    accesses = made_accesses(
        **pattern.pieces, ranks=run.size, members=members if len(members) < run.size else None
    )
    call = replace(
        call_of(accesses, file.hints, reading=pattern.op == "read"), members=accesses.members
    )
    config = file.hints.get("cb_config_list", cb_config_list.DEFAULT)
    nodes = whole_number(file.hints.get("cb_nodes", "")) or None
    ranks = call.aggregators(run.hosts, config, nodes)
    parts = {}
    for name in PARTS:
        known = [one.parts[name] for one in mine if name in one.parts]
        if known and len(known) == len(mine):
            parts[name] = median(known)
    whole = median(one.seconds for one in mine)
    used = ranks if call.exchanges else []
    return Made(MeasuredCall(call, run.hosts, used, whole, parts), len(mine), config, nodes)


def message_sizes(calls: Sequence[Made]) -> list[int]:
    """Return the usual bytes of a message of each exchange, that which takes longest first."""
    found = []
    for one in sorted(calls, key=lambda made: -made.seconds):
        if one.call.collective:
            kinds = one.call.call.round_kinds(len(one.call.aggregators))
            data = sum(kind.times * float(kind.traffic.bytes.sent[-1]) for kind in kinds)
            messages = sum(kind.times * float(kind.traffic.messages.sent[-1]) for kind in kinds)
            found.append(int(data / max(1.0, messages)))
    return found
