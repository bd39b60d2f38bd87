"""Order, number and buffers chosen together: against all lists where they are few, and limits."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest
from msgspec.structs import replace

from isochrone import models
from isochrone.base.errors import InputError
from isochrone.collective_io.orders import collective_choice
from isochrone.collective_io.orders.setting import (
    BUFFER,
    EQUAL_SETTINGS,
    GIVEN,
    Choice,
    Setting,
    SettingCosts,
    Stripes,
)
from isochrone.collective_io.patterns.tiles import tile_io
from isochrone.collective_io.predict.call_parts import PARTS, PartTimes
from isochrone.collective_io.predict.node_cost import NodeCost
from isochrone.collective_io.predict.whole_call import WholeCall, WholeCost
from isochrone.collective_io.workload.call import Call, aggregators
from made_up.arrays import rows
from made_up.jobs import UNEVEN, tachyon

MIB = 2**20
HOSTS = [f"n{k}" for k, count in enumerate(UNEVEN) for _ in range(count)]


def of_bytes(message: float = 2e-4, fixed: float = 1e-3) -> NodeCost:
    """A full-duplex network of 22 MB/s: bytes, and something for each message and round."""
    terms = ["ba", "max(bi,bo)", "min(bi,bo)", "pe", "1"]
    costs = [3e-10, 4.5e-8, 2e-9, message, fixed]
    return NodeCost(models.Model([models.Segment("hotspot-bytes", terms, costs)]))


def tiles(**call: object) -> Call:
    return Call(tile_io(4, 4, (256, 256), 16), **call)  # type: ignore[arg-type]


def choices(
    call: Call,
    by_rank: list[str],
    model: NodeCost,
    whole: WholeCall | None = None,
    given_setting: Setting = GIVEN,
) -> list[Choice]:
    """Compare the settings of a call."""
    return collective_choice.choices(
        SettingCosts(call, by_rank, model, whole), given_setting=given_setting
    )


class Alone(WholeCall):
    """A whole call whose parts are all known; without aggregators it takes ``seconds``."""

    seconds: float = 0.0

    def predict(self, call: Call, by_rank, served) -> WholeCost:  # type: ignore[no-untyped-def]
        exchange = SettingCosts(call, by_rank, of_bytes()).of(Setting(), list(served))
        assert exchange is not None
        part = exchange.seconds
        return WholeCost(
            dict(zip(PARTS, (0.1, 0.1, part, 0.2, 0.0), strict=True)),
            0.4 + part,
            0.4,
            0.5 + part,
            1,
            [],
        )

    def independent(self, call: Call) -> WholeCost | None:
        if not self.seconds:
            return None
        return WholeCost({**dict.fromkeys(PARTS), "file": self.seconds}, self.seconds, 0, 1, 0, [])


@pytest.mark.few(1)
@pytest.mark.parametrize("seed", range(4))
def test_no_list_number_or_buffer_is_better_than_what_is_chosen(seed: int) -> None:
    """All orders of all hosts, 1, 2 or 4 of each, any number, three buffers."""
    dice = np.random.default_rng(seed)
    cores = dice.integers(1, 4, 3)
    by_rank = [f"n{k}" for k, count in enumerate(cores) for _ in range(count)]
    ranks = len(by_rank)
    x = next(n for n in (3, 2, 1) if ranks % n == 0)
    call = Call(tile_io(x, ranks // x, (512, 512), 8), reading=bool(seed % 2), buffer=4 * MIB)
    model = of_bytes(message=float(dice.choice([1e-5, 2e-2])))
    found = choices(call, by_rank, model)
    costs = SettingCosts(call, by_rank, model)
    best = np.inf
    lists = [
        order for n in ("", ":2", ":4") for order in permutations([f"n{k}{n}" for k in range(3)])
    ]
    for order, number, buffer in product(lists, range(1, ranks + 1), (MIB, 4 * MIB, 16 * MIB)):
        setting = Setting(",".join(order), number, buffer)
        cost = costs.of(setting)
        assert cost is not None
        best = min(best, cost.seconds)
    assert found[0].seconds <= best * (1 + EQUAL_SETTINGS) * (1 + 1e-9)


def test_what_is_said_of_a_setting_is_what_romio_makes_of_its_hints() -> None:
    call = tiles()
    found = choices(call, HOSTS, of_bytes())
    assert [c.setting for c in found if c.lever == "given"] == [Setting()]
    costs = SettingCosts(replace(call, buffer=BUFFER), HOSTS, of_bytes())
    for choice in found:
        assert choice.aggregators == aggregators(HOSTS, choice.setting.config, choice.setting.nodes)
        again = costs.of(choice.setting)
        assert again is not None
        assert choice.seconds == pytest.approx(again.seconds)
        assert choice.lower_bound <= choice.seconds
    given = next(c for c in found if c.lever == "given")
    assert found[0].seconds <= given.seconds == found[0].given_seconds


def test_a_model_of_one_size_chooses_the_order_alone() -> None:
    """It would take half as many messages, twice as large, for half the time."""
    found = choices(tiles(), HOSTS, tachyon())
    assert {choice.lever for choice in found} == {"order", "given"}
    assert {(c.setting.nodes, c.setting.buffer) for c in found} == {(None, None)}
    assert found[0].seconds == pytest.approx(0.030574)


def test_with_bytes_half_as_many_aggregators_do_not_halve_the_time() -> None:
    """Messages get larger as they get fewer; counted alone, they were predicted at half."""
    costs = SettingCosts(tiles(), HOSTS, of_bytes())
    eight, four = (costs.of(Setting(nodes=number)) for number in (8, 4))
    assert eight is not None
    assert four is not None
    assert four.seconds > 0.9 * eight.seconds


def test_small_buffers_cost_rounds_and_larger_ones_are_proposed() -> None:
    given = Setting(buffer=64 * 1024)
    found = choices(tiles(buffer=64 * 1024), HOSTS, of_bytes(fixed=0.05), given_setting=given)
    larger = next(choice for choice in found if choice.lever == "buffer")
    assert larger.setting.buffer is not None
    assert larger.setting.buffer >= MIB
    assert larger.gain > 2
    assert found[0].setting.buffer is not None


def test_memory_is_that_of_the_host_with_most_aggregators() -> None:
    costs = SettingCosts(tiles(), HOSTS, of_bytes())
    setting = Setting("*:2", buffer=4 * MIB)
    assert costs.memory(setting, aggregators(HOSTS, "*:2")) == 8 * MIB
    assert costs.memory(Setting(collective=False), []) == 0


@pytest.mark.slow
def test_collective_buffering_is_switched_off_where_that_is_faster_and_known() -> None:
    model, times = of_bytes(), PartTimes()
    cheap = choices(tiles(), HOSTS, model, Alone(model, times, 0.05))
    assert cheap[0].setting.collective is False
    assert (cheap[0].aggregators, cheap[0].lever) == ([], "switch")
    dear = choices(tiles(), HOSTS, model, Alone(model, times, 50.0))
    assert dear[0].setting.collective is None
    unknown = choices(tiles(), HOSTS, model, Alone(model, times))
    assert "switch" not in {choice.lever for choice in unknown}


@pytest.mark.slow
def test_where_nothing_is_exchanged_as_it_is_the_hints_say_so() -> None:
    """Rows of a matrix do not interleave: ROMIO exchanges nothing unless told to."""
    model, pattern = of_bytes(), rows(16, 256, 256)
    slow = choices(Call(pattern), HOSTS, model, Alone(model, PartTimes(), 50.0))
    assert slow[0].setting.collective is True
    assert slow[0].given_seconds == 50.0
    fast = choices(Call(pattern), HOSTS, model, Alone(model, PartTimes(), 0.01))
    assert fast[0].lever == "given"
    unknown = choices(Call(pattern), HOSTS, model)
    assert {choice.setting.collective for choice in unknown} == {None}


def test_the_bound_of_a_whole_call_is_of_its_exchange() -> None:
    model = of_bytes()
    found = choices(tiles(), HOSTS, model, Alone(model, PartTimes()))
    order = next(choice for choice in found if choice.lever == "order")
    assert order.parts is not None
    assert order.gap == 0
    assert order.seconds == pytest.approx(0.4 + order.parts.parts["exchange"])  # type: ignore[operator]


def test_stripes_are_chosen_for_writes_on_lustre_and_never_fewer() -> None:
    call = tiles(driver="lustre", targets=4)
    found = choices(call, HOSTS, of_bytes(fixed=0.01))
    chosen = [c.setting.stripes for c in found if c.setting.stripes is not None]
    assert chosen
    assert min(stripes.count for stripes in chosen) >= 4
    assert all(choice.setting.buffer is None for choice in found)
    given = next(choice for choice in found if choice.lever == "given")
    assert found[0].seconds < given.seconds
    assert Setting(stripes=Stripes(8, MIB, 2)).of(call).targets == 8
    reads = choices(replace(call, reading=True), HOSTS, of_bytes())
    assert all(choice.setting.stripes is None for choice in reads)


def test_of_ompio_only_the_number_is_chosen() -> None:
    call = tiles(driver="ompio")
    found = choices(call, HOSTS, of_bytes())
    assert {choice.lever for choice in found} == {"given", "number"}
    given = next(choice for choice in found if choice.lever == "given")
    assert given.aggregators == call.of_ompio() == [0, 4, 8, 12]
    for choice in found:
        assert choice.setting == Setting(nodes=choice.setting.nodes)
    with pytest.raises(InputError, match="several"):
        choices(call, HOSTS, tachyon())


@pytest.mark.parametrize(("number", "first"), [(4, [0, 4, 8, 12]), (3, [0, 6, 11]), (1, [0])])
def test_ompio_takes_the_first_rank_of_equal_blocks(number: int, first: list[int]) -> None:
    assert Call(tile_io(4, 4)).of_ompio(number) == first


def test_the_given_list_stays_where_nothing_is_better() -> None:
    best = choices(tiles(), HOSTS, tachyon())[0]
    again = choices(tiles(), HOSTS, tachyon(), given_setting=best.setting)
    assert again[0].setting == best.setting
    assert again[0].lever == "given"
