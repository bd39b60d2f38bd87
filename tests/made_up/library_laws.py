"""Random laws of collectives: of the known families, and in the style of MPI libraries.

Latencies, bandwidths, thresholds, block sizes and batch sizes are drawn; no law is chosen for what
the engine can do. A law of the style of libraries takes an algorithm for short and one for long
messages, the threshold may be of b, p*b or b/p, and the number of ranks may change the algorithm.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from isochrone.models import Samples

Array = NDArray[np.float64]
Law = Callable[[Array, Array, Array, Array], Array]
"""Seconds of ranks, bytes, nodes and ranks on each node."""

SIZES = (8, 64, 512, 2048, 8192, 32768, 131072, 524288, 1048576)
BETWEEN = (32, 1500, 20000, 300000)
RANKS = {
    "mixed": (2, 3, 4, 6, 8, 11, 12, 16, 21, 24, 32, 40, 64),
    "mixed to 32": (2, 3, 4, 5, 6, 8, 9, 12, 16, 20, 24, 27, 32),
    "powers of two": (2, 4, 8, 16, 32, 64),
}
"""Numbers of ranks that are measured, by the name of the design."""


@dataclass(frozen=True)
class RandomLaw:
    """One law, and how noisy it is measured.

    Attributes
    ----------
    name
        Kind of the law.
    operation
        MPI operation.
    seconds
        The law.
    noise
        Standard deviation of the logarithm of one repetition.
    ppn
        Ranks on a full node if nodes matter, else 0.
    """

    name: str
    operation: str
    law: Law
    noise: float
    ppn: int = 0

    def columns(self, p: Array, b: Array) -> dict[str, Array]:
        """Return the variables of a table with such ranks and sizes."""
        found = {"p": p, "b": b}
        if self.ppn:
            found |= {"nodes": np.ceil(p / self.ppn), "ppn": np.minimum(p, self.ppn)}
        if self.operation == "barrier":
            del found["b"]
        return found

    def seconds(self, p: Array, b: Array) -> Array:
        """Return the times without noise."""
        ppn = self.ppn or 1
        return np.asarray(self.law(p, b, np.ceil(p / ppn), np.minimum(p, ppn)), dtype=float)


def _grid(ranks: tuple[int, ...], sizes: tuple[int, ...]) -> tuple[Array, Array]:
    p, b = np.meshgrid(np.array(ranks, float), np.array(sizes, float), indexing="ij")
    return p.ravel(), b.ravel()


def measured(law: RandomLaw, design: str, seed: int, repeats: int = 5) -> Samples:
    """Measure a law: a row for each repetition."""
    dice = np.random.default_rng([seed, 7])
    sizes = SIZES if law.operation != "barrier" else (0,)
    p, b = (np.repeat(v, repeats) for v in _grid(RANKS[design], sizes))
    seconds = law.seconds(p, b) * dice.lognormal(0, law.noise, len(p))
    return Samples(law.columns(p, b), {"op": np.full(len(p), law.operation)}, seconds, "collective")


def asked(law: RandomLaw, design: str) -> dict[str, tuple[dict[str, Array], Array]]:
    """Return points that were not measured, and their times, by where they are."""
    ranks, most = RANKS[design], max(RANKS[design])
    inside = tuple(k for k in (5, 7, 10, 13, 18, 28) if k not in ranks)
    where = {"inside": (inside, SIZES), "between": (ranks[1:], BETWEEN), "48": ((48,), SIZES)}
    where |= {f"{k}x": ((k * most, k * most - k // 2 * 2 - 3), SIZES) for k in (2, 4, 8)}
    if design == "powers of two":
        where |= {f"{k}x": ((k * most,), SIZES) for k in (2, 4, 8)}
    if law.operation == "barrier":
        where = {name: (p, (0,)) for name, (p, _) in where.items() if name != "between"}
    if design == "mixed to 32":
        del where["48"]
    grids = {name: _grid(*one) for name, one in where.items()}
    return {name: (law.columns(p, b), law.seconds(p, b)) for name, (p, b) in grids.items()}


# --- laws -----------------------------------------------------------------------------------------


def _ceil_log(v: Array) -> Array:
    return np.ceil(np.log2(v))


def _floor_log(v: Array) -> Array:
    return np.floor(np.log2(v))


def _is_power(p: Array) -> NDArray[np.bool_]:
    return np.asarray(_ceil_log(p) == _floor_log(p))


_KNOWN: dict[str, Callable[[Array], Array]] = {
    "smooth log": np.log2,
    "tree": _ceil_log,
    "ring": lambda p: p - 1,
    "sqrt": np.sqrt,
    "p^1.5": lambda p: 0.05 * p**1.5,
    "whole log": _floor_log,
}


def known_law(seed: int) -> RandomLaw:
    """Draw a law of the known families: one or two segments in b or p*b."""
    dice = np.random.default_rng([seed, 1])
    alpha, beta, noise = _start(dice), 1 / _spread(dice, 5e8, 2e10), dice.uniform(0, 0.05)
    name = str(dice.choice(list(_KNOWN)))
    growth = _KNOWN[name]
    edge, by_total = _spread(dice, 1e3, 3e5), bool(dice.random() < 0.4)
    more, less, start = _spread(dice, 0.7, 5), _spread(dice, 0.3, 1.1), _start(dice)
    broken = dice.random() < 0.5

    def law(p: Array, b: Array, _: Array, __: Array) -> Array:
        first = start + growth(p) * (alpha + beta * b)
        then = start + growth(p) * (alpha * more + beta * less * b)
        return np.where((b * p if by_total else b) > edge, then, first) if broken else first

    op = str(dice.choice(["bcast", "reduce", "allreduce", "allgather", "alltoall"]))
    return RandomLaw(f"{name}{', broken' * broken}", op, law, noise)


def _start(dice: np.random.Generator) -> float:
    return _spread(dice, 4e-7, 6e-6)


def _spread(dice: np.random.Generator, low: float, high: float) -> float:
    return float(np.exp(dice.uniform(np.log(low), np.log(high))))


def library_law(seed: int) -> RandomLaw:
    """Draw a law in the style of a library; kinds take turns, their numbers are random."""
    dice = np.random.default_rng([seed, 2])
    kinds = list(_KINDS)
    name = kinds[seed % len(kinds)]
    op, law, ppn = _KINDS[name](dice, _start(dice), 1 / _spread(dice, 5e8, 2e10))
    return RandomLaw(name, op, law, dice.uniform(0, 0.05), ppn)


_Made = tuple[str, Law, int]


def _doubling(dice: np.random.Generator, a: float, g: float) -> _Made:
    """Allreduce: recursive doubling with two more steps off powers, then Rabenseifner's."""
    edge, c = _spread(dice, 1e3, 6e4), dice.uniform(1.0, 1.6)

    def law(p: Array, b: Array, _: Array, __: Array) -> Array:
        more = np.where(_is_power(p), 0.0, 2.0)
        two = 2 ** _floor_log(p)
        short = (_floor_log(p) + more) * (a + c * g * b)
        long = (2 * _floor_log(p) + more) * a + 2 * (two - 1) / two * c * g * b + more * g * b
        return np.where(b <= edge, short, long)

    return "allreduce", law, 0


