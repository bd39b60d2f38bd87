"""Expected and measured times of orders, and whether the prediction finds the best one.

As figure 6 of the cFireworks paper (K. Cha) has it for four orders of nodes. Orders are launched in
turns, each with every order once. Intervals resample whole turns, because disturbances are
correlated in time (percentile bootstrap, Efron & Tibshirani 1993, *An Introduction to the
Bootstrap*, chapter 13).
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import cached_property
from math import isnan, nan, sqrt
from pathlib import Path
from typing import ClassVar, Literal, NamedTuple

import msgspec
import numpy as np

from isochrone.base.documents import Hidden, Inline, MaybeNan, plain, shown
from isochrone.base.errors import InputError, located
from isochrone.base.files import check_ordinary, read_bytes, write_text
from isochrone.base.format_version import check_format
from isochrone.base.inference import Speedup, bootstrap_interval, redrawn_medians, speedup
from isochrone.base.record import Members, Record
from isochrone.base.stats import median_of
from isochrone.base.text import printable
from isochrone.base.units import MAX_SECONDS
from isochrone.collective_io.predict.node_cost import TIE
from isochrone.collective_io.workload import Floats

ORDERS_FORMAT = 1

_MAX_LABEL = 16
"""Nodes of an order that are shown to a person."""

_ONE_OF_MANY = re.compile("(random|listed) [0-9]+")

_LEAST_ORDERS = 4
"""Minimum number of orders for a rank correlation."""


class Ends(NamedTuple):
    """95 % interval of a measured time."""

    measured_low: MaybeNan
    measured_high: MaybeNan


class ComparedOrder(Record):
    """An order with its expected and measured times.

    Attributes
    ----------
    names
        Labels: ``given``, ``best found``, ``listed 1`` …
    order
        Nodes or hosts, as indices of those given.
    hosts, nodes
        Their names, and the ranks of each, in this order.
    predicted, low, high
        Seconds of the call, with the interval of the model; NaN where unknown.
    times
        Measured: the median of each launch, seconds; empty if nothing was launched.
    """

    names: Sequence[str]
    order: Sequence[int]
    hosts: Sequence[str]
    nodes: Sequence[int]
    predicted: MaybeNan
    low: MaybeNan
    high: MaybeNan
    times: Sequence[float] = ()

    @property
    @shown
    def measured(self) -> MaybeNan:
        """Median over the launches; NaN if there are none."""
        return median_of(self.times)

    @property
    def interval(self) -> tuple[float, float]:
        """95 % interval of `measured`; NaN with fewer than two launches."""
        if len(self.times) < 2:
            return nan, nan
        return bootstrap_interval(redrawn_medians(np.array([self.times])))

    @property
    @shown
    def ends(self) -> Inline[Ends]:
        """The same, for a document."""
        return Ends(*self.interval)

    @property
    @shown
    def deviation(self) -> MaybeNan:
        """How far the prediction is off, as a part of what was measured."""
        return self.predicted / self.measured - 1


class Correlation(Record):
    """Spearman's rank correlation with its 95 % interval; NaN where it is not defined."""

    value: float
    low: float
    high: float


class Origins(NamedTuple):
    """Origin of the measured times, and of those that the model was fitted to."""

    origin: str | None
    model_origin: str | None


class Summary(NamedTuple):
    """How well the prediction of orders fits to what was measured."""

    fastest: int | None = None
    mean_deviation: float | None = None
    worst_deviation: float | None = None
    rank_correlation: float | None = None
    rank_correlation_low: float | None = None
    rank_correlation_high: float | None = None
    regret: float | None = None
    regret_low: float | None = None
    regret_high: float | None = None
    gain_reached: float | None = None


