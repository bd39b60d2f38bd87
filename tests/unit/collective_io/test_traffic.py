"""Messages of collective I/O: those of the real library (counted in ROMIO) and of a slow count."""

from __future__ import annotations

from collections import Counter
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isochrone.base.errors import InputError
from isochrone.collective_io.patterns.tiles import tile_io
from isochrone.collective_io.workload.call import (
    Call,
    FileWindows,
    aggregators,
    even,
    in_rounds,
    lustre_clients,
    stripe_cyclic,
)
from isochrone.collective_io.workload.grid import Grid
from isochrone.collective_io.workload.traffic import (
    Counts,
    count,
    layout_of,
    round_kinds,
)
from made_up.jobs import block_layout

TABLE_2 = {
    (4, 4, 2, 2, 1, 1, 1, 1): (
        (4, 0, 0, 0, 0, 0, 1, 1),
        (0, 4, 4, 4, 4, 4, 3, 3),
        (4, 8, 4, 4, 2, 2, 1, 1),
    ),
    (1, 1, 1, 1, 2, 4, 4, 2): (
        (1, 1, 0, 0, 0, 2, 2, 2),
        (3, 3, 4, 4, 4, 2, 2, 2),
        (1, 1, 2, 2, 4, 6, 6, 2),
    ),
    (1, 1, 2, 2, 1, 1, 4, 4): (
        (1, 1, 0, 2, 0, 0, 0, 4),
        (3, 3, 4, 2, 4, 4, 4, 0),
        (1, 1, 4, 2, 2, 2, 8, 4),
    ),
    (1, 1, 1, 4, 4, 2, 2, 1): (
        (1, 1, 0, 3, 3, 1, 2, 1),
        (3, 3, 4, 1, 1, 3, 2, 3),
        (1, 1, 2, 5, 5, 3, 2, 1),
    ),
}
"""Nodes of table II of the cFireworks paper: (intra, in, out) as counted in MPICH 5.0.2."""


def cut(whole: FileWindows, buffer: int) -> FileWindows:
    """Cut domains into rounds as if all of them was touched."""
    return in_rounds(whole, whole.start, whole.end, buffer)


def total(grid: Grid, windows: FileWindows, cores: list[int], ranks: list[int]) -> Counts:
    layout = block_layout(cores)
    counts = [count(p.traffic, layout, ranks) for p in round_kinds(grid, windows)]
    zero = Counts.none(len(cores))
    for found, kind in zip(counts, round_kinds(grid, windows), strict=True):
        zero = zero.plus(found, kind.times)
    return zero


@pytest.mark.parametrize("cores", TABLE_2)
def test_messages_of_table_2_are_those_of_the_real_library(cores: tuple[int, ...]) -> None:
    grid, layout = tile_io(4, 4), block_layout(cores)
    found = total(grid, even(grid.extent, 8), list(cores), list(layout.first))
    assert (tuple(found.intra), tuple(found.into), tuple(found.out)) == TABLE_2[cores]
    assert found.intra.sum() + found.into.sum() == 32
    assert found.reversed().into is found.out


def test_a_smaller_buffer_repeats_the_messages_in_every_round() -> None:
    """As counted with cb_buffer_size 1 MiB and a 32 MiB file: 4 rounds, all counts times 4."""
    cores = (4, 4, 2, 2, 1, 1, 1, 1)
    grid, layout = tile_io(4, 4, element=2), block_layout(cores)
    windows = cut(even(grid.extent, 8), 2**20)
    assert (grid.extent[1], windows.rounds) == (2**25, 4)
    found = total(grid, windows, list(cores), list(layout.first))
    assert tuple(found.out) == tuple(4 * n for n in TABLE_2[cores][2])
    (kind,) = round_kinds(grid, windows)
    assert (kind.times, kind.spread) == (4, 1)


def slow(grid: Grid, windows: FileWindows, cores: list[int], ranks: list[int]) -> np.ndarray:
    """Count message by message."""
    node = np.repeat(np.arange(len(cores)), cores)
    counts = np.zeros((6, len(cores)))
    for domain, start, end in zip(windows.domain, windows.start, windows.end, strict=True):
        runs = grid.touches(np.array([start]), np.array([end]))
        amounts: Counter[int] = Counter()
        for _, a, b, nbytes, _ in zip(*runs, strict=True):
            amounts.update(dict.fromkeys(range(a, b), nbytes))
        for rank, nbytes in amounts.items():
            source, target = node[rank], node[ranks[domain]]
            amount = 1, nbytes
            if source == target:
                counts[[0, 3], source] += amount
            else:
                counts[[1, 4], target] += amount
                counts[[2, 5], source] += amount
    return counts


@settings(max_examples=60, deadline=None)
@given(
    st.integers(1, 5), st.integers(1, 5), st.data(), st.sampled_from(["even", "buffer", "lustre"])
)
def test_the_fast_count_is_the_slow_count(x: int, y: int, data: st.DataObject, kind: str) -> None:
    cuts = data.draw(st.sets(st.integers(1, max(1, x * y - 1)), max_size=6)) - {x * y}
    cores = np.diff([0, *sorted(cuts), x * y]).tolist()
    grid = tile_io(x, y, tile=(3, 4), element=1)
    ranks = data.draw(st.permutations(range(x * y)))[: data.draw(st.integers(1, x * y))]
    windows = {
        "even": lambda: even(grid.extent, len(ranks)),
        "buffer": lambda: cut(even(grid.extent, len(ranks), unit=4), 5),
        "lustre": lambda: stripe_cyclic(grid.extent, len(ranks), 7),
    }[kind]()
    found = total(grid, windows, cores, ranks)
    expected = slow(grid, windows, cores, ranks)
    assert np.array_equal([found.intra, found.into, found.out], expected[:3])
    sides = found.intra_bytes, found.into_bytes, found.out_bytes
    assert np.allclose(sides, expected[3:])


