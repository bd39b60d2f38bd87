"""The order of aggregators: compared with all orders, and with what a hint can hold."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beds.golden import Golden
from isochrone.base.errors import InputError
from isochrone.collective_io.orders import host_costs
from isochrone.collective_io.orders.host_costs import (
    MAX_LIST_HOSTS,
    VALUE_LIMIT,
    Assignment,
    assign,
)
from isochrone.collective_io.orders.setting import (
    HINTS_LIMIT,
    Setting,
    Stripes,
    hints_text,
    listed,
)
from isochrone.collective_io.patterns.tiles import tile_io
from isochrone.collective_io.predict.node_cost import NodeCost, predict
from isochrone.collective_io.workload.call import Call, aggregators
from isochrone.collective_io.workload.traffic import RoundKind, layout_of
from made_up.aggregator_cases import Case, brute_force, cost_of, random_case
from made_up.jobs import UNEVEN, directional, random_job, tachyon


def lines(setting: Setting, *, reading: bool | None = None) -> str:
    """The hints file of a setting."""
    return hints_text(setting.hints(reading=reading))


def cost(
    call: Call,
    by_rank: list[str],
    config: str,
    model: NodeCost,
    kinds: Sequence[RoundKind] | None = None,
) -> float:
    """What ROMIO's reading of a list costs."""
    layout = layout_of(by_rank)
    ranks = aggregators(by_rank, config)
    kinds = kinds or call.round_kinds(len(ranks))
    return predict(kinds, layout, ranks, model).cost


@settings(max_examples=30, deadline=None)
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
    call = Call(
        tile_io(x, len(by_rank) // x, tile=(4, 5), element=1), driver, kind == "read", stripe=11
    )
    model = directional() if both_ways else tachyon()
    layout = layout_of(by_rank)
    found = assign(call.round_kinds(layout.nodes), listed(layout), model)
    config = listed(layout).config(found.order[: found.named])
    assert found.cost == pytest.approx(cost(call, by_rank, config, model))
    assert found.given_cost == pytest.approx(cost(call, by_rank, "*:1", model))
    lists = [",".join(order) for order in permutations(layout.hosts)]
    kinds = call.round_kinds(layout.nodes)
    best = min(cost(call, by_rank, config, model, kinds) for config in lists)
    assert found.lower_bound <= best * (1 + 1e-9)
    assert found.cost <= found.given_cost
    assert found.cost == pytest.approx(best)
    assert found.gap == 0


def test_it_reaches_the_best_order_of_nodes_without_moving_a_rank() -> None:
    for cores in (UNEVEN, (1, 1, 2, 2, 1, 1, 4, 4)):
        by_rank = [f"n{k}" for k, count in enumerate(cores) for _ in range(count)]
        layout = layout_of(by_rank)
        found = assign(Call(tile_io(4, 4)).round_kinds(8), listed(layout), tachyon())
        assert found.cost == pytest.approx(0.030574)
        assert found.given_cost == pytest.approx(0.052138)


def test_a_hint_names_no_more_than_it_must_and_all_others_follow() -> None:
    by_rank = [f"n{k}" for k, count in enumerate(UNEVEN) for _ in range(count)]
    layout = layout_of(by_rank)
    found = assign(Call(tile_io(4, 4)).round_kinds(8), listed(layout), tachyon())
    assert found.named < 8
    config = listed(layout).config(found.order[: found.named])
    assert config.endswith(",*:1")
    first = layout.first
    assert aggregators(by_rank, config) == [int(first[k]) for k in found.order]


@pytest.mark.parametrize("width", [8, 60])
def test_where_the_list_is_too_long_a_shorter_one_helps(width: int) -> None:
    cores, x, y = random_job(200, 16, 32)
    names = [f"{k:0{width}d}" for k in range(200)]
    by_rank = [name for name, count in zip(names, cores, strict=True) for _ in range(count)]
    layout = layout_of(by_rank)
    found = assign(Call(tile_io(x, y)).round_kinds(200), listed(layout), tachyon())
    config = listed(layout).config(found.order[: found.named])
    assert not found.whole
    assert len(config) <= VALUE_LIMIT
    assert found.cost == pytest.approx(cost(Call(tile_io(x, y)), by_rank, config, tachyon()))
    assert found.lower_bound <= found.cost <= found.given_cost
    assert len(lines(Setting(config))) <= HINTS_LIMIT


def test_too_many_hosts_are_refused(golden: Golden) -> None:
    by_rank = [str(k) for k in range(MAX_LIST_HOSTS + 1)]
    layout = layout_of(by_rank)
    call = Call(tile_io(1, len(by_rank)))
    with golden.refusal():
        assign(call.round_kinds(layout.nodes), listed(layout), tachyon())


def test_hints_beyond_what_romio_reads_are_refused() -> None:
    with pytest.raises(InputError, match="4096"):
        lines(Setting("n1," * 4096))


def test_a_hints_file_has_a_line_for_what_is_set_and_none_for_the_rest() -> None:
    assert lines(Setting("n1,*:1", 4)) == "cb_config_list n1,*:1\ncb_nodes 4\n"
    off = Setting(collective=False, nodes=4)
    assert lines(off) == "romio_cb_write disable\nromio_cb_read disable\n"
    assert lines(off, reading=True) == "romio_cb_read disable\n"
    stripes = Setting(buffer=2**20, stripes=Stripes(4, 2**22, 2))
    assert lines(stripes).splitlines() == [
        "cb_config_list *:1",
        "cb_buffer_size 1048576",
        "striping_factor 4",
        "striping_unit 4194304",
        "romio_lustre_co_ratio 2",
    ]


@pytest.mark.few(6)
@pytest.mark.parametrize("seed", range(24))
def test_random_calls_of_all_kinds_get_the_best_order_of_all(seed: int) -> None:
    """Several kinds of rounds were searched as their average: the best order was missed."""
    case = random_case(seed, most=4)
    found = assigned(case)
    layout = layout_of(case.by_rank)
    config = listed(layout).config(found.order[: found.named])
    assert found.cost == pytest.approx(cost_of(case, config))
    best = brute_force(case)
    assert found.cost == pytest.approx(best, rel=1e-6)
    assert found.lower_bound <= best * (1 + 1e-6)


@pytest.mark.parametrize("seed", range(40, 52))
def test_what_is_searched_is_never_called_proven_unless_it_is_the_best(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where there are too many orders to try all; here they are few, so that all can be tried."""
    monkeypatch.setattr(host_costs, "MAX_HOST_ORDERS", 0)
    case = random_case(seed, most=4)
    found, best = assigned(case), brute_force(case)
    assert found.lower_bound <= best * (1 + 1e-6)
    assert found.cost >= best * (1 - 1e-9)
    if found.gap == 0:
        assert found.cost == pytest.approx(best, rel=1e-6)


def assigned(case: Case) -> Assignment:
    """Search the order of a case's aggregators."""
    layout = layout_of(case.by_rank)
    kinds = case.call.round_kinds(min(case.nodes or layout.nodes, layout.nodes))
    return assign(kinds, listed(layout), case.model)