class ComparedOrders(Record):
    """Orders, sorted by expected time, best first.

    Attributes
    ----------
    orders
        Sorted by `ComparedOrder.predicted`; of several best ones, the recommended one is first.
    what
        ``nodes`` or ``aggregators``.
    op
        ``write`` or ``read``.
    expected
        Predicted time: of the ``exchange`` or of the whole ``call``.
    timed
        Measured time; differs from ``expected`` where the library wrote a file and its exchange was
        not recorded.
    origin
        Where the times come from: ``measured``, ``simulated`` …
    model_origin
        Origin of the times that the model was fitted to.
    warnings
        Warnings about the numbers.
    """

    kind: ClassVar[str] = "orders"
    """Of result, as runs have one."""

    orders: Sequence[ComparedOrder]
    what: str = "nodes"
    op: str = "write"
    expected: str = "exchange"
    timed: str = "exchange"
    origin: Hidden[str] = "measured"
    model_origin: Hidden[str] = ""
    warnings: Sequence[str] = ()

    @property
    def launched(self) -> bool:
        """Whether there is anything measured."""
        return all(len(order.times) for order in self.orders)

    @property
    @shown
    def origins(self) -> Inline[Origins]:
        """Where the times come from; None: nowhere, or unknown."""
        return Origins(self.origin if self.launched else None, self.model_origin or None)

    @property
    @shown
    def launches(self) -> int:
        """Number of launches of each order."""
        return len(self.orders[0].times)

    @property
    @shown
    def tied(self) -> int:
        """How many orders are expected to be the best."""
        best = self.orders[0].predicted
        return sum(order.predicted <= best * (1 + TIE) for order in self.orders)

    @property
    def fastest(self) -> int:
        """The order that was measured to be the best, as an index."""
        return min(range(len(self.orders)), key=lambda k: self.orders[k].measured)

    @property
    @shown
    def given(self) -> int | None:
        """The order the nodes are given in, as an index, if it is among them."""
        return next((k for k, order in enumerate(self.orders) if "given" in order.names), None)

    def what_is(self, at: int) -> str:
        """Label of an order; empty if it is one of many."""
        names = [name for name in self.orders[at].names if not _ONE_OF_MANY.fullmatch(name)]
        return ", ".join(names)

    def label(self, at: int) -> str:
        """Name an order: by the ranks of its nodes, or by its hosts."""
        order = self.orders[at]
        names = [str(ranks) for ranks in order.nodes] if self.what == "nodes" else list(order.hosts)
        return ",".join(names if len(names) <= _MAX_LABEL else [*names[:_MAX_LABEL], "…"])

    def missed(self) -> Speedup:
        """Compare the order expected to be best with the fastest one, turn by turn.

        Its ratio - 1 is the regret: the loss from following the prediction.
        """
        return speedup(self.orders[0].times, self.orders[self.fastest].times)

    def gain_reached(self) -> float:
        """Return the fraction of the fastest order's gain reached by the order expected to be best.

        The gain is the time saved over the given order. NaN if there is none.
        """
        if self.given is None or self.given == self.fastest:
            return nan
        given_seconds = self.orders[self.given].measured
        return (given_seconds - self.orders[0].measured) / (
            given_seconds - self.orders[self.fastest].measured
        )

    def deviations(self) -> tuple[float, float]:
        """Return the mean and the largest deviation, without their signs."""
        off = [abs(order.deviation) for order in self.orders]
        return float(np.mean(off)), float(max(off))

    @cached_property
    def correlation(self) -> Correlation:
        """How well the prediction ranks the orders."""
        times = np.array([order.times for order in self.orders])
        return rank_correlation(np.array([order.predicted for order in self.orders]), times)

    @property
    @shown
    def summary(self) -> Inline[Summary]:
        """What the launches say of the prediction; None: nothing was measured."""
        if not self.launched:
            return Summary()
        missed, ranks = self.missed(), self.correlation
        low, high = (missed.low - 1, missed.high - 1) if self.launches > 1 else (None, None)
        off, correlation = self.deviations(), (ranks.value, ranks.low, ranks.high)
        reached = self.gain_reached()
        return Summary(self.fastest, *off, *correlation, missed.ratio - 1, low, high, reached)

    def document(self, sentences: list[str]) -> OrdersFile:
        """Return all for a document, with the verdict; what was not measured is None."""
        return OrdersFile("orders", ORDERS_FORMAT, self, sentences)


