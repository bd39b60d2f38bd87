"""A fitted or published model: its segments, and what they predict."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from html import escape
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from numpy.typing import ArrayLike

from isochrone.base.arrays import Array, Floats, Ints
from isochrone.base.documents import Hidden
from isochrone.base.errors import InputError
from isochrone.base.frames import data_frame
from isochrone.base.text import printable
from isochrone.models.data.load import Measured, samples_of
from isochrone.models.data.observations import Samples, applicable
from isochrone.models.data.placement import PLACES
from isochrone.models.data.sizes import arranged
from isochrone.models.data.starts import widened
from isochrone.models.data.tables import Frame
from isochrone.models.data.terms import NUMBERED, VARIABLES, Selector, picked, stacked
from isochrone.models.formulas.segment import Segment, by_formula, owners
from isochrone.models.formulas.text import formula, headings
from isochrone.models.prediction.doubtful import between, outside, without_time
from isochrone.models.prediction.neighbours import Neighbours
from isochrone.models.prediction.predicted import Prediction
from isochrone.models.prediction.questions import (
    check_constants,
    checked,
    completed,
    needed,
    not_held,
    question,
)
from isochrone.models.selection.backtest import Backtest
from isochrone.runfile.origin import with_noun

if TYPE_CHECKING:
    from pandas import DataFrame

CONFIDENCE = 0.95

MOST_WARNINGS = 3
"""Of a prediction; the most important come first."""


class Model(msgspec.Struct, rename={"segments": "pieces"}, dict=True):
    """Formulas for times of communication; its attributes are the keys of a model file.

    Attributes
    ----------
    segments
        The formulas, each for one operation and one range of the variables.
    weights
        ``relative`` or ``absolute``: whether ``sigma`` of a segment is a fraction or in seconds.
    quality
        R², deviations, and errors in cross-validation (``held_out``).
    backtests
        Errors of extrapolations within the data.
    source, notes
        Where the model is from, and what to know about it.
    made_from
        Path and SHA-256 of the data.
    origin
        Origin of the measured times, such as ``simulated``, or ``measured and imported``; empty if
        unknown.
    constant
        Nodes or ranks on a node, if they were the same in all data, such as ``{"ppn": 8}``.
    full_node
        Ranks on a full node, if the data filled one node after the other, else 0. Predictions for
        ranks without nodes assume the same.
    sizes
        Message sizes of a hot spot in the data, smallest first; empty if unknown.
    experiment
        What was measured, such as ``collective``, or ``table`` for a CSV; empty if unknown.
    neighbours
        Measured times of the operations that no formula describes well.
    kept
        Measured times that are stored in addition to the formulas, by their key in the file.
    extra
        Unknown keys of a model file, which are preserved.
    """

    segments: list[Segment]
    weights: str = "relative"
    quality: dict[str, Any] = {}
    ranking: list[dict[str, Any]] = []
    backtests: list[Backtest] = []
    source: str = ""
    notes: list[str] = []
    warnings: list[str] = []
    made_from: list[dict[str, str]] = []
    origin: str = ""
    constant: dict[str, float] = {}
    full_node: int = 0
    experiment: str = ""
    sizes: list[float] = []
    neighbours: list[Neighbours] = []
    kept: Hidden[dict[str, list[Any]]] = {}
    extra: Hidden[dict[str, Any]] = {}

    @property
    def family(self) -> str:
        """Name of the family; ``several`` if the operations have different ones."""
        families = {segment.family for segment in self.segments}
        return families.pop() if len(families) == 1 else "several"

    @property
    def variables(self) -> list[str]:
        """Names of the variables that a prediction needs; ``p`` follows from nodes and ``ppn``."""
        names = needed(self.segments)
        return [name for name in names if name != "p" or not set(PLACES) <= set(names)]

    @property
    def headed(self) -> list[tuple[Segment, str]]:
        """The segments, each with a heading such as ``op bcast, p ≤ 4``."""
        return list(zip(self.segments, headings(self.segments), strict=True))

    @property
    def selectors(self) -> dict[str, list[Selector]]:
        """Operations of the model as ``{"op": ["bcast"]}``, and other selectors of formulas."""
        distinct: dict[str, dict[Selector, None]] = {}
        for segment in self.segments:
            for key, value in segment.where.items():
                distinct.setdefault(key, {})[value] = None
        return {key: list(values) for key, values in distinct.items()}

    @property
    def samples(self) -> Samples | None:
        """The times that it was fitted to; None for a model read from a file."""
        return self.__dict__.get("samples")

    @samples.setter
    def samples(self, samples: Samples | None) -> None:
        self.__dict__["samples"] = samples

    def predict(
        self,
        variables: Mapping[str, ArrayLike] | Frame | None = None,
        where: Mapping[str, Selector] | None = None,
        *,
        level: float = CONFIDENCE,
        **named: ArrayLike,
    ) -> Prediction:
        """Predict times, for example ``model.predict(p=64, b="1MiB", op="bcast")``.

        Parameters
        ----------
        variables
            Numbers or arrays by name of the variable. Or a data frame, which gives a prediction for
            each row; columns that the model does not know are ignored.
        where
            Selectors, such as ``{"op": "bcast"}``; only needed if the model has several.
        level
            Probability of the intervals.
        named
            Variables and selectors as keywords. Arrays are broadcast, as in NumPy.

        Raises
        ------
        InputError
            If a variable is missing or has a value that makes no sense, such as half a rank; or
            the model does not hold what is asked for.
        """
        if not 0 < level < 1:
            raise InputError(
                f"the confidence level is {level:g}, not between 0 and 1", hint="for example 0.95"
            )
        request = question(self.selectors, variables, where or {}, named)
        answers = [
            (rows, self._predict(points, selectors, level))
            for selectors, points, rows in request.parts()
        ]
        return request.joined(answers)

    @np.errstate(divide="ignore", invalid="ignore", over="ignore")  # they give no time, see below
    def _predict(
        self, variables: Mapping[str, ArrayLike], where: Mapping[str, Selector], level: float
    ) -> Prediction:
        """Predict the times of points that the same selectors hold for; errors as of `predict`."""
        segments = self.chosen(where)
        variables = completed(variables, self.constant, self.full_node)
        check_constants(self.constant, variables)
        doubtful = not_held(segments, variables)
        measured = [name for name in ("p", "b") if self.neighbours and name in variables]
        names = dict.fromkeys([*needed(segments), *measured])
        points = checked(_points(variables, list(names)))
        owner, seconds, low, high = self._times(segments, points, level)
        times, neighbours = seconds, self._neighbours(where, points)
        if neighbours is not None:
            times, low, high = neighbours.predict(
                points, lambda columns: by_formula(segments, columns)[1], (low, high), level
            )
        nowhere, reasons = without_time(segments, points, times)
        times, low, high = (np.where(nowhere, np.nan, column) for column in (times, low, high))
        warnings = [
            *reasons,
            *doubtful,
            *outside(segments, owner, points, self.backtests),
            *between(segments, points),
        ]
        return Prediction(times, low, high, warnings[:MOST_WARNINGS], self.origin, seconds, points)

    def _neighbours(
        self, where: Mapping[str, Selector], points: Mapping[str, Floats]
    ) -> Neighbours | None:
        """Return the measured times that the prediction goes through; None if it follows none."""
        selectors = self.known(where)
        return next(
            (
                neighbours
                for neighbours in self.neighbours
                if selectors.items() <= neighbours.where.items() and neighbours.covers(points)
            ),
            None,
        )

    def _times(
        self, segments: Sequence[Segment], points: Mapping[str, Floats], level: float
    ) -> tuple[Ints, Floats, Floats, Floats]:
        """Return the segment of each point, its time, and the interval."""
        owner = owners(segments, points)
        seconds, low, high = (np.full(len(owner), np.nan) for _ in range(3))
        for k, segment in enumerate(segments):
            mine = owner == k
            also = segment.may_hold(points) | mine
            times, lowest, highest = segment.evaluate(picked(points, also), self.weights, level)
            seconds[mine] = times[mine[also]]
            low[also], high[also] = np.fmin(low[also], lowest), np.fmax(high[also], highest)
        starts = [
            segment.starts.next_start(level) if segment.starts else 0.0 for segment in segments
        ]
        return owner, seconds, *widened(seconds, low, high, np.array(starts)[owner])

    @np.errstate(divide="ignore", invalid="ignore", over="ignore")
    def by_formula(
        self, variables: Mapping[str, ArrayLike], where: Mapping[str, Selector]
    ) -> Floats:
        """Return predicted times without intervals, which is faster; shape (n,).

        Raises
        ------
        InputError
            As of `predict`.
        """
        segments = self.chosen(where)
        variables = completed(variables, self.constant, self.full_node)
        points = _points(variables, needed(segments))
        return by_formula(segments, points)[1]

    def chosen(self, where: Mapping[str, Selector]) -> list[Segment]:
        """Return the segments for given selectors.

        Raises
        ------
        InputError
            If there are none, or a selector is missing and the model has several values of it.
        """
        segments, selectors = self.segments, self.selectors
        for key in where:
            if key not in selectors:
                raise InputError(f"the model does not record its '{key}'")
        for key, available in selectors.items():
            listed = ", ".join(map(str, available))
            if key in where:
                segments = [r for r in segments if r.where.get(key, where[key]) == where[key]]
            elif len({repr(segment.where.get(key)) for segment in segments}) > 1:
                raise InputError(f"the model has several '{key}'", hint=f"choose one: {listed}")
            if not segments:
                value = where[key]
                wanted = f"{value} {NUMBERED[key]}" if key in NUMBERED else f"{key} '{value}'"
                raise InputError(f"the model does not cover {wanted}", hint=f"it has: {listed}")
        return segments

    def known(self, where: Mapping[str, Selector]) -> dict[str, Selector]:
        """Return only those selectors for which the model has separate formulas."""
        return {key: value for key, value in where.items() if key in self.selectors}

    def residuals(self, measured: Measured | None = None) -> dict[str, Array]:
        """Return the deviation of each measured point from the formula, as columns.

        Parameters
        ----------
        measured
            Anything that can be fitted; if None, the data of the fit.

        Returns
        -------
        dict
            Arrays of shape (n,): selectors and variables by name, ``seconds`` (measured median),
            ``predicted``, and ``residual``, which is seconds / predicted - 1.

        Raises
        ------
        InputError
            If the model is for nothing of it, or was read from a file and nothing is given.
        """
        samples = arranged(self._measured(measured), self.variables)
        tables = []
        for points in applicable(self.selectors, samples.observations()):
            predicted = self.predict(points.variables, self.known(points.where)).seconds
            tables.append(
                {
                    **{key: np.full(len(points), value) for key, value in points.where.items()},
                    **points.variables,
                    "seconds": points.seconds,
                    "predicted": predicted,
                    "residual": points.seconds / predicted - 1,
                }
            )
        if not tables:
            raise InputError("the model does not apply to anything measured")
        return stacked(tables)

    def summary(self) -> str:
        """Return as a text what ``isochrone fit -v`` prints of the model."""
        pages = import_module("isochrone.models.pages.model")  # these know models, as views do
        return f"{_title(self)}\n{pages.text_of(self)}"

    def save(self, path: str | Path) -> None:
        """Write the model file: `isochrone.models.write`."""
        from isochrone.models.prediction import file  # it reads models

        file.write(self, path)

    @staticmethod
    def load(path: str | Path) -> Model:
        """Read a model file: `isochrone.read_model`."""
        from isochrone.models.prediction import file

        return file.read(path)

    def plot(self, measured: Measured | None = None, view: str = "fit", ax: Any = None) -> Any:
        """Plot the points, the formula with its interval, and the residuals.

        Parameters
        ----------
        measured
            Anything that can be fitted; if None, the data of the fit.
        view
            ``fit``, or ``deviation`` for bars by group.
        ax
            Axes of a figure of yours, in whose place it is plotted; that figure is returned.

        Returns
        -------
        matplotlib.figure.Figure
            ``savefig`` writes it.

        Raises
        ------
        InputError
            If the model is for nothing of it, or was read from a file and nothing is given.
        """
        views = import_module("isochrone.views")  # these know models, and not the reverse
        options = views.Options(model=self)
        figure = views.draw(view, [self._measured(measured)], options, ax)
        figure.set_facecolor("white")  # a notebook may be dark, and the ink is
        return figure

    def to_pandas(self) -> DataFrame:
        """Return a data frame: a row for each coefficient, with its formula, term and interval.

        Raises
        ------
        InputError
            If pandas is not installed.
        """
        rows = [
            (heading, segment.family, *row)
            for segment, heading in self.headed
            for row in zip(
                segment.terms,
                segment.coefficients,
                segment.low or itertools.repeat(np.nan),
                segment.high or itertools.repeat(np.nan),
                strict=False,
            )
        ]
        names = ("holds for", "family", "term", "coefficient", "low", "high")
        return data_frame(dict(zip(names, zip(*rows, strict=True), strict=True)))

    def _measured(self, measured: Measured | None) -> Samples:
        if measured is not None:
            return samples_of(measured)
        if self.samples is None:
            raise InputError(
                "a model file does not contain the times it was fitted to",
                hint="give them: runs, a data frame or a path",
            )
        return self.samples

    def __repr__(self) -> str:
        lines = [_title(self)]
        for segment, heading in self.headed:
            lines.append(f"  {heading}: {formula(segment)}" if heading else f"  {formula(segment)}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{escape(heading)}</td><td>{escape(formula(segment))}</td></tr>"
            for segment, heading in self.headed
        )
        return f"<b>{escape(_title(self))}</b><table>{rows}</table>"


def _points(variables: Mapping[str, ArrayLike], needed: Sequence[str]) -> dict[str, Floats]:
    """Return the variables as equally long arrays, checked."""
    for name in needed:
        if name not in variables:
            raise InputError(
                f"the variable '{name}' is missing", hint=f"it is the {VARIABLES[name]}"
            )
    arrays = (np.asarray(variables[name], dtype=np.float64) for name in needed)
    equal = map(np.ravel, np.broadcast_arrays(*arrays))
    points = dict(zip(needed, equal, strict=True))
    for name, values in points.items():
        if not np.all(np.isfinite(values) & (values >= 0)):
            raise InputError(f"'{name}' has a value that is negative or not a number")
    return points


def _title(model: Model) -> str:
    """Name the family and how well it fits."""
    clauses = [f"{printable(model.family)} model"]
    if model.origin:
        clauses[0] += f" of {with_noun(printable(model.origin))}"
    r2 = model.quality.get("r2")
    if isinstance(r2, float):
        clauses.append(f"R² {r2:.4f}")
    deviation = model.quality.get("deviation")
    if isinstance(deviation, dict) and isinstance(deviation.get("median"), float):
        clauses.append(f"median deviation {100 * deviation['median']:.2f} %")
    if model.source:
        clauses.append(printable(model.source))
    return " · ".join(clauses)
