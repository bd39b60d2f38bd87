"""Predictions go through measured times where no formula describes these, and stay between them."""

from __future__ import annotations

import numpy as np
import pytest

from isochrone import models
from isochrone.base.errors import InputError
from isochrone.models.file import document, from_document
from isochrone.models.model import Model
from isochrone.models.neighbours import Neighbours, left_out

SIZES = 4.0 ** np.arange(2, 11)
RANKS = np.array([2.0, 4, 8, 16, 32, 64, 128])


def irregular(p: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Times of a machine that switches algorithms, with 8 % that belong to each point."""
    steps = np.log2(p)
    smaller = np.where((p >= 12) & (b < 4096), 1.6, 1.0) * np.where(b > 30000, 0.7, 1.0)
    own = np.modf(np.abs(np.sin(12.9898 * p + 78.233 * np.log2(b))) * 43758.5453)[0] - 0.5
    return np.asarray((1e-6 * steps + 1e-9 * b * np.sqrt(steps)) * smaller * np.exp(0.28 * own))


def fitted(ranks: np.ndarray = RANKS) -> Model:
    p, b = (column.ravel() for column in np.meshgrid(ranks, SIZES))
    op = np.full(len(p), "bcast")
    return models.fit({"op": op, "p": p, "b": b, "seconds": irregular(p, b)})


def test_measured_times_are_nearly_predicted() -> None:
    """At a measured point, the line and the formula with its residual are the same."""
    model = fitted()
    (neighbours,) = model.neighbours
    assert not neighbours.trusted
    found = model.predict(p=[8.0, 32.0], b=[64.0, 4096.0], op="bcast").seconds
    truth = irregular(np.array([8.0, 32.0]), np.array([64.0, 4096.0]))
    assert found == pytest.approx(truth, rel=1e-6)


def test_between_ranks_the_error_is_not_above_that_of_a_line() -> None:
    model = fitted(RANKS[::2])
    p, b = (column.ravel() for column in np.meshgrid(RANKS[1::2], SIZES))
    truth = irregular(p, b)
    found = np.abs(np.log(model.predict(p=p, b=b, op="bcast").seconds / truth))
    logs = np.log(irregular(*np.meshgrid(RANKS[::2], SIZES)))
    line = np.concatenate([np.interp(np.log(RANKS[1::2]), np.log(RANKS[::2]), row) for row in logs])
    assert found.mean() <= 1.1 * np.abs(line - np.log(truth)).mean()


def test_intervals_hold_most_points_between_and_beyond() -> None:
    model = fitted(RANKS[:-1])
    p, b = (column.ravel() for column in np.meshgrid([6.0, 12.0, 24.0, 128.0], SIZES))
    found, truth = model.predict(p=p, b=b, op="bcast"), irregular(p, b)
    assert np.mean((found.low <= truth) & (truth <= found.high)) >= 0.9


def test_a_right_formula_is_not_changed() -> None:
    """Times of a tree: what is predicted is the formula, within and beyond the data."""
    p, b = (column.ravel() for column in np.meshgrid(RANKS, SIZES))
    seconds = np.ceil(np.log2(p)) * (1e-6 + 1e-9 * b)
    model = models.fit({"op": np.full(len(p), "bcast"), "p": p, "b": b, "seconds": seconds})
    found = model.predict(p=[6.0, 100.0, 512.0], b=[100.0, 1000.0, 4096.0], op="bcast")
    assert found.seconds == pytest.approx(found.by_formula, rel=1e-12)


def test_a_right_formula_stays_between_its_neighbours() -> None:
    """A formula of three sizes may take any time between these; the measured ones bound it."""
    table = [[1.0, 2.0, 3.0], [10.0, 20.0, 30.0]]
    neighbours = Neighbours({}, [2.0, 4.0, 8.0], [64.0, 4096.0], table, table, rising=True,
                            trusted=True)  # fmt: skip
    points = {"p": np.array([4.0, 4.0]), "b": np.array([512.0, 1e6])}
    wild = np.array([500.0, 500.0])
    times, _, high = neighbours.joined(points, wild, wild, 2 * wild, 0.95)
    assert times == pytest.approx([20 * np.exp(0.1), 500.0])
    assert high[0] == pytest.approx(20 * np.exp(0.7))


def test_what_is_left_out_is_compared_with_a_line() -> None:
    values = np.log([2.0, 4.0, 8.0])
    assert left_out(values, np.array([[0.0], [1.5], [2.0]])) == pytest.approx(0.5)


def test_a_file_keeps_them_and_refuses_damaged_ones() -> None:
    content = document(fitted())
    again = from_document(content)
    assert again.neighbours == fitted().neighbours
    for key, value in (("p", [1.0]), ("seconds", [[1.0]]), ("b", [2.0, 1.0])):
        damaged = {k: v for k, v in content.items() if k != "sha256"}
        damaged["neighbours"] = [{**content["neighbours"][0], key: value}]
        with pytest.raises(InputError, match="neighbours"):
            from_document(damaged)
