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
        {"op": np.full(len(b), law)}, seconds, "collective",
    )  # fmt: skip


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
    """Off by 5 % at most, never less than of fewer nodes, and within a factor of two."""
    model = models.fit(table(placed, law))
    nodes = max(n for n, _ in placed) * np.array([1.0, 2.0, 4.0])
    for size in (8.0, 2.0**20):
        ppn, b = np.full(3, 8.0), np.full(3, size)
        said = model.predict({"nodes": nodes, "ppn": ppn, "b": b})
        assert said.seconds == pytest.approx(LAWS[law](nodes, ppn, b), rel=0.05)
        assert np.all(np.diff(said.seconds) > 0)
        assert np.all(said.high < 4 * said.low)
        assert np.all(said.low > 0)
