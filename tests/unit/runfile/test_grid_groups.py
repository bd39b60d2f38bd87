"""Which ranks are together on a grid, and where they are."""

from __future__ import annotations

import numpy as np
import pytest

from isochrone.runfile.grid_groups import Place, arranged, place_of, ranks_on_nodes


def test_ranks_fill_nodes_or_go_round_them() -> None:
    assert ranks_on_nodes(6, 3, 2).tolist() == [0, 0, 1, 1, 2, 2]
    assert ranks_on_nodes(6, 3, 2, cyclic=True).tolist() == [0, 1, 2, 0, 1, 2]


def test_rows_are_consecutive_ranks_of_which_the_last_may_be_fewer() -> None:
    row, place = arranged("rows-of-3", 3, np.zeros(7))
    assert row.tolist() == [0, 0, 0, 1, 1, 1, 2]
    assert place.tolist() == [0, 1, 2, 0, 1, 2, 0]


def test_rows_may_be_nodes_wherever_their_ranks_are() -> None:
    row, place = arranged("nodes", 0, [5, 3, 5, 5, 3])
    assert row.tolist() == [1, 0, 1, 1, 0]
    assert place.tolist() == [0, 0, 1, 2, 1]


def test_a_place_counts_nodes_ranks_on_them_and_groups_that_share_them() -> None:
    columns = [0, 1, 2, 0, 1, 2]
    assert place_of([0, 3], columns, [0, 0, 0, 1, 1, 1]) == Place(2, 1, 3, 3)
    alone = [0, -1, -1, 0, -1, -1]
    assert place_of([0, 3], alone, [0, 0, 0, 1, 1, 1]) == Place(2, 1, 1, 3)
    assert place_of([4], [0] * 5, [0] * 5) == Place(1, 1, 1, 1)


@pytest.mark.parametrize(("ranks", "expected"), [(16, (8, 2)), (15, (8, 2)), (2, (1, 2))])
def test_uneven_ranks_are_taken_to_fill_nodes_as_the_fullest_is(
    ranks: int, expected: tuple[int, int]
) -> None:
    """A model knows filled nodes only: p is more than (nodes - 1) ppn, and at most nodes ppn."""
    assert Place(12, 2, 1, 3).filled(ranks) == expected
