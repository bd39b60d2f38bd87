"""How far predicted times are from measured ones."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from isochrone.base.arrays import Floats
from isochrone.base.documents import IfKnown, Scalar
from isochrone.base.segmentation import LINE_RATIO, LINE_VALUES, segment
from isochrone.base.stats import medians_by
from isochrone.base.units import format_error, format_ratio
from isochrone.models.data.observations import Observations
from isochrone.models.data.terms import number, point_text, stacked
from isochrone.models.prediction.model import Model
from isochrone.models.selection.errors import (
    MAX_DEVIATION_VALUES,
    Deviation,
    deviation,
    log_ratio,
    r_squared,
)
from isochrone.models.thresholds import NOISY


class Tried:
    """A family that was tried; ``reason`` says why it cannot be fitted."""

    family: str
    held_out: float | None
    sicc: IfKnown[float]
    pieces: IfKnown[int]
    coefficients: IfKnown[int]
    reason: IfKnown[str]


class Ranked:
    """The families that were tried for one operation."""

    where: dict[str, Scalar]
    families: list[Tried]


class Quality:
    """How well a model fits its data; ``groups`` by variable and value, ``held_out`` likewise."""

    points: int
    samples: int
    r2: float | None
    deviation: Deviation
    groups: dict[str, dict[str, Deviation]]
    held_out: dict[str, Deviation]
    worst: IfKnown[str]


def goodness_of_fit(model: Model, observed: Sequence[Observations]) -> dict[str, Any]:
    """Compare a model with measurements, which may be others than it was fitted to.

    Returns
    -------
    dict
        ``points``, ``samples``, ``r2``, ``deviation`` (overall), ``worst`` (the point of its
        maximum) and ``groups``: deviations for each value of each variable, and of each selector.
    """
    predicted, measured = _compared(model, observed)
    repeats = np.concatenate([one.repeats for one in observed])
    points = [(one, k) for one in observed for k in range(len(one))]
    worst = points[int(np.argmax(log_ratio(predicted, measured)))]
    return {
        "points": len(measured),
        "samples": int(repeats.sum()),
        "r2": r_squared(predicted, measured),
        "deviation": vars(deviation(predicted, measured, repeats)),
        "worst": _place(*worst),
        "groups": {
            name: {value: vars(summary) for value, summary in values.items()}
            for name, values in deviations_by_group(model, observed).items()
        },
    }


def deviations_by_group(
    model: Model, observed: Sequence[Observations]
) -> dict[str, dict[str, Deviation]]:
    """Return the deviations for each value of each variable and selector that has several."""
    predicted, measured = _compared(model, observed)
    repeats = np.concatenate([group.repeats for group in observed])
    keys = stacked(
        [
            group.variables
            | {k: np.full(len(group), v, dtype=object) for k, v in group.where.items()}
            for group in observed
        ]
    )
    deviations = {}
    for name, values in keys.items():
        distinct = np.unique(values).tolist()
        if not 1 < len(distinct) <= MAX_DEVIATION_VALUES:
            continue
        deviations[name] = {
            (f"{value:.15g}" if isinstance(value, float) else str(value)): deviation(
                predicted[values == value], measured[values == value], repeats[values == value]
            )
            for value in distinct
        }
    return deviations


_MISSED = (0.1, 0.25)
"""What a formula misses that repetitions do not explain, and what it misses without any."""


def lack_of_fit(model: Model, observed: Sequence[Observations]) -> list[str]:
    """Name the point that a formula misses most, if noise does not explain it; for each operation.

    Noise is that of the repetitions.
    """
    remarks = []
    for points in observed:
        predicted, measured = _compared(model, [points])
        off = log_ratio(predicted, measured)
        worst = int(np.argmax(off))
        has_noise = points.noise is not None
        if off[worst] < (
            max(NOISY * (points.noise or 0.0), _MISSED[0]) if has_noise else _MISSED[1]
        ):
            continue
        if has_noise and np.sqrt(np.mean(off**2)) < NOISY * (points.noise or 0.0):
            continue
        location = _place(points, worst)
        if predicted[worst] <= 0:
            remarks.append(
                f"lack of fit, worst at {location}: the formula gives no time above zero"
            )
            continue
        squares = np.sort(off**2)  # does a twentieth of the points hold most of them?
        few_are_off = len(off) > 10 and squares[-max(len(off) // 20, 1) :].sum() > squares.sum() / 2
        ratio = float(measured[worst] / predicted[worst])
        comparison = (
            f"{format_ratio(ratio)} times" if not 0.5 < ratio < 2 else f"{100 * ratio:.0f} % of"
        )
        remarks.append(
            f"lack of fit, worst at {location}: measured {comparison} the formula"
            + (f", repetitions differ by {format_error(points.noise)}" if points.noise else "")
            + ("; if these are outliers, try --robust" if few_are_off else "")
        )
    return remarks


def _place(observed: Observations, k: int) -> str:
    """Name a point: ``allreduce, p = 8, b = 1 KiB``."""
    point = {name: float(column[k]) for name, column in observed.variables.items()}
    return ", ".join([*map(str, observed.where.values()), *point_text(point)])


def steps(model: Model, observed: Sequence[Observations]) -> list[str]:
    """Name jumps to sizes that are too few, or too close together, for a segment."""
    remarks = []
    for points in observed:
        predicted, measured = _compared(model, [points])
        if "b" not in points.variables or np.any(predicted <= 0):
            continue
        sizes, group = points.distinct["b"]
        if len(sizes) < 2 * LINE_VALUES:
            continue
        ratio = np.exp(medians_by(group, np.log(measured / predicted))[1])
        noise = max(points.noise or 0.0, _MISSED[0] / NOISY)
        cut = segment(
            sizes, ratio, np.ones_like(sizes), sigma=noise * ratio, min_values=2, max_segments=3
        )
        for gap, (below, above) in zip(cut.breaks, pairwise(cut.segments), strict=True):
            sides = [
                np.sum((sizes >= side.low) & (sizes <= side.high)) >= LINE_VALUES
                and side.high >= LINE_RATIO * side.low
                for side in (below, above)
            ]
            height = float(above.coefficients[0] / below.coefficients[0] - 1)
            if all(sides) or abs(height) < NOISY * noise:
                continue
            bounds = [number("b", size) for size in (gap.below, gap.above)]
            names = [*map(str, points.where.values()), f"b = {bounds[0]} to {bounds[1]}"]
            remarks.append(
                f"step at {', '.join(names)}: {100 * height:+.0f} %, too few sizes for a segment"
            )
    return remarks


def _compared(model: Model, observed: Sequence[Observations]) -> tuple[Floats, Floats]:
    """Return what the formulas give for all observations, and what was measured; shape (n,)."""
    predicted = [
        model.by_formula(points.variables, model.known(points.where)) for points in observed
    ]
    return np.concatenate(predicted), np.concatenate([points.seconds for points in observed])
