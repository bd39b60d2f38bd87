"""Operations on grids as operations of rows and columns: who takes part in which, with what."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isochrone.applications.description.program import Collective
from isochrone.applications.predict.grid_parts import GridPart, parts_of
from isochrone.base.errors import InputError
from isochrone.collectives.grid_collectives import OPERATIONS

ROOTED = ("bcast", "scatter", "gather", "reduce")


@given(
    op=st.sampled_from(OPERATIONS),
    rows=st.integers(2, 5),
    length=st.integers(2, 5),
    root=st.integers(0, 24),
    shift=st.integers(0, 3),
)
def test_all_members_of_a_group_know_the_same_group(
    op: str, rows: int, length: int, root: int, shift: int
) -> None:
    """Whoever joins an operation with some members is one of them, and they all join it."""
    ranks = rows * length
    among = tuple(range(shift, shift + ranks)) if shift else ()
    step = Collective(0, op, 0, root=shift + root % ranks, grid=f"{rows}x{length}", among=among)
    joined: dict[tuple[int, tuple[int, ...]], set[int]] = {}
    for rank in among or range(ranks):
        for part, size in parts_of(step, 64.0, rank, shift + ranks, None):
            assert isinstance(part, GridPart)
            assert rank in part.among
            assert part.root in part.among
            assert size >= 64
            joined.setdefault((part.number, part.among), set()).add(rank)
    assert all(set(members) == by for (_, members), by in joined.items())
    groups = [sum(number == k for number, _ in joined) for k in (0, 1)]
    assert sorted(groups) == sorted([rows, 1 if op in ROOTED else length])


def test_data_pass_the_root_in_both_phases() -> None:
    """A broadcast on 2x3 from rank 4: down its column (1, 4), then along both rows from there."""
    step = Collective(0, "bcast", 0, root=4, grid="2x3")
    seen = {
        rank: [(part.among, part.root) for part, _ in parts_of(step, 8, rank, 6, None)]
        for rank in range(6)
    }
    assert seen[4] == [((1, 4), 4), ((3, 4, 5), 4)]
    assert seen[1] == [((1, 4), 4), ((0, 1, 2), 1)]
    assert seen[0] == [((0, 1, 2), 1)]


@pytest.mark.parametrize(
    ("grid", "nodes"),
    [
        ("", None),
        ("rows-of-4", None),
        ("nodes", None),
        ("nodes", [0, 0, 0, 1, 1, 1, 1, 2, 2, 2]),
        ("1x10", None),
        ("10x1", None),
    ],
)
def test_without_a_grid_of_equal_rows_it_is_one_operation(
    grid: str, nodes: list[int] | None
) -> None:
    step = Collective(0, "allreduce", 0, grid=grid)
    assert parts_of(step, 8.0, 3, 10, nodes) == [(step, 8.0)]


def test_rows_are_nodes_wherever_their_ranks_are() -> None:
    step = Collective(0, "allgather", 0, grid="nodes")
    cyclic = [0, 1, 2, 0, 1, 2]
    found = [part.among for part, _ in parts_of(step, 8, 4, 6, cyclic)]
    assert sorted(found) == [(1, 4), (3, 4, 5)]
    assert np.array_equal(np.array(cyclic)[[1, 4]], [1, 1])


def test_a_grid_of_other_ranks_is_refused() -> None:
    with pytest.raises(InputError, match=r"4x4 .*16"):
        parts_of(Collective(0, "bcast", 0, grid="4x4"), 8, 0, 6, None)
