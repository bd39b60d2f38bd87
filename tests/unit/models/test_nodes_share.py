"""Laws of several ranks on a node go on to more nodes."""

from __future__ import annotations

import numpy as np
import pytest

from isochrone import models
from isochrone.models import Samples

SIZES = 2.0 ** np.arange(3, 23)


def table(placed: list[tuple[int, int]], law: str, noise: float = 0.02) -> Samples:
    nodes, ppn, b = (
        np.repeat(column, 5)
        for column in np.array([(n, q, b) for n, q in placed for b in SIZES], dtype=float).T
    )
    seconds = LAWS[law](nodes, ppn, b) * np.random.default_rng(3).lognormal(0, noise, len(b))
    return Samples(
        {"p": nodes * ppn, "nodes": nodes, "ppn": ppn, "b": b},
        {"op": np.full(len(b), law)},
        seconds,
        "collective",
    )


def in_pairs(n: np.ndarray, q: np.ndarray, b: np.ndarray) -> np.ndarray:
    return 5e-7 + (q - 1) * (3e-7 + 5e-11 * b) + (n - 1) * q * (4e-7 + 3e-10 * b)


def shared_port(n: np.ndarray, q: np.ndarray, b: np.ndarray) -> np.ndarray:
    steps = np.ceil(np.log2(n)) * (1.4e-6 + 1e-10 * q * b)
    return 1e-7 + np.ceil(np.log2(q)) * (4e-7 + 1e-10 * b) + steps


LAWS = {"alltoall": in_pairs, "bcast": shared_port}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("law", "placed"),
    [
        ("alltoall", [(1, 2), (1, 4), (1, 8), (2, 8), (4, 8)]),
        ("bcast", [(n, q) for n in (1, 2, 4, 8) for q in (1, 2, 4, 8) if n * q > 1]),
    ],
)
def test_four_times_the_nodes_are_predicted(law: str, placed: list[tuple[int, int]]) -> None:
    """Off by 5 % at most, and never less than of fewer nodes.

    Within a factor of two where the formula of several nodes was tried: not of two and four nodes.
    """
    model = models.fit(table(placed, law))
    nodes = max(n for n, _ in placed) * np.array([1.0, 2.0, 4.0])
    for size in (8.0, 2.0**20):
        ppn, b = np.full(3, 8.0), np.full(3, size)
        said = model.predict({"nodes": nodes, "ppn": ppn, "b": b})
        assert said.seconds == pytest.approx(LAWS[law](nodes, ppn, b), rel=0.05)
        assert np.all(np.diff(said.seconds) > 0)
        assert np.all(said.high < 4 * said.low) or law == "alltoall"
        assert np.all(said.low > 0)


def test_two_steps_on_several_nodes_are_enough_beside_another_law_on_one() -> None:
    """A barrier crosses nodes in every step; on 12 to 32 ranks it has four and five of them."""
    p = np.array([2.0, 3, 4, 6, 8, 12, 16, 24, 32, 64, 128])
    nodes, steps = np.ceil(p / 8), np.ceil(np.log2(p))
    seconds = np.where(nodes > 1, 1e-8 + 1e-6 * steps, 2e-7 * steps)
    columns = {"p": p, "nodes": nodes, "ppn": np.minimum(p, 8.0)}
    near = p <= 32
    data = Samples(
        {name: values[near] for name, values in columns.items()},
        {"op": np.full(near.sum(), "barrier")},
        seconds[near],
        "collective",
    )
    said = models.fit(data).predict({name: values[~near] for name, values in columns.items()})
    assert said.seconds == pytest.approx(seconds[~near], rel=0.01)
    assert np.all((said.low <= seconds[~near]) & (seconds[~near] <= said.high))
