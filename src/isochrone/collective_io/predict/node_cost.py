"""Cost of nodes from their messages by a hot-spot model, vectorised, and of an exchange."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from isochrone.base.errors import InputError
from isochrone.base.record import Record
from isochrone.base.units import format_bytes
from isochrone.collective_io.workload import Floats, Numbers
from isochrone.collective_io.workload.traffic import Counts, Layout, RoundKind, count
from isochrone.models import Model, Segment
from isochrone.models.data.terms import evaluate_term
from isochrone.models.formulas.segment import octaves_beyond, owners

KNOWN = ("pa", "pe", "in", "out", "b", "ba", "bi", "bo", "busy")

TIE = 5e-7
"""Costs within this relative distance are ties: below the precision of any model."""


MAX_SIZE_FACTOR = 1.5
"""Factor from which a message size is outside the sizes of the model."""


class NodeCost(Record):
    """A model of what communication costs a node.

    Attributes
    ----------
    model
        With variables among ``pa``, ``pe``, ``in`` and ``out``, and, if it distinguishes sizes,
        bytes. Half of the messages are counted as pairs, as the cFireworks paper does (its
        equation 1 and table II): pa = intra / 2, pe = (in + out) / 2.
    where
        Which part of the model is meant, e.g. ``{"order": "intra-first"}``.
    """

    model: Model
    where: Mapping[str, Any] = {}

    def __post_init__(self) -> None:
        unknown = [name for name in self.model.variables if name not in KNOWN]
        if unknown or set(self.model.variables) <= {"b", "busy"}:
            variables = ", ".join(self.model.variables) or "nothing"
            raise InputError(
                f"the model depends on {variables} instead of pa and pe, the numbers of messages "
                "within and between nodes",
                where="--model",
                hint="fit a hotspot measurement, or see examples/models",
            )

    @property
    def of_bytes(self) -> bool:
        """Whether the model distinguishes message sizes."""
        return not {"b", "ba", "bi", "bo"}.isdisjoint(self.model.variables)

    @property
    def of_neighbours(self) -> bool:
        """Whether it matters how busy the other nodes are."""
        return "busy" in self.model.variables

    @property
    def of_data(self) -> bool:
        """Whether costs depend on bytes, of the node or of the other nodes (``busy``)."""
        return self.of_bytes or self.of_neighbours

    def cost(
        self,
        counts: Counts,
        spread: int = 1,
        message_size: float | None = None,
        busy: float | Floats = 0.0,
    ) -> Floats:
        """Return the seconds of each node in an average of the ``spread`` rounds.

        Other nodes are ignored, unless ``busy`` is given (`Counts.busy`). ``message_size``: assumed
        bytes of a message for nodes without messages; None: the mean of those given.
        """
        variables = self._variables(counts, spread, busy, message_size)
        segments = self._segments
        seconds = _sum(segments[0], variables)
        if len(segments) > 1:
            owner = owners(segments, variables)
            for k, segment in enumerate(segments[1:], start=1):
                seconds = np.where(owner == k, _sum(segment, variables), seconds)
        return seconds.reshape(np.shape(counts.intra))

    def least(self, low: Counts, high: Counts, spread: int, message_size: float) -> Floats:
        """Return seconds below which a node is not, each of whose counts is between two.

        ``spread`` and ``message_size`` are those of `cost`; the other nodes may be as busy as they
        like.
        """
        below = self._variables(low, spread, 0.0, message_size)
        above = self._variables(high, spread, 1.0, message_size)
        if "b" in below:
            (low_messages, low_bytes), (high_messages, high_bytes) = low.totals, high.totals
            idle = low_messages == 0  # perhaps: then of the usual size
            size = high_bytes / np.where(idle, 1.0, low_messages)
            below["b"] = np.where(
                high_messages > 0,
                low_bytes / np.where(high_messages > 0, high_messages, 1.0),
                message_size,
            )
            above["b"] = np.where(idle, np.maximum(high_bytes, message_size), size)
            below["b"] = np.where(idle, np.minimum(below["b"], message_size), below["b"])
        bounds = least(self._segments, below, above)
        return bounds.reshape(np.shape(low.intra))

    def whatever_others_do(
        self, counts: Counts, spread: int = 1, message_size: float | None = None
    ) -> Floats:
        """Return seconds below which no node is, however busy the others are."""
        if not self.of_neighbours:
            return self.cost(counts, spread, message_size)
        low, high = (self._variables(counts, spread, busy, message_size) for busy in (0.0, 1.0))
        return least(self._segments, low, high).reshape(np.shape(counts.intra))

    def ask(
        self,
        counts: Counts,
        spread: int = 1,
        busy: float | Floats = 0.0,
        message_size: float | None = None,
    ) -> tuple[Floats, Floats, Floats, list[str]]:
        """Return the seconds of each node in an average round, their interval, and warnings.

        Parameters
        ----------
        counts
            What nodes send and receive, arrays of any one shape.
        spread
            Rounds that it is spread over.
        busy
            How busy the other nodes are: `Counts.busy` of all nodes, one number or one for each
            node; 0: not looked at.
        message_size
            As of `cost`.
        """
        shape = np.shape(counts.intra)
        variables = self._variables(counts, spread, busy, message_size)
        prediction = self.model.predict(variables, dict(self.where))
        seconds, low, high = (
            side.reshape(shape) for side in (prediction.by_formula, prediction.low, prediction.high)
        )
        warning = far_off(counts.message_size, self.sizes)
        return seconds, low, high, [*prediction.warnings, *[warning] * bool(warning)]

    @property
    def sizes(self) -> list[float]:
        """Message sizes that the model was fitted to, ascending; empty if unknown."""
        fitted_sizes = {segment.where.get("bytes") for segment in self.model.chosen(self.where)}
        selected = [float(size) for size in fitted_sizes if isinstance(size, int)]
        return sorted(selected) or self.model.sizes

    @cached_property
    def _segments(self) -> list[Segment]:
        return self.model.chosen(self.where)

    def _variables(
        self, counts: Counts, spread: int, busy: float | Floats, message_size: float | None
    ) -> dict[str, Floats]:
        """Return the variables of the model, one value for each node."""
        a, i, o, *data = (np.asarray(side, np.float64).ravel() for side in counts)
        values = {}
        for name in self.model.variables:
            if name == "b":
                messages, data_bytes = counts.totals
                if message_size is None:
                    message_size = float(data_bytes.sum()) / max(1.0, float(messages.sum()))
                mean_size = data_bytes / np.where(messages > 0, messages, 1.0)
                values[name] = np.where(messages > 0, mean_size, message_size)
            elif name == "busy":
                values[name] = np.broadcast_to(busy, np.shape(counts.intra)).ravel()
            elif name in ("pa", "pe"):
                values[name] = (a if name == "pa" else i + o) / (2 * spread)
            else:
                side = {"in": i, "out": o, "ba": data[0], "bi": data[1], "bo": data[2]}[name]
                values[name] = side / spread if spread > 1 else side
        return values


@np.errstate(divide="ignore", invalid="ignore")
def _sum(segment: Segment, variables: Mapping[str, Floats]) -> Floats:
    """Evaluate a formula."""
    total = np.zeros(len(next(iter(variables.values()))))
    for term, coefficient in zip(segment.terms, segment.coefficients, strict=True):
        total += coefficient * evaluate_term(term, variables)
    return total


def far_off(size: float, fitted_sizes: Sequence[float]) -> str:
    """Warning that messages are outside the sizes a model was fitted to; empty if not.

    Parameters
    ----------
    size
        Mean bytes of a message; 0: no messages.
    fitted_sizes
        Message sizes that the model was fitted to; empty: unknown.
    """
    if (
        not fitted_sizes
        or not size
        or min(fitted_sizes) / MAX_SIZE_FACTOR <= size <= max(fitted_sizes) * MAX_SIZE_FACTOR
    ):
        return ""
    ends = [round(end) for end in dict.fromkeys((min(fitted_sizes), max(fitted_sizes)))]
    # rounded to a size a user would measure
    units = (unit for unit in (2**30, 2**20, 2**10) if size >= 10 * unit or size % unit == 0)
    unit = next(units, 1)
    rounded = round(size / unit) * unit
    fitted = " to ".join(format_bytes(end) for end in ends)
    sizes = ",".join(format_bytes(nbytes).replace(" ", "") for nbytes in sorted({rounded, *ends}))
    return (
        f"the average message has {format_bytes(rounded)}, but the model was fitted to {fitted}: "
        f"run measure hotspot --bytes {sizes}, and fit a new model"
    )


def refuse_no_time(cost: float) -> None:
    """Refuse the cost of the hottest node where a formula gives no time; others may be idle.

    Raises
    ------
    InputError
        If it is negative, or no number. Without messages between nodes it may be 0.
    """
    if not cost >= 0:
        raise InputError(
            "the predicted time of the busiest node is negative",
            where="--model",
            hint="fit the model to a hotspot run that also measures few messages",
        )


def gap_to(cost: float, bound: float) -> float:
    """Return how far a cost is above a lower bound, as a part of the bound; it may be 0."""
    if cost <= bound:
        return 0.0
    return cost / bound - 1 if bound > 0 else float("inf")


def saved(cost: float, given: float) -> float:
    """Return the part of the given cost that another cost saves; nothing of 0."""
    return 1 - cost / given if given > 0 else 0.0


# --- a lower bound --------------------------------------------------------------------------------

Limits = Mapping[str, Floats]


@np.errstate(divide="ignore", invalid="ignore", over="ignore")  # NaN is no bound
def least(segments: Sequence[Segment], low: Limits, high: Limits) -> Floats:
    """Return a lower bound of the formulas, shape (n,).

    Parameters
    ----------
    segments
        Of one operation, order …; as `Model.chosen` returns them.
    low, high
        Each variable lies between these; equally long arrays.
    """
    bounds, min_distance, max_distance = np.zeros((3, len(segments), len(next(iter(low.values())))))
    for k, segment in enumerate(segments):
        for term, coefficient in zip(segment.terms, segment.coefficients, strict=True):
            bounds[k] += coefficient * _range(term, low, high)[0 if coefficient >= 0 else 1]
    bounds[np.isnan(bounds)] = -np.inf
    if len(segments) == 1:
        return np.asarray(bounds[0])
    for k, segment in enumerate(segments):
        for name, (begin, end) in {**segment.range, **segment.switch}.items():
            value = _range(name, low, high)
            for bound, side, nearest in ((begin, -1.0, 1), (end, 1.0, 0)):
                if bound is not None:
                    min_distance[k] += octaves_beyond(value[nearest], bound, side)
                    max_distance[k] += octaves_beyond(value[1 - nearest], bound, side)
    # the nearest segment applies
    possible = min_distance <= max_distance.min(axis=0)
    return np.asarray(np.where(possible, bounds, np.inf).min(axis=0))


def _range(term: str, low: Limits, high: Limits) -> tuple[Floats, Floats]:
    """Return the least and the largest value of a term."""
    length = len(next(iter(low.values())))
    least, largest = np.ones(length), np.ones(length)
    for factor in term.split("*"):
        ends = np.stack([evaluate_term(factor, low), evaluate_term(factor, high)])
        products = np.concatenate([least * ends, largest * ends])
        least, largest = products.min(axis=0), products.max(axis=0)
    return least, largest


# --- a whole exchange ----------------------------------------------------------------------------

# Predicted exchange of collective I/O: messages and cost of every node, and the hot spot.


class NodeRow(NamedTuple):
    """A node in a predicted call: messages and bytes in all, pairs and seconds of a round."""

    node: int
    host: str
    intra: int
    in_: int
    out: int
    intra_bytes: float
    in_bytes: float
    out_bytes: float
    pa: float
    pe: float
    cost: float


class CallCost(Record):
    """Predicted cost of the exchange of a collective call.

    Attributes
    ----------
    hosts
        Names of the nodes.
    counts
        Messages and bytes of each node in the whole call.
    rounds
        Rounds of the exchange.
    seconds, low, high
        Of the whole call: sum of the hot spots of all rounds, with its interval.
    node_costs
        Seconds of each node in an average round.
    origin
        Origin of the times the model was fitted to; empty if unknown.
    warnings
        Warnings about the prediction.
    """

    hosts: Sequence[str]
    counts: Counts
    rounds: int
    seconds: float
    low: float
    high: float
    node_costs: Floats
    origin: str
    warnings: list[str]

    @property
    def cost(self) -> float:
        """Seconds of an average round: those of its hottest node."""
        return self.seconds / self.rounds

    @property
    def hot_nodes(self) -> list[int]:
        """Nodes with the highest cost; several if tied."""
        highest = float(self.node_costs.max())
        return [int(k) for k in np.flatnonzero(self.node_costs >= highest * (1 - TIE))]

    @property
    def nodes(self) -> list[NodeRow]:
        """What each node sends, receives and costs."""
        counts = self.counts
        pairs = np.array([counts.intra, counts.into + counts.out]) / 2 / self.rounds
        columns = (column.tolist() for column in (*counts, *pairs, self.node_costs))
        rows = zip(self.hosts, *columns, strict=True)
        return [NodeRow(k, *row) for k, row in enumerate(rows)]


def predict(
    kinds: Sequence[RoundKind],
    layout: Layout,
    aggregators: Numbers,
    model: NodeCost,
) -> CallCost:
    """Return the cost of a call whose domain k is served by rank ``aggregators[k]``."""
    rounds = sum(kind.rounds for kind in kinds)
    total = Counts.none(layout.nodes)
    times = np.zeros(3)
    nodes = np.zeros(layout.nodes)
    warnings = []
    for kind in kinds:
        counts = kind.directed(count(kind.traffic, layout, aggregators))
        message_size = kind.traffic.message_size
        costs, low, high, found_warnings = model.ask(counts, kind.spread, counts.busy, message_size)
        warnings += [text for text in found_warnings if text not in warnings]
        hot = int(np.argmax(costs))
        refuse_no_time(float(costs[hot]))
        times += kind.rounds * np.array([costs[hot], low[hot], high[hot]])
        nodes += kind.rounds / rounds * np.maximum(costs, 0.0)  # a node without messages
        total = total.plus(counts, kind.times)
    seconds, below, above = times.tolist()
    return CallCost(
        layout.hosts, total, rounds, seconds, below, above, nodes, model.model.origin, warnings
    )
