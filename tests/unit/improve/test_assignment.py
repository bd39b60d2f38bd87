"""The order of aggregators: compared with all orders, and with what a hint can hold."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isochrone.base.errors import InputError
from isochrone.improve import romio_hints as _romio
from isochrone.improve.assignment import MAX_HOSTS, VALUE_LIMIT, assign, hint
from isochrone.predict.collective_io import predict
from isochrone.predict.node_cost import NodeCost
from isochrone.workloads.call import Call
from isochrone.workloads.cb_config_list import aggregators
from isochrone.workloads.node_messages import layout_of
from isochrone.workloads.patterns.tiles import tile_io
from made_up.jobs import UNEVEN, directional, random_job, tachyon


def cost(call: Call, by_rank: list[str], config: str, model: NodeCost) -> float:
    """What ROMIO's reading of a list costs."""
    layout, hosts = layout_of(by_rank)
    ranks = aggregators(by_rank, config)
    return predict(
        call.round_kinds(len(ranks)), layout, ranks, hosts, model, reading=call.reading
    ).cost


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.sampled_from("abcde"), min_size=2, max_size=12),
    st.sampled_from(["even", "read", "lustre"]),
    st.booleans(),
)
def test_it_is_the_best_of_all_orders_whatever_the_placement(
    by_rank: list[str], kind: str, both_ways: bool
) -> None:
    x = next(n for n in (4, 3, 2, 1) if len(by_rank) % n == 0)
    driver = "lustre" if kind == "lustre" else "even"
    call = Call(tile_io(x, len(by_rank) // x, tile=(4, 5), element=1), driver, kind == "read",
                stripe=11)  # fmt: skip
    model = directional() if both_ways else tachyon()
    layout, hosts = layout_of(by_rank)
    found = assign(call.round_kinds(len(hosts)), layout, hosts, model, reading=call.reading)
    config = hint(hosts, found.order[: found.named])
    assert found.cost == pytest.approx(cost(call, by_rank, config, model))
    assert found.given_cost == pytest.approx(cost(call, by_rank, "*:1", model))
    lists = [",".join(order) for order in permutations(hosts)]
    best = min(cost(call, by_rank, config, model) for config in lists)
    assert found.lower_bound <= best * (1 + 1e-9)
    assert found.cost <= found.given_cost
    if kind != "lustre":
        assert found.cost == pytest.approx(best)
        assert found.gap == 0


def test_it_reaches_the_best_order_of_nodes_without_moving_a_rank() -> None:
    for cores in (UNEVEN, (1, 1, 2, 2, 1, 1, 4, 4)):
        by_rank = [f"n{k}" for k, count in enumerate(cores) for _ in range(count)]
        layout, hosts = layout_of(by_rank)
        found = assign(Call(tile_io(4, 4)).round_kinds(8), layout, hosts, tachyon())
        assert found.cost == pytest.approx(0.030574)
        assert found.given_cost == pytest.approx(0.052138)


def test_a_hint_names_no_more_than_it_must_and_all_others_follow() -> None:
    by_rank = [f"n{k}" for k, count in enumerate(UNEVEN) for _ in range(count)]
    layout, hosts = layout_of(by_rank)
    found = assign(Call(tile_io(4, 4)).round_kinds(8), layout, hosts, tachyon())
    assert found.named < 8
    config = hint(hosts, found.order[: found.named])
    assert config.endswith(",*:1")
    first = layout.first
    assert aggregators(by_rank, config) == [int(first[k]) for k in found.order]


@pytest.mark.parametrize("width", [8, 60])
def test_where_the_list_is_too_long_a_shorter_one_helps(width: int) -> None:
    cores, x, y = random_job(200, 16, 32)
    names = [f"{k:0{width}d}" for k in range(200)]
    by_rank = [name for name, count in zip(names, cores, strict=True) for _ in range(count)]
    layout, hosts = layout_of(by_rank)
    found = assign(Call(tile_io(x, y)).round_kinds(200), layout, hosts, tachyon())
    config = hint(hosts, found.order[: found.named])
    assert not found.whole
    assert len(config) <= VALUE_LIMIT
    assert found.cost == pytest.approx(cost(Call(tile_io(x, y)), by_rank, config, tachyon()))
    assert found.lower_bound <= found.cost <= found.given_cost
    assert len(_romio.text(config)) <= _romio.FILE_LIMIT


def test_too_many_hosts_are_refused() -> None:
    by_rank = [str(k) for k in range(MAX_HOSTS + 1)]
    layout, hosts = layout_of(by_rank)
    call = Call(tile_io(1, len(by_rank)))
    with pytest.raises(InputError, match="too many for a hint"):
        assign(call.round_kinds(len(hosts)), layout, hosts, tachyon())


def test_hints_beyond_what_romio_reads_are_refused() -> None:
    with pytest.raises(InputError, match="4096"):
        _romio.text("*:1", others=[("a", "b" * 4096)])
    assert _romio.text("n1,*:1", 4) == "cb_config_list n1,*:1\ncb_nodes 4\n"
