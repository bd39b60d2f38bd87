"""Times whose law is known: forms inside and outside the families of formulas, with breaks.

None was chosen for what an engine can do. Where a library switches its algorithm, the thresholds
are those in the sources of MPICH 4 and Open MPI 4 (`coll_tuned_decision_fixed.c`); the algorithms
cost what Thakur, Rabenseifner and Gropp 2005 (*Optimization of collective communication
operations in MPICH*) say. `α` is the start of a message and `β` the time of a byte.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["TRUTHS", "Truth", "named", "random_truth"]

Array = NDArray[np.float64]
Law = Callable[[Array, Array], Array]
"""Seconds of ranks and bytes."""

KIB = 1024
A = 1.5e-6
B = 4e-10


@dataclass(frozen=True)
class Truth:
    """How long an operation really takes.

    Attributes
    ----------
    name
        Unique.
    operation
        Name of the collective operation; empty for a point-to-point message.
    law
        Seconds of ranks and bytes, arrays of one shape.
    known
        Whether every segment has one of the usual forms: sums of 1, p, log2(p) (whole steps, too),
        √p or p√p, each with and without b, and of b/p.
    breaks
        Where the form changes, in words of a person.
    """

    name: str
    operation: str
    law: Law
    known: bool = True
    breaks: tuple[str, ...] = ()

    @property
    def variables(self) -> tuple[str, ...]:
        """Names of the variables that a table of it has."""
        if not self.operation:
            return ("b",)
        return ("p",) if self.operation == "barrier" else ("p", "b")

    def seconds(self, p: Array, b: Array) -> Array:
        """Return the times without noise."""
        p, b = np.broadcast_arrays(np.asarray(p, dtype=float), np.asarray(b, dtype=float))
        return np.asarray(self.law(p, b), dtype=float)


def _steps(p: Array) -> Array:
    return np.ceil(np.log2(p))


def _whole(p: Array) -> Array:
    return np.floor(np.log2(p))


def _switched(by: Law, edges: Sequence[float], laws: Sequence[Law]) -> Law:
    """Return the law whose segments end at (and hold for) the edges of a variable."""
    return lambda p, b: np.choose(
        np.searchsorted(edges, by(p, b), side="left"), [law(p, b) for law in laws]
    )


def _size(p: Array, b: Array) -> Array:
    return b


def _total(p: Array, b: Array) -> Array:
    return p * b


def _tree(p: Array, b: Array) -> Array:
    return _steps(p) * (A + B * b)


def _linear(p: Array, b: Array) -> Array:
    return (p - 1) * (A + B * b)


def _doubled_scatter(p: Array, b: Array) -> Array:
    """Scatter along a tree, then allgather by recursive doubling."""
    return 2 * _steps(p) * A + 2 * (p - 1) / p * B * b


def _ringed_scatter(p: Array, b: Array) -> Array:
    """Scatter along a tree, then allgather round a ring."""
    return (_steps(p) + p - 1) * A + 2 * (p - 1) / p * 0.85 * B * b


def _mpich_bcast(p: Array, b: Array) -> Array:
    small = (b < 12288) | (p < 8)
    return np.where(
        small,
        _tree(p, b),
        _switched(_size, [512 * KIB - 1], [_doubled_scatter, _ringed_scatter])(p, b),
    )


def _ompi_bcast(p: Array, b: Array) -> Array:
    segment = 8 * KIB
    return _switched(
        _size,
        [2 * KIB - 1, 370_728 - 1],
        [
            _tree,
            lambda p, b: (_whole(p + 1) + 1) * A + (1 + 0.5 * _whole(p + 1)) * B * b,
            lambda p, b: (p - 2 + np.ceil(b / segment)) * (0.5 * A + B * segment),
        ],
    )(p, b)


def _gathered(p: Array, b: Array) -> Array:
    """Allgather by recursive doubling, or Bruck's off powers of two, which turns its blocks."""
    turned = np.where(_steps(p) > _whole(p), 0.3, 0.0)
    return _steps(p) * A + (p - 1 + turned * p) * B * b


def _halved_reduce(p: Array, b: Array) -> Array:
    """Rabenseifner's allreduce; off powers of two a step before and one behind."""
    two = 2 ** _whole(p)
    return (
        2 * _whole(p) * A
        + 2 * (two - 1) / two * 1.2 * B * b
        + np.where(p > two, 2 * A + 2.2 * B * b, 0.0)
    )


