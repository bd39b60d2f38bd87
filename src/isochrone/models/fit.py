"""Fit a family of models to measurements, or try all and keep the best."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from isochrone.base import registry
from isochrone.base.errors import InputError
from isochrone.base.files import sha256
from isochrone.models import linear
from isochrone.models.family import Family, Form
from isochrone.models.judge import held_out, judge
from isochrone.models.model import Model
from isochrone.models.piece import Piece
from isochrone.models.points import Data, Points, joined, of_run
from isochrone.models.regimes import Regime, Splits, find
from isochrone.models.table_file import of_csv
from isochrone.models.terms import product, variables_of
from isochrone.runfile.file import read as read_run
from isochrone.runfile.run import Run

__all__ = ["AUTO", "family", "fit", "load"]

Array = NDArray[np.float64]

AUTO: Final = "auto"

_AS_GOOD: Final = (1.05, 0.001)
"""Held-out errors that are a twentieth larger, or by a tenth of a per cent of the time, are the
same: then the family with fewer coefficients is taken."""

HOPELESS: Final = 0.5
"""Held-out deviation from which a formula is said to predict little."""

_FOREIGN: Final = 1.5
"""Coefficients that a family may have more if it was made for the operation."""


@dataclass(frozen=True)
class Fitted:
    """One family fitted to the points of one operation."""

    name: str
    family: Family
    pieces: list[Piece]
    parts: list[tuple[linear.Fit, NDArray[np.bool_]]]
    left_out: Array

    @property
    def coefficients(self) -> int:
        """Number of all coefficients."""
        return sum(len(piece.terms) for piece in self.pieces)


@cache
def family(name: str) -> Family:
    """Return the declaration of a family.

    Raises
    ------
    InputError
        If there is none of this name; says which there are.
    """
    found = registry.load("models.families", name).FAMILY
    assert isinstance(found, Family)
    return found


def load(paths: Sequence[str | Path]) -> Data:
    """Read run files and CSV files of measured times.

    Raises
    ------
    InputError
        If one cannot be read, or they do not belong together.
    """
    parts = []
    for path in map(Path, paths):
        data = of_run(read_run(path)) if _looks_like_a_run(path) else of_csv(path)
        data.made_from = [{"path": str(path), "sha256": sha256(path)}]
        parts.append(data)
    return joined(parts)


def fit(
    measured: Run | Data | str | Path | Iterable[Run | str | Path],
    name: str = AUTO,
    *,
    splits: Splits | None = None,
    weights: str = "relative",
    robust: bool = False,
) -> Model:
    """Fit a family to measurements.

    Parameters
    ----------
    measured
        A run, or several; paths of run files or CSV files; or columns that were read already.
    name
        Name of a family, or ``auto``: all that the variables allow are tried, and the one that
        predicts points left out of the fit best is taken.
    splits
        Regimes; looked for if None.
    weights
        ``relative`` or ``absolute`` deviations.
    robust
        Let points far away count less.

    Returns
    -------
    Model
        With coefficients, intervals, deviations and, for ``auto``, the ranking.

    Raises
    ------
    InputError
        If the data do not hold the variables, or not enough of them; says what to measure.
    """
    if weights not in linear.WEIGHTS:
        raise InputError(f"no weights '{weights}'", hint="there are: relative, absolute")
    data = _data(measured)
    splits = splits or Splits()
    groups = data.groups()
    if name != AUTO:
        _check_operations(name, family(name), groups)
    chosen, ranking = [], []
    for points in groups:
        if name == AUTO:
            best, tried = _best(points, splits, weights, robust)
            ranking.append({"where": points.where, "families": tried})
        else:
            best = fit_points(name, points, splits, weights, robust)
        chosen.append(best)
    model = Model(
        [piece for best in chosen for piece in best.pieces],
        weights=weights, ranking=ranking, made_from=data.made_from,
    )  # fmt: skip
    model.quality = judge(model, groups) | {
        "held_out": held_out(
            [(b.parts, p, b.left_out) for b, p in zip(chosen, groups, strict=True)]
        )
    }
    model.warnings = _warnings(model, groups)
    return model


def fit_points(name: str, points: Points, splits: Splits, weights: str, robust: bool) -> Fitted:
    """Fit one family to the points of one operation."""
    chosen = family(name)
    missing = [v for v in _variables(chosen) if v not in points.variables]
    if missing:
        raise InputError(
            f"'{name}' needs the variable{'s' if len(missing) > 1 else ''} {', '.join(missing)}",
            hint=f"the data hold {', '.join(points.variables)}",
        )
    pieces, parts = [], []
    left_out = np.full(len(points), np.nan)
    for regime in find(chosen, points, splits, weights):
        variables = {key: values[regime.mine] for key, values in points.variables.items()}
        seconds = points.seconds[regime.mine]
        fitted, form, without = _best_form(chosen, variables, seconds, weights, robust)
        left_out[regime.mine] = without
        parts.append((fitted, regime.mine))
        pieces.append(_piece(name, form, fitted, points, regime))
    return Fitted(name, chosen, pieces, parts, left_out)


def _best_form(
    chosen: Family, variables: dict[str, Array], seconds: Array, weights: str, robust: bool
) -> tuple[linear.Fit, Form, Array]:
    """Fit the forms of a family and take the one with the least held-out error."""
    found: list[tuple[float, linear.Fit, Form, Array]] = []
    failed: InputError | None = None
    for form in chosen.forms:
        try:
            fitted = linear.fit(form.terms, variables, seconds, weights=weights, robust=robust)
        except InputError as error:
            failed = failed or error
            continue
        whole = [(fitted, np.ones(len(seconds), dtype=bool))]
        held = linear.group_error(whole, variables, seconds)
        found.append((held, fitted, form, linear.left_out(fitted, seconds)))
    if not found:
        assert failed is not None
        raise failed
    good = _as_good(min(held for held, *_ in found))
    return min((f for f in found if f[0] <= good), key=lambda f: len(f[2].terms))[1:]


def _as_good(least: float) -> float:
    """Return the held-out error up to which another fit is as good as the best."""
    return max(_AS_GOOD[0] * least, _AS_GOOD[1] + least)


def _piece(name: str, form: Form, fitted: linear.Fit, points: Points, regime: Regime) -> Piece:
    inside = {key: values[regime.mine] for key, values in points.variables.items()}
    used = list(dict.fromkeys([*variables_of(form.terms), *regime.range]))
    measured = {key: product(key, inside) for key in used}
    return Piece(
        family=name, where=points.where, range=regime.range,
        terms=list(form.terms), symbols=list(form.symbols),
        coefficients=fitted.coefficients.tolist(),
        low=fitted.low.tolist(), high=fitted.high.tolist(), covariance=fitted.covariance.tolist(),
        sigma=fitted.sigma, freedom=fitted.freedom,
        fitted={key: (float(v.min()), float(v.max())) for key, v in measured.items()},
        r2=linear.r_squared(fitted.predicted, points.seconds[regime.mine]),
        points=int(regime.mine.sum()),
    )  # fmt: skip


def _best(
    points: Points, splits: Splits, weights: str, robust: bool
) -> tuple[Fitted, list[dict[str, Any]]]:
    """Try all families whose variables the data hold; return the best, and the ranking."""
    tried: list[tuple[Fitted, float]] = []
    failed: list[dict[str, Any]] = []
    for name in registry.names("models.families"):
        if not set(_variables(family(name))) <= points.variables.keys():
            continue
        try:
            fitted = fit_points(name, points, splits, weights, robust)
        except InputError as error:
            failed.append({"family": name, "held_out": None, "reason": str(error)})
            continue
        held = linear.group_error(fitted.parts, points.variables, points.seconds)
        tried.append((fitted, held))
    if not tried:
        reason = failed[0]["reason"] if failed else "the data hold no variables of a family"
        raise InputError(f"no family of models can be fitted: {reason}")
    least = min(error for _, error in tried)
    operation = points.where.get("op")
    best = min(
        (pair for pair in tried if pair[1] <= _as_good(least)),
        key=lambda pair: (
            pair[0].coefficients + _FOREIGN * (operation not in pair[0].family.operations),
            len(pair[0].family.forms),
            pair[1],
        ),
    )[0]
    tried.sort(key=lambda pair: (pair[0] is not best, pair[1]))
    rows = [
        {
            "family": fitted.name, "held_out": error,
            "pieces": len(fitted.pieces), "coefficients": fitted.coefficients,
        }
        for fitted, error in tried
    ]  # fmt: skip
    return best, rows + failed


def _check_operations(name: str, chosen: Family, groups: Sequence[Points]) -> None:
    """Refuse to fit a formula of one operation to several others at once."""
    found = [str(points.where["op"]) for points in groups if "op" in points.where]
    if len(set(found)) > 1:
        raise InputError(
            f"the data hold several operations, '{name}' is for one",
            hint=f"choose one with --op: {', '.join(dict.fromkeys(found))}; or --model auto",
        )


def _warnings(model: Model, groups: Sequence[Points]) -> list[str]:
    found = []
    least = min((piece.freedom for piece in model.pieces), default=0)
    if least < 3:
        found.append(
            f"a regime has only {least} more point{'s' if least != 1 else ''} than coefficients: "
            "its intervals are wide"
        )
    held = model.quality.get("held_out", {}).get("point", {}).get("average", 0.0)
    if held > HOPELESS:
        found.append(
            f"points left out of the fit are missed by {100 * held:.0f} % on average: "
            "this formula predicts little"
        )
    if any(np.any(model.predict(points.variables, points.where).seconds <= 0) for points in groups):
        found.append("the formula gives times that are not above zero within the data")
    return found


def _variables(chosen: Family) -> list[str]:
    return variables_of([term for form in chosen.forms for term in form.terms])


def _data(measured: Any) -> Data:
    if isinstance(measured, Data):
        return measured
    items = [measured] if isinstance(measured, Run | str | Path) else list(measured)
    if not items:
        raise InputError("there is nothing to fit")
    parts = []
    for item in items:
        if isinstance(item, Run):
            part = of_run(item)
            if item.path is not None and item.path.is_file():
                part.made_from = [{"path": str(item.path), "sha256": sha256(item.path)}]
            parts.append(part)
        else:
            parts.append(item if isinstance(item, Data) else load([item]))
    return joined(parts)


def _looks_like_a_run(path: Path) -> bool:
    """Look at the first byte: a run file begins with a JSON object, a CSV with a name."""
    try:
        with path.open("rb") as stream:
            return stream.read(64).lstrip()[:1] == b"{"
    except OSError as error:
        raise InputError(f"cannot read it: {error.strerror}", where=str(path)) from error
