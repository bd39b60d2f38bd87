"""Which questions a model answers: what it is of, how it may be asked, and for which values.

A question is said as names and values, keywords, or a data frame. Of nodes and ranks on each, what
follows from the others need not be said.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from isochrone.base.arrays import Floats, Ints
from isochrone.base.errors import InputError
from isochrone.base.units import LARGEST
from isochrone.models.data.extension import adding
from isochrone.models.data.observations import COUNTED, NAMES, SELECTORS, apart
from isochrone.models.data.placement import PLACES, unfilled
from isochrone.models.data.tables import Frame, columns_of, is_frame
from isochrone.models.data.tables import number as read_number
from isochrone.models.data.terms import BYTES, VARIABLES, Selector, number, picked, variables_of
from isochrone.models.formulas.segment import Segment
from isochrone.runfile.header import kind_of

P = TypeVar("P", bound=Any)  # a dataclass that holds arrays of one number for each point

Subject = Literal["collective", "message", "computation"]

WORDS = {
    "collective": "a collective",
    "message": "messages between pairs of ranks",
    "computation": "computation",
}
"""What a model is of, for a sentence."""

_OF_PAIRS = {"i", "j", "pairs"}
"""What tells the curves of a sweep of messages apart."""

_ASKED = {"b": "message sizes", "p": "numbers of ranks", "w": "windows"}
"""Variables that only a formula which holds them may be asked for. A subject may add several names
for the same messages, and its formula is given them all."""


def subject(experiment: str, segments: Sequence[Segment]) -> str:
    """Return what a model is of, one of `WORDS`, or what a subject says of its variables.

    That is what was measured, if it is an experiment whose curves are of pairs or of operations;
    else it shows in the variables, and in what keeps the formulas apart.
    """
    variables = {name for segment in segments for name in (*needed([segment]), *segment.fitted)}
    apart = {key for segment in segments for key in segment.where}
    by = set(kind_of(experiment).get("by", ()))
    if added := adding(variables):
        return added.subject
    if "n" in variables:
        return "computation"
    if by & _OF_PAIRS or "mode" in apart:
        return "message"
    return "collective" if {"op"} & (by | apart) or "p" in variables else "message"


def needed(segments: Sequence[Segment]) -> list[str]:
    """List the variables of the formulas, of the ranges, and of what intervals are widened by."""
    return variables_of(
        [
            term
            for segment in segments
            for term in (
                *segment.terms,
                *segment.range,
                *segment.beyond,
                *(term for rival in segment.rivals for term in rival.terms),
            )
        ]
    )


def recorded(segments: Sequence[Segment], name: str) -> tuple[float, float] | None:
    """Return the lowest and the highest value of a variable in the data; None if not known."""
    ranges = [segment.fitted[name] for segment in segments if name in segment.fitted]
    return (min(low for low, _ in ranges), max(high for _, high in ranges)) if ranges else None


def not_held(
    segments: Sequence[Segment], requested: Mapping[str, ArrayLike], *, strict: bool = False
) -> list[str]:
    """Say which variables are asked for that no formula holds: its times are the same for all.

    What all the data had in common may be asked for; and so may a size among those measured, if
    the formula without ``b`` was found for several.

    Parameters
    ----------
    segments
        Formulas that are asked.
    requested
        Values by the names of variables.
    strict
        Refuse what is not known to be right, not only what was not measured.

    Returns
    -------
    list of str
        What is doubtful, one sentence each.

    Raises
    ------
    InputError
        If a value was not measured; says what to measure.
    """
    variables = needed(segments)
    if set(PLACES) <= set(variables):
        variables.append("p")  # their product
    if not set(BYTES).isdisjoint(variables):
        variables.append("b")  # with the messages
    doubtful = []
    for name in (name for name in _ASKED if name in requested):
        values = np.asarray(requested[name], dtype=np.float64)
        measured = recorded(segments, name)
        if name in variables:  # of a single value, a formula does not say how times depend on it
            if (
                measured is not None
                and measured[0] == measured[1]
                and np.any(values != measured[0])
            ):
                raise InputError(
                    f"the model was fitted to a single {name}, {number(name, measured[0])}",
                    hint=f"measure several {_ASKED[name]} and fit",
                )
            continue
        text = f"the model has no {name}, the {VARIABLES[name]}"
        several, outside = False, strict
        if measured is not None:
            several = measured[0] < measured[1]
            inside = bool(np.all((measured[0] <= values) & (values <= measured[1])))
            if inside and (not several or name == "b"):
                continue
            outside |= not inside
            low, high = (number(name, value) for value in measured)
            text += (
                f"; it was fitted to {name} = {low} only"
                if low == high
                else f", although {low} to {high} were fitted"
            )
        if outside:
            hint = "fit another family" if several else f"measure several {_ASKED[name]} and fit"
            raise InputError(text, hint=hint)
        doubtful.append(text)
    return doubtful


# --- how it is asked ------------------------------------------------------------------------------


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

    variables: dict[str, Floats]
    selectors: dict[str, Any]
    shape: tuple[int, ...]

    def parts(self) -> Iterator[tuple[dict[str, Selector], dict[str, Floats], Ints]]:
        """Yield selectors, the points they hold for, and the places of these in the question."""
        arrays = {k: v for k, v in self.selectors.items() if isinstance(v, np.ndarray)}
        for where, rows in apart(arrays, int(np.prod(self.shape))):
            yield {**self.selectors, **where}, picked(self.variables, rows), rows

    def joined(self, answers: list[tuple[Ints, P]]) -> P:
        """Put the answers to the parts together, in the order and shape of the question."""
        first = answers[0][1]
        changed: dict[str, Any] = {}
        for name, value in vars(first).items():
            if isinstance(value, np.ndarray):
                changed[name] = self._column([(rows, vars(a)[name]) for rows, a in answers])
            elif isinstance(value, Mapping):
                changed[name] = {
                    key: self._column(
                        [(rows, vars(a)[name].get(key, np.nan)) for rows, a in answers]
                    )
                    for key in value
                }
        warnings = dict.fromkeys(text for _, answer in answers for text in answer.warnings)
        return replace(first, **changed, warnings=list(warnings))

    def _column(self, parts: list[tuple[Ints, Any]]) -> Floats:
        """Return the values of all points."""
        column = np.empty(int(np.prod(self.shape)))
        for rows, values in parts:
            column[rows] = values
        return column.reshape(self.shape)


def question(
    model_selectors: Mapping[str, object],
    requested: Mapping[str, ArrayLike] | Frame | None,
    where: Mapping[str, ArrayLike],
    named: Mapping[str, ArrayLike],
) -> Question:
    """Sort what was asked for into variables and selectors, and make the variables equally long.

    Parameters
    ----------
    model_selectors
        What the model keeps apart: its selectors.
    requested
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
    by_name: Mapping[str, Any] = columns_of(requested) if is_frame(requested) else requested or {}  # type: ignore[assignment]
    variables: dict[str, Any] = {}
    selectors: dict[str, Any] = {}
    for source in (by_name, where, named):
        for key, value in source.items():
            name = key if key in model_selectors else NAMES.get(key, key)
            if source is by_name and name not in {*VARIABLES, *SELECTORS}:
                continue  # for example the measured times beside the points
            kind = selectors if name in model_selectors or name not in VARIABLES else variables
            if name in kind:
                raise InputError(f"'{name}' is given twice")
            kind[name] = value if kind is selectors else _numbers(name, value)
    arrays = {k: np.asarray(v, dtype=object) for k, v in selectors.items() if np.ndim(v)}
    try:
        shape = np.broadcast_shapes(*(v.shape for v in (*variables.values(), *arrays.values())))
    except ValueError as error:
        raise InputError("the variables have different lengths") from error
    shape = shape or (1,)
    if arrays and not np.prod(shape):
        raise InputError("no values to predict are given")
    return Question(
        {name: np.broadcast_to(v, shape).ravel() for name, v in variables.items()},
        selectors | {key: np.broadcast_to(v, shape).ravel() for key, v in arrays.items()},
        shape,
    )