def test_ranks_dealt_out_to_nodes_in_turn_are_counted_where_they_are() -> None:
    layout = layout_of(["a", "b"] * 8)
    grid = tile_io(4, 4)
    (kind,) = round_kinds(grid, even(grid.extent, 2))
    found = count(kind.traffic, layout, [0, 1])
    assert layout.hosts == ["a", "b"]
    # each node holds 4 ranks of either half of the file
    assert [found.intra.tolist(), found.into.tolist(), found.out.tolist()] == [[4, 4]] * 3


def test_even_domains_are_those_of_romio() -> None:
    plain = even((10, 111), 4)  # 101 bytes: 26, 26, 26, 23
    assert plain.start.tolist() == [10, 36, 62, 88]
    assert plain.end.tolist() == [36, 62, 88, 111]
    aligned = even((10, 111), 4, unit=16)  # 36 -> 32, 62 -> 64, 88 -> 96 (a tie goes up)
    assert aligned.end.tolist() == [32, 64, 96, 111]
    few = even((0, 100), 4, smallest=60)
    assert (few.start.tolist(), few.end.tolist(), few.domains) == ([0, 60], [60, 100], 4)
    rounds = cut(even((0, 100), 2), 20)
    assert rounds.round_index.tolist() == [0, 1, 2, 0, 1, 2]
    assert rounds.end.tolist() == [20, 40, 50, 70, 90, 100]


def test_lustre_deals_stripes_to_a_divisor_or_a_multiple_of_the_targets() -> None:
    found = [lustre_clients(a, s, r) for a, s, r in ((8, 4, 1), (8, 4, 2), (9, 4, 8), (5, 8, 1))]
    assert found == [4, 8, 8, 4]
    dealt = stripe_cyclic((3, 50), 2, 10)
    assert dealt.domain.tolist() == [0, 1, 0, 1, 0]
    assert dealt.round_index.tolist() == [0, 0, 1, 1, 2]
    assert (dealt.start[0], dealt.end[-1]) == (3, 50)
    with pytest.raises(InputError, match="parts"):
        stripe_cyclic((0, 2**50), 4, 64)


HOSTS = [h for h, n in zip("01234567", (4, 4, 2, 2, 1, 1, 1, 1), strict=True) for _ in range(n)]
HOSTS = [f"n{h}" for h in HOSTS]


@pytest.mark.parametrize(
    ("config", "nodes", "expected"),
    [
        ("*:1", None, [0, 4, 8, 10, 12, 13, 14, 15]),
        ("n0,n4,*:1", None, [0, 12, 4, 8, 10, 13, 14, 15]),
        ("*:2", None, [0, 1, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15]),
        ("*:*", None, list(range(16))),
        ("n7:1,n0:2,*:1", 4, [15, 0, 1, 4]),
        ("n0:1,n1:1,n0:1,n1:1", None, [0, 4]),
        ("n3", None, [10]),
        ("*:1", 3, [0, 4, 8]),
        ("n0:4,n1:0,*:1", None, [0, 1, 2, 3, 8, 10, 12, 13, 14, 15]),
    ],
)
def test_aggregators_are_those_that_mpich_reported(
    config: str, nodes: int | None, expected: list[int]
) -> None:
    """Lists as printed by MPICH 5.0.2 with ROMIO_PRINT_HINTS=1."""
    assert aggregators(HOSTS, config, nodes) == expected


@pytest.mark.parametrize(
    ("config", "why"),
    [
        ("nope:1", "no rank is on host 'nope'"),
        ("n0:x", "cannot read"),
        ("n0,,n1", "cannot read"),
        ("n0:0", "no aggregator"),
        ("", "cannot read"),
    ],
)
def test_a_list_with_which_opening_would_fail_is_refused(config: str, why: str) -> None:
    with pytest.raises(InputError, match=why):
        aggregators(HOSTS, config)


def test_ompio_takes_the_first_rank_of_each_row() -> None:
    """As counted with pml_monitoring: 16 messages, to ranks 0, 4, 8 and 12 only."""
    served = Call(tile_io(4, 4)).of_ompio()
    assert served == [0, 4, 8, 12]
    grid = tile_io(4, 4)
    found = total(grid, even(grid.extent, 4), [4, 4, 4, 4], served)
    assert found.intra.tolist() == [4, 4, 4, 4]
    assert found.into.sum() == 0


def test_any_split_of_the_ranks_has_every_message_once() -> None:
    grid = tile_io(2, 3)
    for cores in ([6], [1, 5], [2, 2, 2], [1] * 6):
        for domains in range(1, 7):
            found = total(grid, even(grid.extent, domains), cores, list(range(domains)))
            assert found.into.sum() == found.out.sum()
            pairs = product(range(6), range(domains))
            meets = sum(
                3 * domains > 0
                and a // 2 * domains < 3 * (d + 1)
                and 3 * d < (a // 2 + 1) * domains
                for a, d in pairs
            )
            assert found.intra.sum() + found.into.sum() == meets