def _doubled_reduce(p: Array, b: Array) -> Array:
    two = 2 ** _whole(p)
    return (_whole(p) + np.where(p > two, 2, 0)) * (A + 1.3 * B * b)


def _bruck(p: Array, b: Array) -> Array:
    return _steps(p) * (A + 0.5 * p * 1.4 * B * b)


def _lines(edges: Sequence[float], lines: Sequence[tuple[float, float]]) -> Law:
    """Return messages that take latency + bytes * slope, other ones from each edge on."""

    def line(latency: float, slope: float) -> Law:
        return lambda p, b: latency + slope * b

    return _switched(_size, edges, [line(*one) for one in lines])


def _jumping(p: Array, b: Array) -> Array:
    return np.where(b <= 64e3, 3e-6 + 0.45e-9 * b, 120e-6 + 0.16e-9 * b)


_PING_PONG = (
    _lines([], [(1.2e-6, 1.6e-10)]),
    _lines([8192], [(1.1e-6, 5e-10), (4.2e-6, 1.2e-10)]),
    _lines([512, 32768], [(0.6e-6, 9e-10), (1.1e-6, 3e-10), (6e-6, 1.1e-10)]),
    _lines(
        [128, 4096, 131072], [(0.4e-6, 2e-9), (0.9e-6, 7e-10), (2.5e-6, 2.2e-10), (12e-6, 1e-10)]
    ),
    _lines(
        [64, 1024, 16384, 262144],
        [(0.3e-6, 4e-9), (0.8e-6, 1.2e-9), (1.6e-6, 4e-10), (5e-6, 1.8e-10), (30e-6, 9e-11)],
    ),
)