def _numbers(name: str, value: ArrayLike) -> Floats:
    """Return values as numbers of any shape; a size may have a unit."""
    try:
        array = np.asarray(value)
    except ValueError as error:  # lists of different lengths
        raise InputError(f"the values of '{name}' are not equally long") from error
    if array.dtype.kind in "iuf":
        return array.astype(np.float64)
    read = [read_number(str(item).strip(), name, "") for item in array.ravel().tolist()]
    return np.array(read, dtype=np.float64).reshape(array.shape)


def checked(points: Mapping[str, Floats]) -> Mapping[str, Floats]:
    """Return the points, none of which is absurd.

    Raises
    ------
    InputError
        If a count is not a whole number from 1, or a value larger than any.
    """
    for name, values in points.items():
        counted = (values < 1) | (values != np.floor(values)) if name in COUNTED else False
        wrong = values[(values > LARGEST) | counted]
        if len(wrong):
            raise InputError(f"'{name}' is {wrong[0]:g}, which is not a valid {VARIABLES[name]}")
    return points


# --- nodes, and ranks on each ---------------------------------------------------------------------


def completed(
    requested: Mapping[str, ArrayLike], constant: Mapping[str, float], full_node: int = 0
) -> dict[str, ArrayLike]:
    """Return ``p``, ``nodes`` and ``ppn`` as far as they follow from what is asked.

    Parameters
    ----------
    requested
        Values by the names of variables, numbers or arrays.
    constant
        What was the same in all data: it is meant where only one of the three is given.
    full_node
        Ranks on a full node, if the data filled node after node: so are ``p`` ranks that are asked
        for without their nodes. 0 if not known.

    Raises
    ------
    InputError
        If so many ranks do not fill so many nodes.
    """
    counts = {
        k: np.asarray(v, dtype=np.float64) for k, v in requested.items() if k in ("p", *PLACES)
    }
    if len(counts) == 1:
        partner = "nodes" if "ppn" in counts else "ppn"
        if "p" not in counts and partner in constant:
            counts[partner] = np.asarray(constant[partner])
        elif "p" in counts and full_node:
            counts["ppn"] = np.minimum(counts["p"], full_node)
    if len(counts) == 2 and all(np.all(values >= 1) for values in counts.values()):
        if "p" not in counts:
            counts["p"] = counts["nodes"] * counts["ppn"]
        else:
            present, missing = PLACES if "nodes" in counts else PLACES[::-1]
            counts[missing] = np.ceil(counts["p"] / counts[present])
    wrong = unfilled(counts)
    if wrong.any():
        p, nodes, ppn = (
            np.broadcast_to(counts[name], wrong.shape)[wrong][0] for name in ("p", *PLACES)
        )
        raise InputError(
            f"{p:g} ranks do not fill {nodes:g} nodes with {ppn:g} on each",
            hint="give two of the ranks, the nodes and the ranks on each",
        )
    return {**counts, **requested}


