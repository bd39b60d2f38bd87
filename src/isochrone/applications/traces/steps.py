"""Whole numbers that differ from turn to turn of a loop, as a formula of the step.

Such are the positions of roots that rotate, as in the product of matrices in blocks, where each
member of a row is the root in turn. And how far the ranks are apart that take part: on each coarser
level of a multigrid method, ranks of a coarser grid exchange messages with partners twice as far
away; along each further bit of the ranks, so do all of them.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import NamedTuple

import numpy as np

from isochrone.applications.description.expression import Quantity, evaluate
from isochrone.applications.traces.gaps import Number
from isochrone.applications.traces.offsets import Grid, Messages, Vector, offsets
from isochrone.applications.traces.rounds import Round

Turns = Mapping[int, Sequence[int]]
"""A whole number of each turn, by number of ranks."""

BITS = "bits"
"""Family of exchanges of all ranks with those whose numbers differ in one bit."""

SHIFTS = "shifts"
"""Family of messages of all ranks to the one that is so far away, around the ends."""


class Level(NamedTuple):
    """Family of what all ranks of a grid do, or those of a coarser one, with these neighbours.

    None of a collective operation.
    """

    grid: Grid
    neighbours: frozenset[Vector]


def set_levels(rounds: Sequence[Round], ranks: int, grids: Sequence[Grid]) -> None:
    """Say of each round which ones of other levels it is a copy of, and how far ranks are apart.

    On coarse levels there may be no neighbours in some direction: it is a copy of the round of all
    ranks with the fewest neighbours more. Operations are on levels of the grid that most of their
    groups are levels of.
    """
    groups = {tuple(of.ranks) for of in rounds if len(of.among) == 1 and len(of.ranks) > 1}
    of_groups = max(grids, key=lambda grid: sum(_is_level(of, ranks, grid) for of in groups))
    levels: dict[object, tuple[object, int]] = {}
    for round_ in rounds:
        some = tuple(round_.ranks)
        key = (frozenset((a, b) for a, b, _ in round_.messages), some, len(round_.among))
        if round_.kind == "exchange" and key not in levels:
            levels[key] = _level(round_, ranks, grids)
        elif len(round_.among) == 1 and some in groups and _is_level(some, ranks, of_groups):
            levels[key] = Level(of_groups, frozenset()), _apart(some, ranks, of_groups)
        round_.family, round_.apart = levels.get(key, (None, 1))
    for round_, shift in _shifts(rounds, ranks):
        round_.family, round_.apart = SHIFTS, shift
    whole = [f for f, apart in levels.values() if isinstance(f, Level) and apart == 1]
    for round_ in rounds:
        family = round_.family
        if isinstance(family, Level) and round_.messages and family not in whole:
            more = [of for of in whole if of.grid == family.grid and of[1] > family.neighbours]
            round_.family = min(more, key=lambda of: len(of.neighbours), default=family)


def _shifts(rounds: Sequence[Round], ranks: int) -> Iterator[tuple[Round, int]]:
    """Yield rounds in which all ranks send so far around, with this distance.

    They follow each other: each further rank in turn, as in an all-to-all of pairs; or each power
    of two, as in a dissemination.
    """
    every = [_shift(round_.messages, ranks) for round_ in rounds]
    doubling = [2**k for k in range((ranks - 1).bit_length())]
    for k in range(len(rounds)):
        for distances in (list(range(1, ranks)), doubling):
            if len(distances) > 1 and every[k : k + len(distances)] == distances:
                yield from zip(rounds[k : k + len(distances)], distances, strict=True)
                break


def _shift(messages: Messages, ranks: int) -> int:
    """Return how far each rank sends one message; 0 if they do not all send as far."""
    distances = {(b - a) % ranks for a, b, _ in messages}
    senders = {a for a, _, _ in messages}
    return distances.pop() if len(messages) == len(senders) == ranks and len(distances) == 1 else 0


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


def _level(round_: Round, ranks: int, grids: Sequence[Grid]) -> tuple[object, int]:
    """Return of which family an exchange is, and how far its ranks are apart."""
    row = row_of(round_.messages, ranks)
    if row is not None and row[0] == 2:
        return BITS, row[1]
    for grid in grids:
        apart = _apart(round_.ranks, ranks, grid)
        partners = offsets([round_.messages], [ranks], [apart], [grid])
        if partners is not None:
            return Level(grid, frozenset(partners.sizes[0])), apart
    return None, 1


def _is_level(some: Sequence[int], ranks: int, grid: Grid) -> bool:
    """Whether these are all ranks of a coarser grid."""
    apart = _apart(some, ranks, grid)
    return sorted(grid.members(ranks, apart).ravel().tolist()) == sorted(some)


def _apart(some: Sequence[int], ranks: int, grid: Grid) -> int:
    """Return the largest power of two of which all coordinates are multiples; 1 of rank 0 alone."""
    members = grid.members(ranks)
    common = math.gcd(*(int(k) for r in some for k in np.argwhere(members == r)[0]))
    return common & -common or 1


def formula(values: Turns, step: str, candidates: Iterable[str]) -> str | None:
    """Return the first expression that has exactly these values; None if there is none.

    Parameters
    ----------
    values
        Of each turn, by number of ranks p.
    step
        Name of the number of a turn, from 0.
    candidates
        Expressions of p and the step.
    """

    def fits(text: str) -> bool:
        return all(
            evaluate(text, {"p": Quantity(float(p)), step: Quantity(float(turn))}).value == value
            for p, of_turns in values.items()
            for turn, value in enumerate(of_turns)
        )

    return next(filter(fits, candidates), None)


def rotations(values: Turns, step: str, times: str, size: str) -> Iterator[str]:
    """Yield how roots may rotate in groups of `size` ranks, in a loop of so many turns.

    One after the other, each for one turn or for several; or each for an equal part of all turns,
    forwards or backwards.
    """
    roots = values[max(values)]
    stay = sum(1 for _ in takewhile(lambda root: root == roots[0], roots))
    back = f"({times} - 1 - {step})"
    for turn in (step, back):
        yield f"{turn} % ({size})"
        yield f"({turn} // {stay} + {roots[0]}) % ({size})"
        yield f"{turn} * ({size}) // ({times})"


def farther(step: str, times: str) -> Iterator[str]:
    """Yield by what ranks may be farther apart from turn to turn: powers of two, or one more."""
    yield "1"
    yield f"2**{step}"
    yield f"2**({times} - 1 - {step})"
    yield f"({step} + 1)"


@dataclass(frozen=True)
class Distances:
    """How far ranks are apart in each turn of a loop, of each recording.

    Attributes
    ----------
    step
        Name of the number of a turn.
    text
        The distance as an expression of it, in parts of the smallest one.
    ratios
        Its values.
    """

    step: str
    text: str
    ratios: Sequence[Sequence[int]]

    def power(
        self, values: Sequence[Sequence[float]], likely: float = 0.0
    ) -> tuple[float, list[float]]:
        """Return of which power of the distance values are a multiple, and the factors.

        By least squares of the logarithms, of turns that are known (not NaN, above 0); the power is
        common to all recordings, and a factor is NaN if no turn of its recording is known. If none
        has two distances, the power is the one that is likely.
        """
        xs, ys, centred = [], [], []
        for ratios, of in zip(self.ratios, values, strict=True):
            pairs = [(math.log(r), math.log(v)) for r, v in zip(ratios, of, strict=True) if v > 0]
            x, y = np.array(pairs).reshape(-1, 2).T
            xs.append(x)
            ys.append(y)
            centred.append((x - x.mean(), y - y.mean()) if len(x) else (x, y))
        squares = sum(float(x @ x) for x, _ in centred)
        power = sum(float(x @ y) for x, y in centred) / squares if squares > 0 else likely
        power = round(power, 3) + 0.0
        return power, [
            float(np.exp((y - power * x).mean())) if len(x) else math.nan
            for x, y in zip(xs, ys, strict=True)
        ]

    def times(self, factor: Number, power: float) -> Number:
        """Return a factor times a power of the distance, as an expression."""
        return f"({factor})*({self.text})**({power:g})" if power else factor

    def total(self, power: float, times: str) -> str:
        """Return the sum of a power of the distance over all turns but the first: geometric."""
        if power == 0 or self.text == "1":
            return f"({times} - 1)"
        factor = 2**power
        if self.text == f"2**{self.step}":
            return f"({factor:.6g}**({times}) - {factor:.6g})/({factor - 1:.6g})"
        return f"({factor:.6g}**({times} - 1) - 1)/({factor - 1:.6g})"