def _neighbours(dice: np.random.Generator, a: float, g: float) -> _Made:
    """Allgather: Bruck's below a total size, then neighbour exchange, a ring of odd ranks."""
    edge, half = _spread(dice, 2e4, 3e5), dice.uniform(0.8, 1.3)

    def law(p: Array, b: Array, _: Array, __: Array) -> Array:
        bruck = _ceil_log(p) * a + (p - 1) * 1.3 * g * b
        even = p / 2 * half * a + (p - 1) * g * b
        ring = (p - 1) * (a + g * b)
        return np.where(p * b <= edge, bruck, np.where(p % 2 == 0, even, ring))

    return "allgather", law, 0


def _throttled(dice: np.random.Generator, a: float, g: float) -> _Made:
    """Alltoall: Bruck's of short messages, then in batches of so many requests."""
    edge, batch, wait = _spread(dice, 100, 2e3), int(dice.choice([4, 8, 16, 32])), _start(dice)

    def law(p: Array, b: Array, _: Array, __: Array) -> Array:
        bruck = _ceil_log(p) * (a + 0.5 * p * g * b)
        return np.where(
            b <= edge, bruck, np.ceil((p - 1) / batch) * wait + (p - 1) * (0.3 * a + g * b)
        )

    return "alltoall", law, 0


def _pipeline(dice: np.random.Generator, a: float, g: float) -> _Made:
    """Bcast: a binomial tree, then a chain or a binary tree in segments."""
    edge, piece = _spread(dice, 2e3, 6e4), float(2 ** dice.integers(12, 17))
    chain, overlap = bool(dice.random() < 0.5), dice.uniform(0.3, 1.0)

    def law(p: Array, b: Array, _: Array, __: Array) -> Array:
        tree = _ceil_log(p) * (a + g * b)
        depth = p - 2 if chain else 2 * _floor_log(p + 1) - 2
        count, size = np.ceil(b / piece), np.minimum(b, piece)
        return np.where(b <= edge, tree, (depth + count) * (overlap * a + g * size))

    return "bcast", law, 0


def _shared_port(dice: np.random.Generator, a: float, g: float) -> _Made:
    """Bcast or allreduce whose ranks share the port of their node."""
    ppn, inner = int(dice.choice([4, 8])), dice.uniform(0.1, 0.4)

    def law(p: Array, b: Array, nodes: Array, q: Array) -> Array:
        inside = _ceil_log(q) * (inner * a + inner * g * b)
        return 0.4 * a + inside + _ceil_log(nodes) * (a + q * g * b)

    return "allreduce", law, ppn


