"""Maps as figures draw them: ranks of some hosts, or nodes in place of ranks."""

from __future__ import annotations

import numpy as np
import pytest

from isochrone.base.errors import InputError
from isochrone.latency_map.figures import distribution, heatmap, levels, surface
from isochrone.latency_map.map_to_draw import as_drawn
from isochrone.views import Options
from isochrone.views.view import View
from made_up.latency_maps import cyclic, latency_map, with_retests

VIEWS: list[View] = [heatmap.VIEW, surface.VIEW, levels.VIEW, distribution.VIEW]


def test_the_time_of_two_nodes_is_the_median_of_their_ranks() -> None:
    """Also in the order of the hosts, within a node, and with what is slow at its node."""
    hosts = cyclic(6, 4)
    run = with_retests(
        latency_map(hosts, slow_hosts={"n2": 2.0}), [(2, k) for k in (0, 1, 3, 4, 5)], 1.0
    )
    drawn = as_drawn(run, Options(), max_ranks=8)
    ranks, own = run.matrix(), np.array(hosts) == "n2"
    assert drawn.unit == "node"
    assert drawn.run.hosts == [f"n{k}" for k in range(6)]
    for k, host in enumerate(drawn.run.hosts):
        there = np.array(hosts) == host
        assert drawn.matrix[2, k] == pytest.approx(np.nanmedian(ranks[np.ix_(own, there)]))
    assert [(part.kind, part.ranks) for part in drawn.found.slow] == [("node", (2,))]
    assert [level.groups for level in drawn.found.levels] == [
        [[k] for k in range(6)],
        [list(range(6))],
    ]


def test_ranks_of_some_hosts_have_the_times_and_the_numbers_of_the_whole_map() -> None:
    hosts = cyclic(6, 4)
    run = latency_map(hosts, slow_hosts={"n2": 2.0}, slow_ranks={5: 3.0})
    drawn = as_drawn(run, Options(hosts=("n2", "n4")))
    chosen = [rank for rank, host in enumerate(hosts) if host in ("n2", "n4")]
    assert drawn.names(np.arange(8)) == [str(rank) for rank in chosen]
    assert np.array_equal(drawn.matrix, run.matrix()[np.ix_(chosen, chosen)], equal_nan=True)
    assert [part.ranks for part in drawn.found.slow] == [(0, 2, 4, 6)]  # rank 5 is elsewhere


def test_pairs_that_a_sample_left_out_are_estimated_by_the_whole_map() -> None:
    run = latency_map(
        cyclic(6, 4), noise=0.01, missing=lambda i, j: (i + j) % 5 == 2, options={"sample": "80%"}
    )
    for options, most in ((Options(), 8), (Options(hosts=("n0", "n1", "n2")), 99)):
        drawn = as_drawn(run, options, most)
        assert drawn.guessed
        i, j = np.nonzero(np.triu(np.isfinite(drawn.matrix), 1))
        seconds, half = drawn.estimates(i, j)
        assert seconds == pytest.approx(drawn.matrix[i, j], rel=0.05)
        assert (half > 0).all()


@pytest.mark.parametrize("view", VIEWS, ids=["heatmap", "surface", "levels", "distribution"])
def test_every_view_draws_the_ranks_of_some_hosts(view: View) -> None:
    run = latency_map(cyclic(6, 4))
    figure = view.draw([run], Options(hosts=("n1", "n3")))
    assert any("only n1, n3" in text.get_text() for text in figure.texts)
    with pytest.raises(InputError, match="n9"):
        view.draw([run], Options(hosts=("n1", "n9")))
