"""Access patterns: which ranks touch which bytes, compared with a file written byte by byte."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beds.golden import Golden
from isochrone.base.errors import InputError
from isochrone.collective_io.patterns import table
from isochrone.collective_io.patterns.tiles import tile_io
from isochrone.collective_io.workload import AccessPattern
from isochrone.collective_io.workload.accesses import Accesses, made
from isochrone.collective_io.workload.grid import Axis, Grid
from made_up.arrays import block_array, columns, rows


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
                file[cell * grid.element + byte].add(rank)
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
    return Grid(tuple(axes), draw(st.integers(1, 3)))


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
    tiles = tile_io(4, 3, tile=(10, 5), element=8, overlap=(2, 1))
    assert tiles.ranks == 12
    assert tiles.extent == (0, (4 * 8 + 2) * (3 * 4 + 1) * 8)
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


CASES = [
    "1,2",
    "a,1,2",
    "-1,0,4",
    "1,0,4,5",
    "99999999,0,1",
    "0,9223372036854775807,1",
    "0,1_0,1",
    "1,0,4,2,8,9",
    "1,0,4,0,8",
    "1,0,4,2,0",
    "0,0,8,9223372036854775807,3",
]


def test_a_line_that_is_no_access_is_named(tmp_path: Path, subtests: pytest.Subtests) -> None:
    for text in CASES:
        with subtests.test(str(text)):
            path = tmp_path / "t.csv"
            path.write_text("rank offset length\n0,0,4\n" + text + "\n")
            with pytest.raises(InputError) as error:
                table.read(path)
            assert error.value.where == f"{path}:3"


@pytest.mark.parametrize("text", ["0,0,8,1,0\n0,8,8,0,8\n", "0,0,8,1,0\n0,8,8,3,0\n"])
def test_a_line_that_is_no_access_is_named_among_equally_long_ones(
    tmp_path: Path, text: str, golden: Golden
) -> None:
    """Such tables are read all at once, and the line is looked for afterwards."""
    path = tmp_path / "t.csv"
    path.write_text(text)
    with pytest.raises(InputError) as error:
        table.read(path)
    golden(error.value)
    assert error.value.where == f"{path}:2"


def written(accesses: Accesses) -> np.ndarray:
    """Write the file of a table the slow way: how often each rank touches each byte."""
    file = np.zeros((accesses.ranks, accesses.extent[1] + 1), int)
    for rank, offset, length, count, stride in rows_of(accesses):
        for k in range(count):
            file[rank, offset + k * stride : offset + k * stride + length] += 1
    return file


def rows_of(accesses: Accesses) -> Iterator[tuple[int, ...]]:
    columns = accesses.rank, accesses.offset, accesses.length, accesses.count, accesses.stride
    return zip(*(column.tolist() for column in columns), strict=True)


ROWS = st.lists(
    st.tuples(
        st.integers(0, 4),
        st.integers(0, 30),
        st.integers(0, 6),
        st.integers(1, 5),
        st.integers(1, 9),
    ),
    min_size=1,
    max_size=8,
).filter(lambda rows: any(row[2] for row in rows))


@settings(max_examples=200, deadline=None)
@given(ROWS, st.data())
def test_bytes_and_pieces_of_a_table_are_those_of_its_rows_one_by_one(
    rows: list[tuple[int, ...]], data: st.DataObject
) -> None:
    """Strided rows, those that overlap and ranks without any: arithmetic is as good as a list."""
    accesses = made(*np.array(rows, np.int64).T, ranks=data.draw(st.integers(0, 7)))
    last = accesses.extent[1] + 3
    cuts = sorted(data.draw(st.sets(st.integers(0, last), min_size=2, max_size=9)))
    keep = data.draw(st.lists(st.integers(0, len(cuts) - 2), min_size=1, unique=True))
    starts, ends = (np.array(side)[keep] for side in (cuts[:-1], cuts[1:]))
    amounts = np.zeros((2, len(keep), accesses.ranks), int)
    for window, first, after, *amount in zip(*accesses.touches(starts, ends), strict=True):
        amounts[:, window, first:after] += np.array(amount)[:, None]
    file = written(accesses)
    expected = np.zeros_like(amounts)
    for window, (start, end) in enumerate(zip(starts, ends, strict=True)):
        expected[0, window] = file[:, start:end].sum(axis=1)
        for rank, offset, length, count, stride in rows_of(accesses):
            at = offset + stride * np.arange(count)
            meets = (at < end) & (at + length > start) & (length > 0)
            expected[1, window, rank] += meets.sum()
    assert np.array_equal(amounts, expected)
    anyone = file.any(axis=0)
    first, last = accesses.touched(starts, ends)
    for window, (start, end) in enumerate(zip(starts, ends, strict=True)):
        bytes_ = start + np.flatnonzero(anyone[start:end])
        edges = (bytes_[0], bytes_[-1] + 1) if len(bytes_) else (first[window], first[window])
        assert (first[window], last[window]) == edges


def test_a_thousand_million_pieces_in_a_row_cost_no_more_than_one() -> None:
    """Columns of a matrix of 8-byte numbers: four ranks take turns along the file."""
    each, rank = 10**9, np.arange(4)
    accesses = made(rank, 8 * rank, np.full(4, 8), np.full(4, each), np.full(4, 32))
    half = 16 * each + 12  # within a piece of rank 1
    runs = accesses.touches(np.array([0, half]), np.array([half, 32 * each]))
    amounts = np.zeros((2, 2, 4), int)
    for window, first, last, *amount in zip(*runs, strict=True):
        amounts[:, window, first:last] += np.array(amount)[:, None]
    n = each // 2
    assert amounts[0].tolist() == [
        [8 * n + 8, 8 * n + 4, 8 * n, 8 * n],
        [8 * n - 8, 8 * n - 4, 8 * n, 8 * n],
    ]
    assert amounts[1].tolist() == [[n + 1, n + 1, n, n], [n - 1, n, n, n]]
    assert accesses.interleaved


def test_many_windows_and_many_pieces_are_counted_in_portions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What is worked out at once is limited; the result is the same."""
    dice = np.random.default_rng(3)
    rank, offset = dice.integers(0, 5, 60), dice.integers(0, 500, 60)
    accesses = made(rank, offset, np.full(60, 3), np.full(60, 7), np.full(60, 11))
    edges = np.arange(0, 600, 4)
    whole = found_amounts(accesses, edges)
    monkeypatch.setattr("isochrone.collective_io.workload.accesses.PORTION", 10)
    assert np.array_equal(found_amounts(accesses, edges), whole)
    assert whole[0].sum() == 60 * 7 * 3


