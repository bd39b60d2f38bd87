"""The scheduler's placement is read from the hosts in rank order."""

from __future__ import annotations

import pytest

from isochrone.latency_map.topology import placement_of

CASES = [
    ("aabb", "block", (2, 2)),
    ("aaabcc", "block", (3, 1, 2)),
    ("aaaa", "block", (4,)),
    ("abcd", "block", (1, 1, 1, 1)),
    ("abab", "cyclic", (2, 2)),
    ("abcabac", "irregular", (3, 2, 2)),
    ("abcaba", "cyclic", (3, 2, 1)),
    ("aba", "cyclic", (2, 1)),
    ("abba", "irregular", (2, 2)),
    ("bbaabb", "irregular", (4, 2)),
]


def test_placement(subtests: pytest.Subtests) -> None:
    """Full hosts are passed over; nodes are counted in the order in which ranks meet them."""
    for hosts, kind, ranks_per_node in CASES:
        with subtests.test(str((hosts, kind, ranks_per_node))):
            placement = placement_of(list(hosts))
            assert (placement.kind, placement.ranks_per_node) == (kind, ranks_per_node)
