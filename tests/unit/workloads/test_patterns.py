"""Access patterns: which ranks touch which bytes, compared with a file written byte by byte."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isochrone.base.errors import InputError
from isochrone.workloads.access_pattern import AccessPattern
from isochrone.workloads.grid import Axis, Grid
from isochrone.workloads.patterns import table
from isochrone.workloads.patterns.blocks import block_array
from isochrone.workloads.patterns.columns import columns
from isochrone.workloads.patterns.rows import rows
from isochrone.workloads.patterns.tiles import tile_io


def owners(grid: Grid) -> list[set[int]]:
    """Write the file the slow way: every rank marks its bytes."""
    shape = [axis.extent for axis in grid.axes]
    file: list[set[int]] = [set() for _ in range(grid.extent[1])]
    blocks = [axis.blocks for axis in grid.axes]
    for rank in range(grid.ranks):
        place = np.unravel_index(rank, blocks)
        box = tuple(
            np.arange(k * axis.step, k * axis.step + axis.length)
            for k, axis in zip(place, grid.axes, strict=True)
        )
        for cell in np.ravel_multi_index(np.meshgrid(*box, indexing="ij"), shape).ravel():
            for byte in range(grid.element):
                file[grid.header + cell * grid.element + byte].add(rank)
    return file


def found(pattern: AccessPattern, cuts: Sequence[int]) -> list[set[int]]:
    """Ask the pattern for the windows between the cuts."""
    edges = np.array(cuts, np.int64)
    runs = pattern.touches(edges[:-1], edges[1:])
    sets: list[set[int]] = [set() for _ in edges[1:]]
    for window, first, last in zip(*runs[:3], strict=True):
        new = set(range(first, last))
        sets[window] |= new
    return sets


@st.composite
def grids(draw: st.DrawFn) -> Grid:
    axes = []
    for _ in range(draw(st.integers(1, 3))):
        length = draw(st.integers(1, 4))
        axes.append(Axis(draw(st.integers(1, 4)), length, draw(st.integers(0, length - 1))))
    return Grid(tuple(axes), draw(st.integers(1, 3)), draw(st.integers(0, 5)))


@settings(max_examples=150, deadline=None)
@given(grids(), st.data())
def test_the_ranks_of_any_window_are_those_that_wrote_its_bytes(
    grid: Grid, data: st.DataObject
) -> None:
    file = owners(grid)
    cuts = sorted(data.draw(st.sets(st.integers(0, len(file)), min_size=2, max_size=9)))
    expected = [set().union(*file[a:b]) for a, b in pairwise(cuts)]
    assert found(grid, cuts) == expected


@settings(max_examples=150, deadline=None)
@given(grids(), st.data())
def test_bytes_and_pieces_of_any_window_are_those_in_the_file(
    grid: Grid, data: st.DataObject
) -> None:
    """What a message holds, and how many lists of offsets announce it."""
    file = owners(grid)
    cuts = sorted(data.draw(st.sets(st.integers(0, len(file)), min_size=2, max_size=9)))
    runs = grid.touches(np.array(cuts[:-1]), np.array(cuts[1:]))
    amounts = np.zeros((2, len(cuts) - 1, grid.ranks), int)
    for window, first, last, *amount in zip(*runs, strict=True):
        amounts[:, window, first:last] += np.array(amount)[:, None]
    for window, (start, end) in enumerate(pairwise(cuts)):
        for rank in range(grid.ranks):
            mine = [rank in ranks for ranks in file[start:end]]
            assert amounts[0, window, rank] == sum(mine)
            begins = sum(b and not a for a, b in pairwise([False, *mine]))
            # a cell beyond the end of a row may begin the next one of the same rank
            assert amounts[1, window, rank] >= begins
            if all(axis.overlap == 0 for axis in grid.axes):
                assert amounts[1, window, rank] == begins


@settings(max_examples=60, deadline=None)
@given(grids())
def test_interleaved_is_what_romio_asks(grid: Grid) -> None:
    file = owners(grid)
    ends = [[k for k, ranks in enumerate(file) if r in ranks] for r in range(grid.ranks)]
    expected = any(b[0] < a[-1] for a, b in pairwise(ends))
    assert grid.interleaved == expected


def test_patterns_have_the_ranks_and_the_size_they_are_made_of() -> None:
    tiles = tile_io(4, 3, tile=(10, 5), element=8, overlap=(2, 1), header=7)
    assert tiles.ranks == 12
    assert tiles.extent == (7, 7 + (4 * 8 + 2) * (3 * 4 + 1) * 8)
    assert tile_io(4, 4).extent == (0, 2**30)  # the 1 GB file of the paper
    cube = block_array((2, 3, 4), (5, 6, 7))
    assert (cube.ranks, cube.extent) == (24, (0, 8 * 10 * 18 * 28))
    assert not rows(5).interleaved
    assert columns(5).interleaved


def test_a_table_gives_the_same_ranks_as_the_pattern_it_was_written_from(tmp_path: Path) -> None:
    grid = tile_io(3, 2, tile=(4, 3), element=2)
    lines = ["rank,offset,length  # of a picture"]
    for rank in reversed(range(6)):
        for row in range(3):
            offset = ((rank // 3 * 3 + row) * 12 + rank % 3 * 4) * 2
            lines.append(f"{rank}, {offset}, 8")
    path = tmp_path / "t.csv"
    path.write_text("\n".join([*lines, "", "# the end"]))
    read = table.read(path)
    assert (read.ranks, read.extent, read.interleaved) == (6, grid.extent, grid.interleaved)
    cuts = [0, 5, 24, 25, 60, 100, 144]
    assert found(read, cuts) == found(grid, cuts)


@pytest.mark.parametrize(
    "text", ["1,2", "a,1,2", "-1,0,4", "1,0,4,5", "99999999,0,1", "0,9223372036854775807,1"]
)
def test_a_line_that_is_no_access_is_named(tmp_path: Path, text: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text("rank offset length\n0,0,4\n" + text + "\n")
    with pytest.raises(InputError) as error:
        table.read(path)
    assert error.value.where == f"{path}:3"


def test_a_table_without_an_access_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("rank,offset,length\n3,10,0\n")
    with pytest.raises(InputError, match="no access"):
        table.read(path)
    with pytest.raises(InputError, match="cannot read"):
        table.read(tmp_path / "none.csv")


def test_sizes_that_make_no_array_are_refused() -> None:
    for wrong in (lambda: tile_io(0, 4), lambda: tile_io(4, 4, overlap=(1024, 0))):
        with pytest.raises(InputError):
            wrong()
