"""The picture of who holds and who serves a file: readable for few nodes and for many."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from subprocess import CompletedProcess

import numpy as np
import pytest
from matplotlib.patches import Rectangle
from matplotlib.text import Text

from beds.golden import Golden
from isochrone.collective_io import data_distribution as data_distribution
from isochrone.collective_io.data_distribution import Distribution
from isochrone.collective_io.workload.traffic import layout_of
from made_up.jobs import TACHYON, block_layout


def shared(nodes: int) -> Distribution:
    """Each node holds and serves one part of the file; the first two serve each other's."""
    server = np.arange(nodes)
    server[:2] = (1, 0)
    return Distribution(np.arange(nodes + 1), np.eye(nodes), server)


@pytest.mark.few(2)
@pytest.mark.parametrize("nodes", [2, 8, 64, 256])
def test_no_name_touches_the_next_and_the_hot_node_is_marked(nodes: int) -> None:
    cost = np.linspace(1e-3, 2e-3, nodes)
    hosts = [f"node{k}" for k in range(nodes)]
    figure = data_distribution.draw(shared(nodes), layout_of(hosts), cost, 1 << 20)
    figure.canvas.draw()
    picture, bars = figure.axes
    boxes = [label.get_window_extent() for label in picture.get_yticklabels()]
    tops = sorted((box.y0, box.y1) for box in boxes)
    assert all(one[1] <= other[0] + 1 for one, other in pairwise(tops))
    reds = [
        bar for bar in bars.patches if isinstance(bar, Rectangle) and bar.get_facecolor()[0] > 0.7
    ]
    assert len(reds) == 1
    assert reds[0].get_y() == pytest.approx(nodes - 1 - 0.35)
    away = f"{100 * (nodes - 2) / nodes:.0f} % stays on its node"
    assert any(away in text.get_text() for text in figure.findobj(Text))


def test_too_many_nodes_are_one_line(golden: Golden) -> None:
    with golden.refusal():
        data_distribution.draw(shared(300), block_layout([1] * 300), np.ones(300), 1)


def test_the_command_line_draws_it_and_overwrites_nothing(
    isochrone: Callable[..., CompletedProcess[str]], tmp_path: Path
) -> None:
    path = tmp_path / "file.png"
    words = (
        "predict",
        "collective-io",
        "--nodes",
        "4,4,2,2,1,1,1,1",
        "--tiles",
        "4x4",
        "--model",
        TACHYON,
        "--figure",
        path,
    )
    assert isochrone(*words).returncode == 0
    assert path.read_bytes().startswith(b"\x89PNG")
    again = isochrone(*words)
    assert (again.returncode, len(again.stderr.splitlines())) == (2, 1)
    assert "file exists" in again.stderr
    assert isochrone(*words, "--force").returncode == 0
