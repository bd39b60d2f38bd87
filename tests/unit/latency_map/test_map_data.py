"""What the script of a page knows of a map: all that it needs, and nothing unsafe."""

from __future__ import annotations

import base64
import zlib
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from isochrone.latency_map import map_data as module
from isochrone.pages.html.packed import ESTIMATED, codes
from isochrone.pages.page import LiveMap
from isochrone.runfile.run import Run
from made_up.latency_maps import block, cyclic, latency_map
from rendered import blocks


def data_of(run: Run) -> dict[str, Any]:
    (live,) = blocks(run, LiveMap)
    found = live.data("a map")
    assert found is not None
    return found


def columns(data: dict[str, Any]) -> list[NDArray[np.int64]]:
    plain = np.frombuffer(zlib.decompress(base64.b64decode(data["packed"])), np.uint8)
    planes = plain.reshape(2 * data["columns"], -1).astype(np.int64)
    return [planes[2 * k] + 256 * planes[2 * k + 1] for k in range(data["columns"])]


def test_every_pair_has_its_time_and_interval() -> None:
    run = latency_map(block(4, 3), missing=lambda i, j: (i, j) == (2, 7))
    middle, below, above = columns(data_of(run))
    upper = np.triu_indices(12)
    assert np.array_equal(middle, codes(run.matrix()[upper]))
    known = middle > 0
    assert known.sum() == 65
    assert np.array_equal((middle - below)[known], codes(run.matrix("low")[upper])[known])
    assert np.array_equal((middle + above)[known], codes(run.matrix("high")[upper])[known])


def test_levels_and_slow_parts_are_those_of_the_analysis() -> None:
    data = data_of(latency_map(cyclic(4, 4), slow_hosts={"n2": 2.5}))
    assert data["hosts"] == ["n0", "n1", "n2", "n3"]
    assert data["host"] == [0, 1, 2, 3] * 4
    assert [level["name"] for level in data["levels"]] == ["node", "network"]
    assert data["levels"][0]["groups"] == [0, 1, 2, 3] * 4
    assert [(part["label"].split()[0], part["ranks"], part["sure"]) for part in data["slow"]] == [
        ("node", [2, 6, 10, 14], False)
    ]


def test_two_ranks_are_nothing_to_look_into() -> None:
    (live,) = blocks(latency_map(block(2, 1)), LiveMap)
    assert live.data("") is None


def test_intervals_and_then_ranks_are_left_out_where_there_is_no_room(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A page stays small: first the times go without intervals, then only nodes are left."""
    run = latency_map(block(4, 8), noise=0.3)
    whole = data_of(run)
    monkeypatch.setattr(module, "MAX_TEXT", len(whole["packed"]) - 1)
    without = data_of(run)
    assert (without["unit"], without["columns"]) == ("rank", 1)
    assert np.array_equal(columns(without)[0], columns(whole)[0])
    monkeypatch.setattr(module, "MAX_TEXT", len(without["packed"]) - 1)
    assert data_of(run)["unit"] == "node"


@pytest.mark.parametrize("hosts", [block(4, 8), cyclic(5, 3), [*block(3, 4), "n0", "n9"]])
def test_the_time_of_two_nodes_is_the_median_of_their_pairs(
    hosts: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also within a node, of nodes of several sizes, and where pairs are missing."""
    monkeypatch.setattr(module, "MAX_UNITS", len(hosts) - 1)
    run = latency_map(hosts, noise=0.3, missing=lambda i, j: j == 5)
    data = data_of(run)
    assert data["unit"] == "node"
    names, matrix = list(dict.fromkeys(hosts)), np.triu(run.matrix(), 1)
    expected = []
    for a, b in zip(*np.triu_indices(len(names)), strict=True):
        here = np.array([host == names[a] for host in hosts])
        there = np.array([host == names[b] for host in hosts])
        both = np.outer(here, there) | np.outer(there, here)
        times = matrix[both & (matrix > 0)]
        ends = (np.median(times), times.min(), times.max()) if times.size else (0, 0, 0)
        expected.append(codes(np.array(ends)).astype(int))
    middle, below, above = columns(data)
    assert np.array_equal(np.column_stack([middle, middle - below, middle + above]), expected)


def test_nothing_is_known_of_many_ranks_without_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_UNITS", 7)
    for hosts in (block(8, 1), [""] * 8):
        (live,) = blocks(latency_map(hosts), LiveMap)
        assert live.data("") is None


def test_names_from_a_file_are_on_one_line_and_short() -> None:
    data = data_of(latency_map([f"a\n\x1b[31m{k}\u202e{'x' * 900}" for k in range(4)]))
    for name in [*data["hosts"], *data["labels"]]:
        assert name.isprintable()
        assert len(name) <= 200


def test_pairs_that_a_sample_left_out_are_marked_as_estimated() -> None:
    """Their times are near those of their level, with an interval; measured ones are unchanged."""
    run = latency_map(
        cyclic(6, 4), noise=0.01, missing=lambda i, j: (i + j) % 5 == 2, options={"sample": "80%"}
    )
    middle, below, above = columns(data_of(run))
    i, j = np.triu_indices(24)
    unknown = (i < j) & ((i + j) % 5 == 2)
    assert np.array_equal(middle >= ESTIMATED, unknown)
    assert np.array_equal(middle[~unknown], codes(run.matrix()[i, j])[~unknown])
    near = np.array(run.hosts)[i] == np.array(run.hosts)[j]
    expected = codes(np.where(near, 1.2e-6, 9.8e-6))[unknown].astype(int)
    assert np.abs(middle[unknown] - ESTIMATED - expected).max() < 60
    assert (below[unknown] > 0).all()
    assert (above[unknown] > 0).all()
