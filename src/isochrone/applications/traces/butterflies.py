"""Exchanges with partners whose numbers differ in one bit, and in the next one after that.

They are how programs write an allreduce or a transpose of rows of ranks themselves. Their number
grows with the rows, so that a description for any number of ranks needs them as one.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from isochrone.applications.traces.gaps import NOTHING
from isochrone.applications.traces.offsets import Messages
from isochrone.applications.traces.places import ByRank, parts
from isochrone.applications.traces.rounds import Round


def row_of(messages: Messages, ranks: int) -> tuple[int, int] | None:
    """Return the size of groups whose ranks exchange messages in a butterfly, and their stride.

    None if they do not: if not each rank sends one message to a partner of each of some
    neighbouring bits.
    """
    bits = Counter(a ^ b for a, b, _ in messages)
    lowest, highest = min(bits, default=0), max(bits, default=0)
    single = not any(bit & (bit - 1) for bit in bits)
    if not single or len(set(messages)) < len(messages) or set(bits.values()) != {ranks}:
        return None
    size = highest // lowest * 2 if lowest else 0
    return (size, lowest) if len(bits) == size.bit_length() - 1 else None


def with_butterflies(rounds: Sequence[Round], ranks: int) -> list[Round]:
    """Return rounds, those that follow each other with neighbouring bits as one."""
    merged: list[Round] = []
    for round_ in rounds:
        last = merged[-1] if merged else None
        if last is not None and {last.kind, round_.kind} == {"exchange"}:
            rows = [row_of(neighbour.messages, ranks) for neighbour in (last, round_)]
            row = row_of([*last.messages, *round_.messages], ranks)
            if all(rows) and row is not None:
                merged[-1] = _together(last, round_)
                continue
        merged.append(round_)
    return merged


def _together(first: Round, second: Round) -> Round:
    """Return two rounds as one, with all that is computed before it."""
    before: ByRank = {}
    for by_rank in (*parts(first), *parts(second)):
        before |= {rank: before.get(rank, NOTHING) + spent for rank, spent in by_rank.items()}
    return replace(
        first, messages=[*first.messages, *second.messages], before=before, within={},
        butterfly=True, sites=first.sites + second.sites,
    )  # fmt: skip
