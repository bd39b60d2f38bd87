"""Leave-one-out and leave-one-group-out: how well a model predicts what it was not fitted to.

No fit is repeated, and the segments stay where they are.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from isochrone.base.arrays import Array, Bools, Floats, Ints
from isochrone.models.data.observations import Observations
from isochrone.models.data.placement import grouping
from isochrone.models.formulas.linear import Fit
from isochrone.models.formulas.pool import Candidate
from isochrone.models.selection.errors import MAX_DEVIATION_VALUES, deviation
from isochrone.models.selection.splits import Region

_SINGULAR = 1e-9
"""A part of an observation below this that others do not determine: the rest cannot predict it."""


@dataclass(frozen=True)
class SegmentFit:
    """The fit of a formula to the observations of one region."""

    candidate: Candidate
    fit: Fit
    region: Region

    @property
    def mask(self) -> Bools:
        """Which of the observations they are, shape (n,)."""
        return self.region.mask


def leave_out(fit: Fit, seconds: Floats, groups: Array | None = None, too_few: int = 0) -> Floats:
    """Predict each observation from a fit without it, or without its whole group.

    Leaving the rows G out of least squares changes their residuals r to (I - H)⁻¹ r with the block
    H of the hat matrix (Cook & Weisberg 1982, *Residuals and Influence in Regression*, section
    2.2). The weights stay as they are.

    Parameters
    ----------
    fit
        Fit of all observations.
    seconds
        Measured times, shape (n,).
    groups
        What the observations of a group have in common, shape (n,); each is its own group if None.
    too_few
        Number of groups that are no groups: then, too, each observation is its own.

    Returns
    -------
    ndarray of shape (n,)
        Seconds; NaN where the terms are collinear in the rest.
    """
    residuals = (seconds - fit.predicted) * fit.weights
    if groups is not None:
        order = np.argsort(groups, kind="stable")
        starts = np.flatnonzero(np.diff(groups[order], prepend=np.nan))
        if too_few < len(starts) < len(groups):
            changed = np.empty(len(groups))
            changed[order] = _without_groups(fit.orthonormal[order], residuals[order], starts)
            return seconds - changed / fit.weights
    one_less = 1 - np.sum(fit.orthonormal**2, axis=1)
    deleted = residuals / np.maximum(one_less, _SINGULAR)
    return seconds - np.where(one_less > _SINGULAR, deleted, np.nan) / fit.weights


def _without_groups(q: Floats, r: Floats, starts: Ints) -> Floats:
    """Return (I - H)⁻¹ r of each group, shape (n,); NaN where the rest does not determine it.

    (I - q q')⁻¹ = I + q (I - q'q)⁻¹ q': as many equations as terms, not as observations. The rows
    of a group are together, so that ten thousand groups cost what one does.
    """
    left = np.eye(q.shape[1]) - np.add.reduceat(q[:, :, None] * q[:, None, :], starts, axis=0)
    pulled = np.add.reduceat(q * r[:, None], starts, axis=0)
    values, vectors = np.linalg.eigh(left)
    values[values[:, 0] <= _SINGULAR] = np.nan  # they rise
    inner = np.einsum("gij,gj->gi", vectors, np.einsum("gji,gj->gi", vectors, pulled) / values)
    sizes = np.diff(starts, append=len(r))
    return np.asarray(r + np.einsum("ij,ij->i", q, np.repeat(inner, sizes, axis=0)))


def cross_validate(
    fits: Sequence[tuple[Sequence[SegmentFit], Observations]],
) -> dict[str, dict[str, float]]:
    """Return the deviations of observations that were left out of the fit.

    Parameters
    ----------
    fits
        The segments of each operation, and its observations.

    Returns
    -------
    dict
        ``point`` is leave-one-out; ``p``, ``b`` … leave-one-group-out, where all observations of
        one value of the variable are a group. Groups without which the terms are collinear
        are not counted.
    """
    measured = np.concatenate([observed.seconds for _, observed in fits])
    repeats = np.concatenate([observed.repeats for _, observed in fits])
    groups: dict[str, list[Floats] | None] = {"point": None}
    for name in grouping(fits[0][1].variables):
        columns = [observed.variables[name] for _, observed in fits]
        if 1 < len(np.unique(np.concatenate(columns))) <= MAX_DEVIATION_VALUES:
            groups[name] = columns
    deviations = {}
    for name, by in groups.items():
        without = np.concatenate(
            [
                left_out(segment_fits, observed.seconds, None if by is None else by[k])
                for k, (segment_fits, observed) in enumerate(fits)
            ]
        )
        counted = ~np.isnan(without) | (by is None)
        if counted.any():
            deviations[name] = vars(
                deviation(without[counted], measured[counted], repeats[counted])
            )
    return deviations


def left_out(
    segment_fits: Sequence[SegmentFit],
    seconds: Floats,
    groups: Array | None = None,
    too_few: int = 0,
) -> Floats:
    """Predict each observation from the fit of its segment without it, or without its group.

    Where a segment holds no more than ``too_few`` groups, its points are left out one by one.
    """
    predicted = np.full(len(seconds), np.nan)
    for segment_fit in segment_fits:
        segment_groups = None if groups is None else groups[segment_fit.mask]
        predicted[segment_fit.mask] = leave_out(
            segment_fit.fit, seconds[segment_fit.mask], segment_groups, too_few
        )
    return predicted