TRUTHS: tuple[Truth, ...] = (
    # One formula, of a family.
    Truth("gather", "gather", lambda p, b: 40e-6 + (3e-9 + 1.1e-9 * p) * b),
    Truth("tree", "bcast", lambda p, b: 2e-6 + _tree(p, b)),
    Truth("smooth log", "bcast", lambda p, b: 2e-6 + np.log2(p) * (A + B * b)),
    Truth(
        "smooth log of p, b alone", "bcast", lambda p, b: (2e-9 + 4.5e-9 * np.log2(p)) * b + 1e-6
    ),
    Truth("ring", "allgather", lambda p, b: 1e-6 + _linear(p, b)),
    Truth("scatter and allgather", "bcast", lambda p, b: 3e-6 + _doubled_scatter(p, b)),
    Truth(
        "allreduce in a ring",
        "allreduce",
        lambda p, b: 2 * (p - 1) * A + 2 * (p - 1) / p * 1.2 * B * b,
    ),
    Truth("sqrt(p)", "alltoall", lambda p, b: 3e-6 + np.sqrt(p) * (1e-6 + 5e-10 * b)),
    Truth("p^1.5", "alltoall", lambda p, b: 4e-6 + p**1.5 * (2e-7 + 8e-11 * b)),
    Truth(
        "off powers of two",
        "allreduce",
        lambda p, b: 2e-6 + _whole(p) * (1e-6 + 3e-10 * b) + _steps(p) * (8e-7 + 2e-10 * b),
    ),
    Truth("reduce, then bcast", "allreduce", lambda p, b: 2e-6 + 0.6 * _linear(p, b) + _tree(p, b)),
    Truth(
        "gather, then bcast", "allgather", lambda p, b: _linear(p, b) + _tree(p, p * b), known=False
    ),
    Truth("barrier", "barrier", lambda p, b: 0.5e-6 + 1.7e-6 * _steps(p)),
    Truth("linear barrier", "barrier", lambda p, b: 1e-6 + 0.8e-6 * (p - 1)),
    Truth("constant", "reduce", lambda p, b: 5e-6 + 0 * p),
    # Breaks: in b, and where they depend on p.
    Truth(
        "rendezvous in a tree",
        "bcast",
        lambda p, b: np.where(
            b <= 8192, 1e-6 + _tree(p, b), 1e-6 + _steps(p) * (3.5 * A + 0.45 * B * b)
        ),
        breaks=("b = 8192",),
    ),
    Truth(
        "break at p*b",
        "gather",
        _switched(
            _total,
            [64 * KIB],
            [
                lambda p, b: 5e-6 + (1e-9 + 0.6e-9 * p) * b,
                lambda p, b: 35e-6 + (2e-9 + 1.1e-9 * p) * b,
            ],
        ),
        breaks=("p*b = 64 KiB",),
    ),
    Truth(
        "break at b = c/log2(p)",
        "bcast",
        _switched(
            lambda p, b: b * np.log2(p),
            [24 * KIB],
            [
                lambda p, b: 1e-6 + np.log2(p) * (A + B * b),
                lambda p, b: 25e-6 + np.log2(p) * (A + 0.5 * B * b),
            ],
        ),
        breaks=("b = 24 KiB/log2(p)",),
    ),
    Truth(
        "break at b = c*p",
        "reduce",
        _switched(
            lambda p, b: b / p,
            [512],
            [
                lambda p, b: 2e-6 + _steps(p) * (A + 1.3 * B * b),
                lambda p, b: 6e-6 + 0.5 * _linear(p, 0 * b) + 2.4 * B * b,
            ],
        ),
        breaks=("b = 512 p",),
    ),
    Truth(
        "break at p",
        "bcast",
        lambda p, b: np.where(p <= 4, 2e-6 + _linear(p, b), 9e-6 + _steps(p) * (1.4 * A + B * b)),
        breaks=("p = 4",),
    ),
    Truth("big jump", "bcast", lambda p, b: np.log2(p) * _jumping(p, b), breaks=("b = 64 kB",)),
    # Algorithms as libraries choose them.
    Truth("bcast of MPICH", "bcast", _mpich_bcast, breaks=("b = 12 KiB", "b = 512 KiB", "p = 8")),
    Truth(
        "bcast of Open MPI", "bcast", _ompi_bcast, known=False, breaks=("b = 2 KiB", "b = 370728")
    ),
    Truth(
        "allgather of MPICH",
        "allgather",
        _switched(
            _total,
            [80 * KIB - 1, 512 * KIB - 1],
            [_gathered, lambda p, b: _gathered(p, b) + A, _linear],
        ),
        breaks=("p*b = 80 KiB", "p*b = 512 KiB"),
    ),
    Truth(
        "allgather, doubling or ring",
        "allgather",
        _switched(
            _total, [80 * KIB], [lambda p, b: np.log2(p) * A + (p - 1) * 1.3 * B * b, _linear]
        ),
        breaks=("p*b = 80 KiB",),
    ),
    Truth(
        "alltoall of MPICH",
        "alltoall",
        _switched(
            _size,
            [256, 32 * KIB],
            [_bruck, lambda p, b: p * 0.4 * A + (p - 1) * 1.6 * B * b, _linear],
        ),
        known=False,
        breaks=("b = 256", "b = 32 KiB"),
    ),
    Truth(
        "allreduce of MPICH",
        "allreduce",
        _switched(_size, [2 * KIB], [_doubled_reduce, _halved_reduce]),
        known=False,
        breaks=("b = 2 KiB", "powers of two"),
    ),
    Truth("gather of MPICH", "gather", lambda p, b: _steps(p) * A + (p - 1) * B * b),
    # No form of a family.
    Truth(
        "log2(p)^2", "reduce", lambda p, b: 2e-6 + np.log2(p) ** 2 * (0.7 * A + B * b), known=False
    ),
    Truth(
        "tree of four",
        "bcast",
        lambda p, b: 2e-6 + np.ceil(np.log2(p) / 2) * (1.8 * A + 2.2 * B * b),
        known=False,
    ),
    Truth(
        "p log2(p)",
        "alltoall",
        lambda p, b: 3e-6 + p * np.log2(p) * (2e-7 + 9e-11 * b),
        known=False,
    ),
    Truth("p^0.7", "scan", lambda p, b: 2e-6 + p**0.7 * (A + B * b), known=False),
    Truth(
        "saturating link",
        "alltoall",
        lambda p, b: 3e-6 + 0.5 * A * p + B * b * p / (1 + p / 24),
        known=False,
    ),
    Truth(
        "congestion sets in",
        "alltoall",
        lambda p, b: _linear(p, b) * (1 + 0.8 / (1 + np.exp(-(p - 12) / 4))),
        known=False,
    ),
    Truth(
        "cache fills",
        "reduce",
        lambda p, b: 1e-6 + _steps(p) * (A + B * b * (1 + b / (b + 256 * KIB))),
        known=False,
    ),
    Truth(
        "nodes of eight",
        "bcast",
        lambda p, b: (
            1e-6
            + _steps(np.minimum(p, 8)) * (0.3 * A + 0.4 * B * b)
            + _steps(np.ceil(p / 8)) * (1.5 * A + 1.5 * B * b)
        ),
        known=False,
        breaks=("p = 8",),
    ),
    # Two ranks.
    *(
        Truth(f"ping-pong, {len(law_breaks)} breaks", "", law, breaks=law_breaks)
        for law, law_breaks in zip(
            _PING_PONG,
            (
                (),
                ("8192",),
                ("512", "32768"),
                ("128", "4096", "131072"),
                ("64", "1024", "16384", "262144"),
            ),
            strict=True,
        )
    ),
    Truth("ping-pong, big jump", "", _jumping, breaks=("b = 64 kB",)),
)


