"""A sample of the pairs: none twice, no two of a round on one node, every node with many others."""

from __future__ import annotations

import ctypes
import itertools
import subprocess
from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beds.mpis import MPIS, ROOT


class Pair(ctypes.Structure):
    _fields_ = [("i", ctypes.c_int), ("j", ctypes.c_int)]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """sample.c alone."""
    path = tmp_path_factory.mktemp("sample") / "libsample.so"
    probe = ROOT / "probe"
    sources = [
        "experiments/latency_map/sample.c",
        "experiments/latency_map/schedule.c",
        "base/check.c",
        "base/random.c",
    ]
    subprocess.run(
        [
            MPIS["mpich-wheel"],
            "-std=c11",
            "-shared",
            "-fPIC",
            "-I",
            probe,
            *(probe / source for source in sources),
            "-o",
            path,
            "-lm",
        ],
        check=True,
        timeout=60,
    )
    loaded = ctypes.CDLL(str(path))
    loaded.iso_sample_create.restype = ctypes.c_void_p
    loaded.iso_sample_create.argtypes = [ctypes.c_int, ctypes.POINTER(ctypes.c_int), ctypes.c_long]
    loaded.iso_sample_rounds.restype = loaded.iso_sample_pairs.restype = ctypes.c_long
    loaded.iso_sample_rounds.argtypes = loaded.iso_sample_free.argtypes = [ctypes.c_void_p]
    loaded.iso_sample_pair.argtypes = [
        ctypes.c_void_p,
        ctypes.c_long,
        ctypes.c_int,
        ctypes.POINTER(Pair),
    ]
    return loaded


def rounds_of(
    library: ctypes.CDLL, nodes: Sequence[int], pairs: int
) -> list[dict[int, tuple[int, int]]]:
    """Return the pair of each node in each round, as each node computes it."""
    sample = library.iso_sample_create(len(nodes), (ctypes.c_int * len(nodes))(*nodes), pairs)
    rounds = []
    for number in range(library.iso_sample_rounds(sample)):
        found = {}
        for node in range(max(nodes) + 1):
            pair = Pair()
            if library.iso_sample_pair(sample, number, node, ctypes.byref(pair)):
                found[node] = pair.i, pair.j
        rounds.append(found)
    library.iso_sample_free(sample)
    return rounds


def placements() -> st.SearchStrategy[list[int]]:
    """Uneven nodes in any order of ranks, numbered as ranks meet them."""

    def numbered(labels: list[int]) -> list[int]:
        seen: dict[int, int] = {}
        return [seen.setdefault(label, len(seen)) for label in labels]

    return st.lists(st.integers(0, 12), min_size=2, max_size=60).map(numbered)


@settings(deadline=None, max_examples=100)
@given(nodes=placements(), pairs=st.integers(1, 2000))
def test_no_pair_is_measured_twice_and_no_node_has_two_at_once(
    library: ctypes.CDLL, nodes: list[int], pairs: int
) -> None:
    measured: Counter[tuple[int, int]] = Counter()
    for found in rounds_of(library, nodes, pairs):
        for node, (i, j) in found.items():
            assert 0 <= i < j < len(nodes)
            assert node in (nodes[i], nodes[j])
            assert found[nodes[i]] == found[nodes[j]] == (i, j), "both nodes know of it"
        measured.update(set(found.values()))
    assert not measured or max(measured.values()) == 1


@pytest.mark.parametrize(("nodes", "each", "part"), [(64, 4, 0.05), (33, 8, 0.05), (128, 1, 0.2)])
def test_every_node_meets_as_many_others(
    library: ctypes.CDLL, nodes: int, each: int, part: float
) -> None:
    placement = [node for node in range(nodes) for _ in range(each)]
    wanted = int(part * len(placement) * (len(placement) - 1) / 2)
    rounds = rounds_of(library, placement, wanted)
    pairs = set(itertools.chain.from_iterable(found.values() for found in rounds))
    assert wanted * 0.9 <= len(pairs) <= wanted * 1.1 + nodes
    met = Counter(
        node
        for i, j in pairs
        for node in {placement[i], placement[j]}
        if placement[i] != placement[j]
    )
    assert max(met.values()) - min(met.values()) <= 3, (
        "the first and the last have fewer neighbours"
    )
    ranks = Counter(rank for pair in pairs for rank in pair)
    assert len(ranks) == len(placement), "every rank is in a pair"


def test_nodes_meet_those_next_to_them(library: ctypes.CDLL) -> None:
    """Groups of nodes mostly end between two consecutive names."""
    found = rounds_of(library, list(range(64)), 400)
    pairs = {pair for one in found for pair in one.values()}
    assert {(k, k + 1) for k in range(63)} | {(k, k + 2) for k in range(62)} <= pairs
    first = {pair for one in found[:4] for pair in one.values()}
    assert all(j - i <= 2 for i, j in first)


def test_the_whole_map_may_be_asked_for(library: ctypes.CDLL) -> None:
    nodes = [0, 0, 1, 1, 1, 2, 3, 3]
    rounds = rounds_of(library, nodes, 28)
    pairs = {pair for found in rounds for pair in found.values()}
    assert len(pairs) >= 14


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        ("5%", 26189),
        ("100%", 523776),
        ("200000", 200000),
        ("9999999", 523776),
        ("5", 5),
        ("0%", -1),
        ("101%", -1),
        ("-3", -1),
        ("", -1),
        ("many", -1),
        ("5%%", -1),
        ("0.5", -1),
    ],
)
def test_how_many_pairs_a_sample_has(library: ctypes.CDLL, text: str, pairs: int) -> None:
    assert library.iso_sample_pairs(text.encode(), 1024, 256) == pairs


def test_auto_lets_each_node_meet_half_of_the_others(library: ctypes.CDLL) -> None:
    few = library.iso_sample_pairs(b"auto", 64, 64)
    many = library.iso_sample_pairs(b"auto", 4096, 1024)
    assert few >= 64 * 63 / 2
    assert 1024 * 511 / 2 <= many <= 0.1 * 4096 * 4095 / 2
