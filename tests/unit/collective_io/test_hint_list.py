"""Lists of hosts as ROMIO reads them: what can be written, and who serves then."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isochrone.collective_io.orders.setting import VALUE_LIMIT, HintList, listed
from isochrone.collective_io.workload.call import aggregators
from isochrone.collective_io.workload.traffic import layout_of


@given(
    st.lists(st.sampled_from("abcd"), min_size=1, max_size=12),
    st.sampled_from([1, 2, 4, None]),
    st.data(),
)
def test_aggregators_are_those_that_romio_reads_out_of_the_list(
    by_rank: list[str], others: int | None, data: st.DataObject
) -> None:
    layout = layout_of(by_rank)
    hosts, ranks = layout.hosts, layout.ranks
    counts = np.array([data.draw(st.integers(1, int(most))) for most in ranks])
    hints = HintList(layout, counts, others)
    order = data.draw(st.permutations(range(len(hosts))))
    named = np.array(order[: data.draw(st.integers(0, len(hosts)))], np.int64)
    if hints.fits(named):
        found = hints.aggregators(hints.completed(named))
        assert found == aggregators(by_rank, hints.config(named))
    else:
        assert hints.must[np.setdiff1d(np.arange(len(hosts)), named)].any()


@pytest.mark.parametrize(
    ("config", "counts"),
    [
        ("*:2", [2, 2, 1]),
        ("*:*", [4, 2, 1]),
        ("n1,*:1", [1, 1, 1]),
        ("n0:3,*:1", [3, 1, 1]),
        ("n1:2", [1, 1, 1]),
    ],
)
def test_a_list_says_how_many_each_host_has_if_it_is_of_all(config: str, counts: list[int]) -> None:
    layout = layout_of(["n0"] * 4 + ["n1"] * 2 + ["n2"])
    assert listed(layout, config).counts.tolist() == counts


def test_a_hint_names_no_more_hosts_than_fit() -> None:
    names = [f"{k:060d}" for k in range(40)]
    layout = layout_of(names)
    hints = listed(layout)
    order = np.arange(40)
    room = hints.room(order)
    assert hints.fits(order[:room])
    assert not hints.fits(order[: room + 1])
    assert len(hints.config(order[:room])) <= VALUE_LIMIT < len(hints.config(order[: room + 1]))
