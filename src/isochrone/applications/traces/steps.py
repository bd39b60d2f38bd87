"""Whole numbers that differ from turn to turn of a loop, as a formula of the step.

Such are the positions of roots that rotate, as in the product of matrices in blocks, where each
member of a row is the root in turn.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import takewhile

from isochrone.applications.description.expression import Quantity, evaluate


def formula(values: Mapping[int, Sequence[int]], step: str, candidates: Iterable[str]) -> str | None:
    """Return the first expression that has exactly these values; None if there is none.

    Parameters
    ----------
    values
        By number of ranks p, of each turn.
    step
        Name of the number of a turn, from 0.
    candidates
        Expressions of p and the step.
    """

    def fits(text: str) -> bool:
        return all(
            evaluate(text, {"p": Quantity(float(p)), step: Quantity(float(turn))}).value == value
            for p, of_turns in values.items() for turn, value in enumerate(of_turns)
        )  # fmt: skip

    return next(filter(fits, candidates), None)


def rotations(values: Mapping[int, Sequence[int]], step: str, times: str, size: str) -> Iterator[str]:
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