def found_amounts(accesses: Accesses, edges: np.ndarray) -> np.ndarray:
    runs = accesses.touches(edges[:-1], edges[1:])
    amounts = np.zeros((2, len(edges) - 1, accesses.ranks), int)
    for window, first, last, *amount in zip(*runs, strict=True):
        amounts[:, window, first:last] += np.array(amount)[:, None]
    return amounts


def test_equal_ranks_side_by_side_are_one_run() -> None:
    """What comes after, such as the search for an order, rests on few steps in the ranks."""
    rank = np.arange(1000)
    accesses = made(rank, 8 * rank, np.full(1000, 8), np.full(1000, 50), np.full(1000, 8000))
    runs = accesses.touches(np.arange(0, 400_000, 8000), np.arange(8000, 400_001, 8000))
    assert len(runs.window) == 50
    assert set(runs.last - runs.first) == {1000}


@pytest.mark.parametrize(
    ("rows", "members", "expected"),
    [
        ([(0, 0, 8), (1, 4, 8)], None, True),
        ([(0, 0, 8), (1, 7, 8)], None, False),  # the last byte of a rank is its end in ROMIO
        ([(0, 0, 9), (2, 4, 8)], None, False),  # rank 1 has no data and parts them
        ([(0, 0, 9), (1, 3, 0), (2, 4, 8)], None, False),
        ([(0, 0, 9), (2, 4, 8)], (0, 2), True),
        ([(0, 0, 9), (1, 9, 9), (2, 4, 8)], None, True),
        ([(0, 0, 4), (1, 4, 4)], (1, 0), True),  # they stand in the other order
    ],
)
def test_accesses_interleave_as_romio_asks(
    rows: list[tuple[int, ...]], members: tuple[int, ...] | None, expected: bool
) -> None:
    accesses = made(*np.array(rows).T, ranks=3, members=members)
    assert accesses.interleaved == expected


def test_a_rank_without_data_stretches_the_file_to_where_it_stands() -> None:
    accesses = made(*np.array([(0, 100, 8), (1, 108, 8), (2, 0, 0)]).T)
    assert accesses.extent == (0, 116)
    assert accesses.touches(np.array([0]), np.array([50])).window.tolist() == []


def test_a_table_of_strided_pieces_is_that_of_its_pieces(tmp_path: Path) -> None:
    """Written by hand or by a program: five columns, three, or some of each."""
    strided, plain, mixed = (tmp_path / name for name in ("s", "p", "m"))
    heading = "rank,offset,length,count,stride\n"
    strided.write_text(heading + "0,0,8,4,16\n1,8,8,4,16  # the others\n")
    single = [f"{k % 2},{8 * k},8" for k in range(8)]
    plain.write_text("\n".join(single))
    mixed.write_text("\n".join(["0 0 8 4 16", *single[1::2]]))
    edges = np.array([0, 5, 24, 60, 64])
    amounts = [found_amounts(table.read(path, 3), edges) for path in (strided, plain, mixed)]
    assert np.array_equal(amounts[0], amounts[1])
    assert np.array_equal(amounts[0], amounts[2])
    assert amounts[0].shape == (2, 4, 3)


def test_a_table_without_an_access_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("rank,offset,length\n3,10,0\n")
    with pytest.raises(InputError, match="no access"):
        table.read(path)
    with pytest.raises(InputError, match="be read"):
        table.read(tmp_path / "none.csv")


def test_sizes_that_make_no_array_are_refused() -> None:
    for wrong in (lambda: tile_io(0, 4), lambda: tile_io(4, 4, overlap=(1024, 0))):
        with pytest.raises(InputError):
            wrong()