def _hierarchy(dice: np.random.Generator, a: float, g: float) -> _Made:
    """Allreduce: a tree within nodes, between them doubling, then a ring."""
    ppn, edge = int(dice.choice([4, 8])), _spread(dice, 4e3, 1e5)

    def law(p: Array, b: Array, nodes: Array, q: Array) -> Array:
        inside = 2 * _ceil_log(q) * (0.25 * a + 0.3 * g * b)
        more = np.where(_is_power(nodes), 0.0, 2.0)
        doubling = (_floor_log(nodes) + more) * (a + 1.2 * g * b)
        ring = 2 * (nodes - 1) * (a + g * b / nodes)
        return 0.3 * a + inside + np.where(b <= edge, doubling, ring)

    return "allreduce", law, ppn


def _three_switches(dice: np.random.Generator, a: float, g: float) -> _Made:
    """Reduce-scatter by halving, doubling and in pairs; thresholds in b, and in p."""
    edges = np.sort([_spread(dice, 256, 2e5) for _ in range(2)])
    few = int(dice.choice([3, 8]))

    def law(p: Array, b: Array, _: Array, __: Array) -> Array:
        doubling = _ceil_log(p) * (a + 0.8 * p * g * b)
        halving = _ceil_log(p) * 1.4 * a + (p - 1) * 1.2 * g * b
        pairs = (p - 1) * (a + g * b)
        choice = np.where(b <= edges[0], doubling, np.where(b <= edges[1], halving, pairs))
        return np.where(p <= few, 0.5 * a + pairs, choice)

    return "reduce_scatter_block", law, 0


def _incast(dice: np.random.Generator, a: float, g: float) -> _Made:
    """Gather: a tree of short messages, else one after the other, worse from some ranks on."""
    edge, from_p, worse = _spread(dice, 500, 8e3), int(dice.choice([12, 16])), dice.uniform(1.3, 3)

    def law(p: Array, b: Array, _: Array, __: Array) -> Array:
        tree = _ceil_log(p) * a + (p - 1) * g * b
        return np.where(
            b <= edge, tree, 2 * a + (p - 1) * (0.4 * a + g * b * np.where(p > from_p, worse, 1.0))
        )

    return "gather", law, 0


def _barrier(dice: np.random.Generator, a: float, g: float) -> _Made:
    """Barrier by dissemination, or by doubling with two more steps off powers of two."""
    doubling = bool(dice.random() < 0.5)

    def law(p: Array, b: Array, _: Array, __: Array) -> Array:
        more = np.where(_is_power(p), 0.0, 2.0)
        return 0.3 * a + (_floor_log(p) + more if doubling else _ceil_log(p)) * a

    return "barrier", law, 0


def _scan(dice: np.random.Generator, a: float, g: float) -> _Made:
    """Scan: a chain of long messages, doubling of short ones; the protocol switches as well."""
    edge, eager = _spread(dice, 1e3, 3e4), _spread(dice, 6e3, 2e5)

    def law(p: Array, b: Array, _: Array, __: Array) -> Array:
        each = np.where(b <= eager, a + 1.5 * g * b, 2.5 * a + g * b)
        return np.where(b <= edge, _ceil_log(p), p - 1) * each

    return "scan", law, 0


def _groups(dice: np.random.Generator, a: float, g: float) -> _Made:
    """Alltoall whose bytes beyond a group of ranks go over fewer links."""
    group, slower = int(dice.choice([8, 16])), dice.uniform(1.5, 4)

    def law(p: Array, b: Array, _: Array, __: Array) -> Array:
        near = np.minimum(p, group) - 1
        return 0.5 * a + (p - 1) * 0.5 * a + (near + slower * (p - 1 - near)) * g * b

    return "alltoall", law, 0


def _mpich_bcast(dice: np.random.Generator, a: float, g: float) -> _Made:
    """Bcast: a tree, then scatter and allgather by doubling on powers of two, or in a ring."""
    edge, longer = _spread(dice, 4e3, 4e4), _spread(dice, 1e5, 6e5)
    ring_cost = dice.uniform(0.8, 1.0)

    def law(p: Array, b: Array, _: Array, __: Array) -> Array:
        tree = _ceil_log(p) * (a + g * b)
        doubling = 2 * _ceil_log(p) * a + 2 * (p - 1) / p * g * b
        ring = (_ceil_log(p) + p - 1) * a + 2 * (p - 1) / p * ring_cost * g * b
        long = np.where((b < longer) & _is_power(p), doubling, ring)
        return np.where((b <= edge) | (p < 8), tree, long)

    return "bcast", law, 0


_KINDS: dict[str, Callable[[np.random.Generator, float, float], _Made]] = {
    "doubling": _doubling,
    "neighbours": _neighbours,
    "throttled": _throttled,
    "pipeline": _pipeline,
    "shared port": _shared_port,
    "hierarchy": _hierarchy,
    "three switches": _three_switches,
    "incast": _incast,
    "barrier": _barrier,
    "scan": _scan,
    "groups": _groups,
    "mpich bcast": _mpich_bcast,
}
