"""What messages cost, from models of messages: one alone, several in flight, both directions.

A message takes T(b) from rank to rank if nothing else moves (half a round trip). Several in flight
follow each other by the gap g(b): a window of w messages and its empty answer take
T(b) + (w - 1) g(b) + T(0), as in LogGP (Alexandrov et al., SPAA '95). Sends that block until the
message is received show in a window of blocking sends, where the same w messages then follow each
other by T(b).
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, get_args

import numpy as np

from isochrone.applications.thresholds import BOTH
from isochrone.base.arrays import Floats
from isochrone.base.errors import InputError
from isochrone.models import Model
from isochrone.models.data.terms import Selector
from isochrone.models.prediction.questions import recorded, subject

Path = Literal["node", "network"]
Side = Literal["seconds", "low", "high"]

_USUAL_EAGER = 65536
"""Bytes from which sends are taken to wait for their receiver where that was not measured."""

_SIZES = tuple(2**k for k in range(31))


class Cost(NamedTuple):
    """Of one message.

    Attributes
    ----------
    alone
        Seconds from the send to the end of the receive if both are there, and nothing else is.
    gap
        Seconds after which the same rank's next message can follow.
    wire
        Seconds for which a port of the node is busy; part of ``gap``.
    waits
        Whether the sender waits until it is received.
    both
        How long messages in both directions take against one; 1 to 2.
    """

    alone: float
    gap: float
    wire: float
    waits: bool
    both: float


@dataclass(frozen=True)
class _Measured:
    """A model, as it is asked for messages: its mode and the window, both as measured."""

    model: Model
    where: dict[str, Selector]
    window: float

    def times(self, sizes: Floats, side: Side = "seconds") -> tuple[Floats, list[str]]:
        """Return seconds a message, shape (n,); NaN where there are none."""
        arguments = {"b": sizes}
        if "w" in self.model.variables:
            arguments["w"] = np.full(len(sizes), self.window)
        prediction = self.model.predict(arguments, self.where)
        ends = getattr(prediction, side)
        return np.where(np.isnan(ends), prediction.seconds, ends), prediction.warnings


@dataclass
class _OnPath:
    """What was measured of messages on one path; each may be missing but the first."""

    alone: _Measured
    posted: _Measured | None = None
    blocking: _Measured | None = None
    both_ways: _Measured | None = None
    eager: float = _USUAL_EAGER
    costs: dict[tuple[float, Side], Cost] = field(default_factory=dict)


class MessageTimes:
    """Models of messages that are asked for single messages of an application.

    Parameters
    ----------
    models
        Those of messages are used, others are not.

    Attributes
    ----------
    warnings
        What was found to be doubtful so far; each sentence once.
    """

    def __init__(self, models: Sequence[Model]) -> None:
        self.warnings: dict[str, None] = {}
        self._paths: dict[Path, _OnPath] = {}
        message_models = [
            model for model in models if subject(model.experiment, model.segments) == "message"
        ]
        measured = []  # each mode at the smallest and the largest window
        for model in message_models:
            for mode in model.selectors.get("mode", [""]):
                where: dict[str, Selector] = {"mode": mode} if mode else {}
                low, high = recorded(model.chosen(where), "w") or (1.0, 1.0)
                measured += [_Measured(model, where, window) for window in sorted({low, high})]
        for path in get_args(Path):
            on = [
                source
                for source in measured
                if "nodes" not in source.model.constant
                or (source.model.constant["nodes"] == 1) == (path == "node")
            ]
            singles = [
                source for source in on if source.window == 1 and _mode(source) != "bidirectional"
            ]
            if singles:
                windowed = sorted(
                    (source for source in on if source.window > 1),
                    key=lambda source: -source.window,
                )
                self._paths[path] = _OnPath(
                    min(singles, key=lambda source: _mode(source) != "blocking"),
                    _first(windowed, "nonblocking"),
                    _first(windowed, "blocking"),
                    _first([source for source in on if source.window == 1], "bidirectional"),
                )
                self._paths[path].eager = self._eager(path)
        self.simulated = any(model.origin == "simulated" for model in message_models)

    @property
    def paths(self) -> set[Path]:
        """On which paths messages are known."""
        return set(self._paths)

    def waits(self, size: float) -> bool:
        """Whether sends of so many bytes wait for their receivers, on any path."""
        eager = [on.eager for on in self._paths.values()]
        return size >= min(eager, default=_USUAL_EAGER)

    # --- asked ------------------------------------------------------------------------------------

    def cost(self, path: Path, size: float, side: Side = "seconds") -> Cost:
        """Return the cost of a message of so many bytes.

        Raises
        ------
        InputError
            If no model holds messages; says what to measure.
        """
        on = self._on(path)
        if (size, side) not in on.costs:
            self.prepare(path, [size], side)
        return on.costs[size, side]

    def prepare(self, path: Path, sizes: Iterable[float], side: Side) -> None:
        """Reckon the costs of many sizes at once, which is faster."""
        on = self._on(path)
        wanted = np.array(sorted({float(size) for size in sizes if (size, side) not in on.costs}))
        if not len(wanted):
            return
        all_sizes = np.append(wanted, 0.0)
        middle, warnings = on.alone.times(all_sizes)
        end = on.alone.times(all_sizes, side)[0] if side != "seconds" else middle
        self.warnings |= dict.fromkeys(warnings)
        if np.isnan(middle).any():
            raise InputError(
                "the model cannot predict messages", hint=warnings[0] if warnings else ""
            )
        by = end / middle
        if on.posted is None:
            self.warnings[
                "not measured how closely messages follow each other: it is taken to be the time "
                "per byte (measure point-to-point --mode nonblocking --window 64)"
            ] = None
            gaps = middle - middle[-1]
        else:
            gaps = _follow(on.posted, all_sizes, middle)
        gaps = np.maximum(gaps, 0.0)
        both_ways = self._both(path, all_sizes, middle)
        for k, size in enumerate(wanted.tolist()):
            gap = min(gaps[k], middle[k])
            wire = max(gap - min(gaps[-1], gap), 0.0) if path == "network" else 0.0
            on.costs[size, side] = Cost(
                float(end[k]),
                float(gap * by[k]),
                float(wire * by[k]),
                size >= on.eager,
                float(both_ways[k]),
            )

    def _on(self, path: Path) -> _OnPath:
        if path in self._paths:
            return self._paths[path]
        if not self._paths:
            raise InputError(
                "no model of messages is given",
                where="--model",
                hint="run isochrone measure point-to-point, and add its fit to --model",
            )
        (covered,) = self._paths
        names = {"node": "within a node", "network": "between nodes"}
        pair = "0-1" if path == "node" else "of two nodes"
        raise InputError(
            f"no model covers messages {names[path]}, only {names[covered]}",
            where="--model",
            hint=f"isochrone measure point-to-point --pairs I-J with a pair {pair}, or --ppn 1"
            if path == "node"
            else "isochrone measure point-to-point with ranks on two nodes",
        )

    # --- what models say --------------------------------------------------------------------------

    def _both(self, path: Path, sizes: Floats, single: Floats) -> Floats:
        """Return how long both directions take against one, by the time per byte."""
        on = self._paths[path]
        if on.both_ways is None or path == "node":
            return np.ones(len(sizes))
        both_ways = on.both_ways.times(sizes)[0]
        moved = single - single[-1]
        with np.errstate(invalid="ignore", divide="ignore"):
            ratio = (both_ways - both_ways[-1]) / moved
        ratio = np.where(moved > 0.05 * single, ratio, 1.0)
        return np.asarray(np.where(ratio < BOTH, 1.0, np.clip(ratio, 1.0, 2.0)))

    def _eager(self, path: Path) -> float:
        """Return the bytes from which a send waits for its receiver."""
        on = self._paths[path]
        if on.blocking is None:
            return _USUAL_EAGER
        chosen = on.blocking.model.chosen(on.blocking.where)
        low, high = recorded(chosen, "b") or (0.0, math.inf)
        # a switch is anywhere between two measured sizes: waiting is known from the upper one on
        begins = [segment.fitted["b"][0] for segment in chosen if "b" in segment.fitted]
        sizes = np.array(sorted({*_SIZES, *begins, 0.0}))
        sizes = np.append(sizes[(sizes >= low) & (sizes <= high) & (sizes > 0)], 0.0)
        single = on.alone.times(sizes)[0]
        follow = _follow(on.blocking, sizes, single)
        posted = single - single[-1]
        if on.posted is not None:
            posted = _follow(on.posted, sizes, single)
        waits = follow >= (single + np.minimum(np.maximum(posted, 0.0), single)) / 2
        first = np.flatnonzero(waits[:-1])
        return float(sizes[first[0]]) if len(first) else max(high * 2, _USUAL_EAGER)


def _mode(source: _Measured) -> str:
    return str(source.where.get("mode", "blocking"))


def _first(sources: Sequence[_Measured], mode: str) -> _Measured | None:
    return next((source for source in sources if _mode(source) == mode), None)


def _follow(source: _Measured, sizes: Floats, single: Floats) -> Floats:
    """Return by what the messages of a window follow each other; the last size is 0."""
    window = source.window
    return np.asarray(
        (window * source.times(sizes)[0] - single - single[-1]) / (window - 1), dtype=np.float64
    )
