"""Bytes and messages per second of one size of a curve, each with its interval."""

from __future__ import annotations

from math import isnan, nan
from typing import NamedTuple

import numpy as np

from isochrone.base.arrays import Floats, Ints
from isochrone.base.inference import ratio_interval
from isochrone.base.stats import median_of
from isochrone.base.table import Table
from isochrone.base.units import MAX_SECONDS
from isochrone.runfile.samples import enclose, passes_of


class Rate(NamedTuple):
    """A rate and both ends of its 95 % interval, each None where not known."""

    value: float | None
    low: float | None
    high: float | None

    def over(self, divisor: float) -> Rate:
        """Return the rate of what consists of so many."""
        return Rate(*(None if part is None else part / divisor for part in self))

    def alone(self) -> Rate:
        """Return it without an interval."""
        return Rate(self.value, None, None)


NO_RATE = Rate(None, None, None)


def bandwidth(table: Table, rows: Ints, nbytes: float | None, seconds: tuple[float, ...]) -> Rate:
    """Return bytes per second and its interval: of the rates where the samples hold them."""
    if nbytes is None:
        return NO_RATE
    if "rate" in table:
        rates = table["rate"][rows]
        if not np.isnan(rates).any():
            low, high, _ = enclose(rates, passes_of(table, rows))
            return Rate(median_of(rates), low, high)
    return Rate(*(nbytes / value if value > 0 else None for value in seconds))


def message_rate(times: Floats, passes: Floats | None, directions: float) -> Rate:
    """Return messages per second, summed over the pairs that send at the same time.

    Parameters
    ----------
    times
        Seconds of a message of each pair, shape (repetitions, pairs).
    passes
        As `enclose` takes them.
    directions
        In which messages move in this time, 1 or 2.
    """
    if not np.all(times > 0):
        return NO_RATE
    rates = (directions / times).sum(axis=1)
    low, high, _ = enclose(rates, passes)
    return Rate(median_of(rates), low, high)


def efficiency(rate: Rate, alone: Rate, streams: int) -> Rate:
    """Return a rate of several streams over their number times the rate of one, enclosed."""
    if rate.value is None or alone.value is None:
        return NO_RATE
    low, high = ratio_interval(_enclosed(rate.value, rate), _enclosed(alone.value, alone))
    ends = (None, None) if isnan(low) else (low, high)
    return Rate(rate.value / alone.value, *ends).over(streams)


def _enclosed(value: float, rate: Rate) -> tuple[float, float, float]:
    return value, nan if rate.low is None else rate.low, nan if rate.high is None else rate.high


def times_of(table: Table, rows: Ints) -> Floats | None:
    """Return the times of all ranks (or pairs) as a matrix, one row a sample; None if unknown."""
    if "times" not in table:
        return None
    lists = [table["times"][row] for row in rows.tolist()]
    width = len(lists[0]) if isinstance(lists[0], list) else 0
    for times in lists:
        if not (isinstance(times, list) and len(times) == width and width):
            return None
        if not all(type(v) in (int, float) and 0 <= v <= MAX_SECONDS for v in times):
            return None
    return np.array(lists, dtype=np.float64)
