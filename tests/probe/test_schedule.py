"""The schedules are exact: every pair once, and nobody is disturbed who should not be."""

from __future__ import annotations

import ctypes
import itertools
import subprocess
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beds.mpis import MPIS, ROOT

ORDERS = {"serial": 0, "rounds": 1, "isolated": 2}

Round = list[tuple[int, int]]


class Pair(ctypes.Structure):
    _fields_ = [("i", ctypes.c_int), ("j", ctypes.c_int)]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """schedule.c alone: it knows nothing of MPI but how to fail."""
    path = tmp_path_factory.mktemp("schedule") / "libschedule.so"
    source = ROOT / "probe/experiments/latency_map/schedule.c"
    subprocess.run(
        [
            MPIS["mpich-wheel"],
            "-std=c11",
            "-shared",
            "-fPIC",
            "-I",
            ROOT / "probe",
            source,
            ROOT / "probe/base/check.c",
            "-o",
            path,
        ],
        check=True,
        timeout=60,
    )
    loaded = ctypes.CDLL(str(path))
    loaded.iso_schedule_create.restype = ctypes.c_void_p
    loaded.iso_schedule_next.argtypes = [ctypes.c_void_p, ctypes.POINTER(Pair)]
    loaded.iso_schedule_free.argtypes = [ctypes.c_void_p]
    return loaded


def rounds_of(
    library: ctypes.CDLL, order: str, nodes: Sequence[int], parallel: bool = False
) -> list[Round]:
    """All rounds of a schedule for ranks whose nodes are given in rank order."""
    n = len(nodes)
    node_of_rank = (ctypes.c_int * n)(*nodes)
    schedule = library.iso_schedule_create(ORDERS[order], n, node_of_rank, int(parallel))
    room = (Pair * (n // 2 + 1))()
    rounds = []
    while count := library.iso_schedule_next(schedule, room):
        assert count <= max(1, n // 2)
        rounds.append([(room[k].i, room[k].j) for k in range(count)])
    assert library.iso_schedule_next(schedule, room) == 0, "a finished schedule stays finished"
    library.iso_schedule_free(schedule)
    return rounds


def placements(most_ranks: int = 64) -> st.SearchStrategy[list[int]]:
    """Uneven nodes in any order of ranks, numbered as ranks meet them."""

    def numbered(labels: list[int]) -> list[int]:
        seen: dict[int, int] = {}
        return [seen.setdefault(label, len(seen)) for label in labels]

    return st.lists(st.integers(0, 9), min_size=1, max_size=most_ranks).map(numbered)


@settings(deadline=None, max_examples=150)
@given(nodes=placements(), order=st.sampled_from(sorted(ORDERS)), parallel=st.booleans())
def test_every_pair_is_measured_exactly_once(
    library: ctypes.CDLL, nodes: list[int], order: str, parallel: bool
) -> None:
    pairs = list(itertools.chain.from_iterable(rounds_of(library, order, nodes, parallel)))
    assert sorted(pairs) == list(itertools.combinations(range(len(nodes)), 2))


@settings(deadline=None, max_examples=150)
@given(nodes=placements(), order=st.sampled_from(sorted(ORDERS)), parallel=st.booleans())
def test_a_rank_is_in_one_pair_at_a_time(
    library: ctypes.CDLL, nodes: list[int], order: str, parallel: bool
) -> None:
    for pairs in rounds_of(library, order, nodes, parallel):
        busy = list(itertools.chain.from_iterable(pairs))
        assert len(busy) == len(set(busy))


@settings(deadline=None, max_examples=150)
@given(nodes=placements(), parallel=st.booleans())
def test_quiet_never_shares_a_network_port(
    library: ctypes.CDLL, nodes: list[int], parallel: bool
) -> None:
    """No node takes part in two pairs of a round; inner pairs only where that was asked for."""
    for pairs in rounds_of(library, "isolated", nodes, parallel):
        across = [(nodes[i], nodes[j]) for i, j in pairs if nodes[i] != nodes[j]]
        inside = [nodes[i] for i, j in pairs if nodes[i] == nodes[j]]
        ports = list(itertools.chain.from_iterable(across))
        assert len(ports) == len(set(ports))
        assert not set(ports) & set(inside)
        if not parallel:
            assert len(inside) == len(set(inside))


def test_a_tournament_takes_the_fewest_rounds_possible(
    library: ctypes.CDLL, subtests: pytest.Subtests
) -> None:
    for n in range(2, 65):
        with subtests.test(str(n)):
            assert len(rounds_of(library, "rounds", [0] * n)) == (n - 1 if n % 2 == 0 else n)


@pytest.mark.parametrize(("nodes", "each"), [(2, 1), (4, 4), (8, 2), (5, 3), (16, 4)])
def test_quiet_costs_ranks_times_ranks_per_node(
    library: ctypes.CDLL, nodes: int, each: int
) -> None:
    """The number of rounds is k (k - 1) / 2 + (M - 1) k^2, and M k^2 between odd M."""
    placement = [node for node in range(nodes) for _ in range(each)]
    between = (nodes - 1 + nodes % 2) * each**2
    assert len(rounds_of(library, "isolated", placement)) == each * (each - 1) // 2 + between


def test_inner_pairs_may_run_at_once_if_asked_for(library: ctypes.CDLL) -> None:
    assert len(rounds_of(library, "isolated", [0] * 8)) == 28
    assert len(rounds_of(library, "isolated", [0] * 8, parallel=True)) == 7


def test_serial_is_the_order_of_the_process_latency_maps(library: ctypes.CDLL) -> None:
    """Table 1 of the paper: 0-1, 0-2, 0-3, 1-2, 1-3, 2-3 (its last line, 2-4, is a misprint)."""
    expected = [[(0, 1)], [(0, 2)], [(0, 3)], [(1, 2)], [(1, 3)], [(2, 3)]]
    assert rounds_of(library, "serial", [0, 0, 1, 1]) == expected
