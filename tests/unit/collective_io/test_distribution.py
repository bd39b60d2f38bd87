"""Who holds and who serves each part of a file, against counting every byte."""

from __future__ import annotations

import numpy as np
import pytest

from isochrone.collective_io.data_distribution import distribution
from isochrone.collective_io.patterns.tiles import tile_io
from isochrone.collective_io.workload.call import Call
from made_up.jobs import block_layout


@pytest.mark.parametrize("driver", ["even", "lustre"])
def test_every_part_is_held_and_served_as_if_each_byte_were_looked_up(driver: str) -> None:
    cores = [3, 1, 2, 2]
    layout = block_layout(cores)
    call = Call(tile_io(4, 2, (5, 3), 2), driver=driver, stripe=7)
    servers = [6, 0, 3, 4]
    owner = np.array(
        [
            (line // 3) * 4 + column // 5
            for line in range(6)
            for column in range(20)
            for _ in range(2)
        ]
    )
    node = layout.of_rank[owner]
    windows = call.windows(len(servers))
    domain = np.zeros(len(owner), dtype=int)
    for number, start, end in zip(windows.domain, windows.start, windows.end, strict=True):
        domain[start:end] = number
    found = distribution(call, layout, servers, 240)
    assert np.array_equal(found.edges, np.arange(241))
    for byte in range(240):
        assert np.array_equal(found.held[:, byte], node[byte] == np.arange(4))
    assert np.array_equal(found.server, layout.of_rank[servers][domain])
    assert found.at_home == pytest.approx(np.mean(node == found.server))


def test_parts_hold_what_their_bytes_hold() -> None:
    """Few parts, of unequal lengths where they must be: the parts of nodes add up to one."""
    call = Call(tile_io(2, 2, (3, 5), 1))
    found = distribution(call, block_layout([1, 1, 2]), [0, 1, 2], 7)
    assert np.diff(found.edges).sum() == 60
    assert found.held.sum(axis=0) == pytest.approx(1)
    assert found.held @ np.diff(found.edges) == pytest.approx([15, 15, 30])