def check_constants(constant: Mapping[str, float], requested: Mapping[str, ArrayLike]) -> None:
    """Refuse a question about what was constant when the model was made.

    Raises
    ------
    InputError
        If another value is asked for.
    """
    for name, value in ((k, v) for k, v in constant.items() if k in requested):
        others = np.setdiff1d(np.asarray(requested[name], dtype=np.float64), value)
        if len(others):
            raise InputError(
                f"the model was fitted at {name} = {value:g} only, and cannot predict {name} = "
                f"{others[0]:g}",
                hint=f"measure other values of {name}, the {VARIABLES[name]}, and fit again",
            )


def check_places(
    segments: Sequence[Segment], constant: Mapping[str, float], requested: Mapping[str, object]
) -> list[str]:
    """Return what is doubtful of a question about nodes, one sentence each.

    Raises
    ------
    InputError
        If the data did not say on which nodes the ranks were.
    """
    variables = needed(segments)
    placement = [name for name in PLACES if name in requested]
    if not placement or constant or set(variables) & set(PLACES):
        return []
    if not any(recorded(segments, name) for name in PLACES):
        raise InputError(
            "the model does not record how many nodes its ranks used",
            hint="ask with --ranks, or fit data with the columns nodes and ppn",
        )
    return ["the formula does not depend on nodes or ppn, only on the number of ranks p"]
