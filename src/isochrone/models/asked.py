"""What a model is asked for, however it is said: names and values, keywords, or a data frame."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isochrone.base.errors import InputError
from isochrone.models.observations import NAMES, SELECTORS
from isochrone.models.regime import Selector
from isochrone.models.tables import Frame, columns_of, is_frame, number
from isochrone.models.terms import VARIABLES

__all__ = ["Question", "check_level", "question"]

Array = NDArray[np.float64]
P = TypeVar("P", bound=Any)  # a dataclass that holds arrays of one number for each point


@dataclass(frozen=True)
class Question:
    """Points in the order in which they were asked for.

    Attributes
    ----------
    variables
        Arrays by name, shape (n,).
    selectors
        What holds for all points, or arrays of shape (n,).
    shape
        Of the answer.
    """

    variables: dict[str, Array]
    selectors: dict[str, Any]
    shape: tuple[int, ...]

    def parts(self) -> Iterator[tuple[dict[str, Selector], dict[str, Array], NDArray[np.int64]]]:
        """Yield selectors, the points they hold for, and the places of these in the question."""
        rows = np.arange(int(np.prod(self.shape)))
        each = {k: v.tolist() for k, v in self.selectors.items() if isinstance(v, np.ndarray)}
        if not each:
            yield self.selectors, self.variables, rows
            return
        keys = list(zip(*each.values(), strict=True))
        numbers = {key: k for k, key in enumerate(dict.fromkeys(keys))}
        index = np.array([numbers[key] for key in keys])
        for key, k in numbers.items():
            mine = index == k
            where = {**self.selectors, **dict(zip(each, key, strict=True))}
            yield where, {name: v[mine] for name, v in self.variables.items()}, rows[mine]

    def joined(self, answers: list[tuple[NDArray[np.int64], P]]) -> P:
        """Put the answers to the parts together, in the order and shape of the question."""
        first = answers[0][1]
        changed: dict[str, Any] = {}
        for name, value in vars(first).items():
            if isinstance(value, np.ndarray):
                whole = np.empty(int(np.prod(self.shape)))
                for rows, answer in answers:
                    whole[rows] = getattr(answer, name)
                changed[name] = whole.reshape(self.shape)
        said = dict.fromkeys(text for _, answer in answers for text in answer.warnings)
        return replace(first, **changed, warnings=list(said))


def question(
    known: Mapping[str, Any], asked: Mapping[str, ArrayLike] | Frame | None,
    where: Mapping[str, Any], named: Mapping[str, Any],
) -> Question:  # fmt: skip
    """Sort what was asked for into variables and selectors, and make the variables equally long.

    Parameters
    ----------
    known
        What the model keeps apart: its selectors.
    asked
        Values by name, or a data frame; columns that a model knows nothing of are left out.
    where
        Selectors.
    named
        Variables and selectors.

    Raises
    ------
    InputError
        If something is said twice, a value is not a number, or the lengths differ.
    """
    if asked is None:
        given: dict[str, Any] = {}
    else:
        given = columns_of(asked) if is_frame(asked) else dict(asked)  # type: ignore[arg-type]
    variables: dict[str, Any] = {}
    selectors: dict[str, Any] = {}
    for source in (given, where, named):
        for key, value in source.items():
            name = key if key in known else NAMES.get(key, key)
            if source is given and name not in {*VARIABLES, *SELECTORS}:
                continue  # for example the measured times beside the points
            kind = selectors if name in known or name not in VARIABLES else variables
            if name in kind:
                raise InputError(f"'{name}' is asked for twice")
            kind[name] = value if kind is selectors else _numbers(name, value)
    apart = {k: np.asarray(v, dtype=object) for k, v in selectors.items() if np.ndim(v)}
    try:
        shape = np.broadcast_shapes(*(v.shape for v in (*variables.values(), *apart.values())))
    except ValueError as error:
        raise InputError("the variables have different lengths") from error
    shape = shape or (1,)
    if apart and not np.prod(shape):
        raise InputError("there is no point to predict")
    return Question(
        {name: np.broadcast_to(v, shape).ravel() for name, v in variables.items()},
        selectors | {key: np.broadcast_to(v, shape).ravel() for key, v in apart.items()},
        shape,
    )


def check_level(level: float) -> None:
    """Refuse a level that is no probability.

    Raises
    ------
    InputError
        If it is not between 0 and 1.
    """
    if not 0 < level < 1:
        raise InputError(f"the level is {level:g}, not between 0 and 1", hint="for example 0.95")


def _numbers(name: str, value: Any) -> Array:
    """Return values as numbers of any shape; a size may have a unit."""
    try:
        array = np.asarray(value)
    except ValueError as error:  # lists of different lengths
        raise InputError(f"the values of '{name}' are not equally long") from error
    if array.dtype.kind in "iuf":
        return array.astype(np.float64)
    read = [number(str(item).strip(), name, "") for item in array.ravel().tolist()]
    return np.array(read, dtype=np.float64).reshape(array.shape)