def named(name: str) -> Truth:
    """Return the truth of a name."""
    return next(truth for truth in TRUTHS if truth.name == name)


_GROWTHS: tuple[tuple[Callable[[Array], Array], float], ...] = (
    (np.log2, 1.0),
    (_steps, 1.0),
    (lambda p: p - 1, 0.3),
    (np.sqrt, 0.6),
    (lambda p: p**1.5, 0.06),
)
"""How a time grows with the ranks, and a factor that makes all alike for a dozen of them."""

_STRANGE: tuple[tuple[Callable[[Array], Array], float], ...] = (
    (lambda p: np.log2(p) ** 2, 0.3),
    (lambda p: p**0.75, 0.4),
    (lambda p: p * np.log2(p), 0.07),
    (lambda p: p ** (1 / 3), 1.2),
    (lambda p: p / (1 + p / 20), 0.5),
)

_EDGES: tuple[tuple[str, Law], ...] = (
    ("b", _size),
    ("p*b", _total),
    ("b*log2(p)", lambda p, b: b * np.log2(p)),
)


def random_truth(seed: int, *, known: bool = True) -> Truth:
    """Make up a truth: one to three segments, each τ + growth(p) * (α + β b), and perhaps b/p.

    Latencies are 0.3 to 10 µs, bandwidths 0.5 to 25 GB/s; segments end between 512 B and 256 KiB.
    A later segment mostly starts messages for more and sends a byte for less, as libraries mean to.
    """
    dice = np.random.default_rng([seed, known])
    pool = _GROWTHS if known else _STRANGE
    number = int(dice.choice([1, 2, 3], p=[0.5, 0.35, 0.15]))
    by, variable = _EDGES[dice.integers(len(_EDGES))]
    edges = np.sort(np.round(np.exp(dice.uniform(np.log(512), np.log(2**18), number - 1))))
    start, alpha = _between(dice, 3e-7, 1e-5, 2)
    beta, split = 1 / _between(dice, 5e8, 25e9, 2)
    laws = []
    for _ in range(number):
        growth, factor = pool[dice.integers(len(pool))]
        laws.append(
            _random_law(growth, start, factor * alpha, factor * beta, split * (dice.random() < 0.3))
        )
        start, alpha = np.array([start, alpha]) * _between(dice, 0.7, 5, 2)
        beta *= float(_between(dice, 0.3, 1.2, 1)[0])
    operation = str(dice.choice(["bcast", "reduce", "allreduce", "allgather", "alltoall"]))
    words = tuple(f"{by} = {edge:.0f}" for edge in edges)
    kind = "usual" if known else "strange"
    return Truth(f"random {kind} {seed}", operation, _switched(variable, edges, laws), known, words)


def _random_law(
    growth: Callable[[Array], Array], start: float, alpha: float, beta: float, split: float
) -> Law:
    return lambda p, b: start + growth(p) * (alpha + beta * b) + split * b * (1 - 1 / p)


def _between(dice: np.random.Generator, low: float, high: float, number: int) -> Array:
    return np.asarray(np.exp(dice.uniform(np.log(low), np.log(high), number)))