class OrdersFile(Record):
    """Orders that were compared; what was not measured is null.

    Attributes
    ----------
    words
        The verdict in sentences.
    """

    record: Literal["orders"]
    format: int
    compared: Inline[ComparedOrders]
    words: list[str]


def rank_correlation(predicted: Floats, times: Floats) -> Correlation:
    """Return Spearman's rank correlation of predictions and medians; ties share their rank.

    Parameters
    ----------
    predicted
        Seconds of each order; those closer than `TIE` are the same.
    times
        Measured seconds, shape (orders, launches).
    """
    value = _spearman(predicted, np.median(times, axis=1))
    if len(predicted) < _LEAST_ORDERS or isnan(value):
        return Correlation(value, nan, nan)
    medians = redrawn_medians(times).T
    drawn = np.random.default_rng(1).integers(0, len(predicted), (len(medians), len(predicted)))
    pairs = zip(drawn, medians, strict=True)
    redrawn = np.array(
        [_spearman(predicted[which], launch_medians[which]) for which, launch_medians in pairs]
    )
    return Correlation(value, *bootstrap_interval(redrawn))


def _spearman(left: Floats, right: Floats) -> float:
    a, b = _ranks(left), _ranks(right)
    a, b = a - a.mean(), b - b.mean()
    scale = sqrt(float(a @ a) * float(b @ b))
    return float(a @ b) / scale if scale else nan


def _ranks(values: Floats) -> Floats:
    """Return the rank of each; ties have the mean of their ranks."""
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    group = np.cumsum(np.append(False, ordered[1:] > ordered[:-1] * (1 + TIE)))
    ends = np.cumsum(np.bincount(group))
    mean = ends - (np.bincount(group) - 1) / 2
    ranks = np.empty(len(values))
    ranks[order] = mean[group]
    return ranks


# --- the document --------------------------------------------------------------------------------

# The JSON document of `place orders`: orders, expected and measured.
#
# Format history
# --------------
# 1
#     First format: one JSON object. Derived values (deviations, ranks, regret) are for scripts;
#     reading recomputes them.

_BEGIN = re.compile(rb'\s*\{\s*"record":\s*"orders"')


def looks_like_one(path: Path) -> bool:
    """Whether a file begins like such a document."""
    try:
        check_ordinary(path)
        with path.open("rb") as stream:
            return _BEGIN.match(stream.read(200)) is not None
    except (OSError, InputError):
        return False


def write(path: Path, document: object) -> None:
    """Write a document; it appears whole or not at all."""
    write_text(path, json.dumps(plain(document), indent=1, allow_nan=False) + "\n")


def read(path: Path) -> ComparedOrders:
    """Read a document.

    Raises
    ------
    InputError
        If it is unreadable, not such a document, of a newer format, or damaged.
    """
    data = read_bytes(path)
    with located(str(path)):
        try:
            content = msgspec.json.decode(data, type=Members)
            if content.get("record") != "orders":
                raise InputError(
                    "the file contains no orders", hint="isochrone place orders -o writes them"
                )
            check_format(content.get("format"), ORDERS_FORMAT, "the document of orders")
            values = {key: value for key, value in content.items() if value is not None}
            values["orders"] = [
                {**order, **{end: nan for end in ("low", "high") if order.get(end) is None}}
                for order in msgspec.convert(content.get("orders"), list[Members])
            ]
            compared = msgspec.convert(values, ComparedOrders)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise InputError(f"the file is damaged: {printable(error)}") from error
        if not compared.orders:
            raise InputError("the file is damaged: it has no orders")
        for order in compared.orders:
            if not len(order.order) == len(order.hosts) == len(order.nodes) > 0:
                raise InputError(
                    "the file is damaged: an order has different numbers of hosts and nodes"
                )
            ends = [end for end in (order.low, order.high) if not isnan(end)]
            if not all(
                0 < value <= MAX_SECONDS for value in (order.predicted, *order.times, *ends)
            ):
                raise InputError("the file is damaged: a time is not positive")
        if len({len(order.times) for order in compared.orders}) > 1:
            raise InputError("the file is damaged: orders differ in their number of launches")
    return compared
