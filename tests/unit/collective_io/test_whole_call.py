"""Whole collective calls: parts from measured ones, what is not known, what can be gained."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from msgspec.structs import replace

from beds.golden import Golden
from isochrone.collective_io.patterns.tiles import tile_io
from isochrone.collective_io.predict.best_possible import best_possible
from isochrone.collective_io.predict.call_parts import PARTS
from isochrone.collective_io.predict.whole_call import (
    WholeCall,
    collective_features,
    independent_features,
)
from isochrone.collective_io.workload.accesses import made
from isochrone.collective_io.workload.call import Call
from made_up.io_machines import (
    KIB,
    MIB,
    SETTINGS,
    Machine,
    hosts,
    model_of,
    random_call,
    random_machine,
    served,
)

BY_RANK = hosts()
CALL = Call(tile_io(4, 4, (512, 512), 4), buffer=4 * MIB)


def settled(call: Call, setting: tuple[int, int]) -> tuple[Call, list[int]]:
    """A call with this many aggregators and this buffer."""
    return replace(call, buffer=setting[1]), served(BY_RANK, setting[0])


def calibrated(machine: Machine, call: Call, *settings: tuple[int, int]) -> WholeCall:
    rows = [
        machine.measured(one, BY_RANK, ranks) for one, ranks in (settled(call, s) for s in settings)
    ]
    return WholeCall.calibrated(machine.model, rows)


def test_parts_add_up_and_the_measured_setting_comes_back() -> None:
    machine = random_machine(5)
    call, ranks = settled(CALL, (8, 4 * MIB))
    measured = machine.measured(call, BY_RANK, ranks)
    found = WholeCall.calibrated(machine.model, [measured]).predict(call, BY_RANK, ranks)
    assert found.seconds == pytest.approx(measured.seconds, rel=1e-3)
    assert sum(part or 0.0 for part in found.parts.values()) == pytest.approx(found.seconds)
    for name, seconds in measured.parts.items():
        assert found.parts[name] == pytest.approx(seconds, rel=1e-3, abs=1e-3 * measured.seconds)


def test_without_measured_calls_only_the_exchange_is_known() -> None:
    """The rest has no time, the whole no upper end; that much is not pretended."""
    machine = random_machine(5)
    call, ranks = settled(CALL, (8, 4 * MIB))
    found = WholeCall(machine.model).predict(call, BY_RANK, ranks)
    assert found.parts["exchange"] == pytest.approx(found.seconds)
    assert all(found.parts[name] is None for name in PARTS if name != "exchange")
    assert math.isinf(found.high)
    assert not found.known
    assert found.high == math.inf
    assert WholeCall(machine.model).independent(call) is None


def test_parts_that_were_not_seen_are_not_known_but_the_whole_is(golden: Golden) -> None:
    """A library whose inside cannot be seen: the call is predicted as a whole, and says so."""
    machine = random_machine(5)
    call, ranks = settled(CALL, (8, 4 * MIB))
    measured = replace(machine.measured(call, BY_RANK, ranks), parts={})
    found = WholeCall.calibrated(machine.model, [measured]).predict(call, BY_RANK, ranks)
    assert found.parts["exchange"] is None
    assert found.seconds == pytest.approx(measured.seconds)
    golden(found.warnings)


def test_a_read_is_not_predicted_from_writes() -> None:
    machine = random_machine(5)
    whole = calibrated(machine, CALL, (8, 4 * MIB))
    call, ranks = settled(replace(CALL, reading=True), (8, 4 * MIB))
    assert not whole.predict(call, BY_RANK, ranks).known


def test_a_setting_far_from_all_measured_ones_is_said_to_be() -> None:
    whole = calibrated(random_machine(5), CALL, (8, 4 * MIB))
    call, ranks = settled(CALL, (8, 64 * KIB))
    assert any("rounds" in text for text in whole.predict(call, BY_RANK, ranks).warnings)


@pytest.mark.parametrize("each", [0.0, 2e-3])
def test_a_small_call_among_those_measured_corrects_the_exchange_of_small_ones(each: float) -> None:
    """Each round of an exchange costs a constant that large messages hide."""
    model = model_of(1e-9, 1e-5)
    costs = {part: {"bytes": 1e-10} for part in PARTS}
    costs["exchange"] = {"exchange": 1.0, "rounds": each}
    machine = Machine(costs, model, 0.0)
    large, small = (Call(tile_io(4, 4, (side, side), 4)) for side in (1024, 128))
    few, many = (4, 16 * MIB), (8, 16 * MIB)
    wanted, ranks = settled(small, few)
    truth = machine.true_parts(wanted, BY_RANK, ranks)["exchange"]
    measured = [
        machine.measured(call, BY_RANK, served)
        for call, served in (settled(large, few), settled(large, many), settled(small, many))
    ]
    off = []
    for known in (measured[:2], measured):
        found = WholeCall.calibrated(model, known).predict(wanted, BY_RANK, ranks)
        assert found.parts["exchange"] is not None
        off.append(abs(found.parts["exchange"] / truth - 1))
    assert off[1] < 0.2
    assert off[0] > 0.4 or not each


def test_without_a_model_the_hot_spot_scales_what_was_measured() -> None:
    """All other things being equal, twice the bytes at the hot spot take up to twice as long."""
    machine = random_machine(7)
    call, ranks = settled(CALL, (8, 16 * MIB))
    whole = WholeCall.calibrated(None, [machine.measured(call, BY_RANK, ranks)])
    good = [0, 12, 4, 13, 8, 14, 10, 15]
    given, better = (whole.predict(call, BY_RANK, order) for order in (ranks, good))
    assert given.parts["exchange"] is not None
    assert better.parts["exchange"] is not None
    assert better.parts["exchange"] < 0.85 * given.parts["exchange"]


@pytest.fixture(scope="module", params=[1, 3])
def trials(request: pytest.FixtureRequest) -> dict[str, float]:
    """Sixteen random machines: from 1 or 3 measured settings, six others are predicted."""
    number, signs, covered, off = request.param, [], [], []
    for seed in range(16):
        machine, call = random_machine(seed), random_call(seed)
        draws = np.random.default_rng(1000 + seed).choice(len(SETTINGS), number + 6, replace=False)
        picked = [SETTINGS[k] for k in draws]
        whole = calibrated(machine, call, *picked[:number])
        pairs = []
        for setting in picked:
            one, ranks = settled(call, setting)
            said = whole.predict(one, BY_RANK, ranks)
            pairs.append((machine.true(one, BY_RANK, ranks), said.seconds))
            if setting not in picked[:number]:
                again = machine.measured(one, BY_RANK, ranks).seconds
                covered.append(said.low <= again <= said.high)
                off.append(abs(said.seconds / again - 1))
        signs += [
            (a[0] - b[0]) * (a[1] - b[1]) > 0
            for a, b in combinations(pairs, 2)
            if max(a[0], b[0]) > 1.1 * min(a[0], b[0])
        ]
    return {
        "settings": number,
        "signs": float(np.mean(signs)),
        "covered": float(np.mean(covered)),
        "off": float(np.median(off)),
    }


def test_on_random_machines_decisions_are_right(trials: dict[str, float]) -> None:
    """Which of two settings is faster, where they differ by 10 %."""
    assert trials["signs"] > {1: 0.93, 3: 0.98}[int(trials["settings"])]


def test_on_random_machines_intervals_hold(trials: dict[str, float]) -> None:
    assert trials["covered"] > {1: 0.8, 3: 0.9}[int(trials["settings"])]
    assert trials["off"] < {1: 0.2, 3: 0.1}[int(trials["settings"])]


# --- what can be gained ---------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
def test_no_setting_gains_more_than_the_best_possible(seed: int) -> None:
    """Random aggregators in any number, any buffer: the true time is not below the limit.

    Its parts are predicted from three settings; the limit is off by as much as they are.
    """
    machine, call = random_machine(seed), replace(random_call(seed), buffer=MIB)
    ranks = served(BY_RANK, 8)
    whole = calibrated(machine, call, (8, MIB), (2, 16 * MIB), (4, 512 * KIB))
    best = best_possible(whole, call, BY_RANK, ranks)
    draws = np.random.default_rng(seed)
    for _ in range(20):
        other = draws.choice(16, draws.integers(1, 17), replace=False).tolist()
        setting = replace(call, buffer=SETTINGS[draws.integers(len(SETTINGS))][1])
        assert machine.true(setting, BY_RANK, other) > 0.8 * best.seconds
    for _ in range(20):
        order = [int(node[draws.integers(len(node))]) for node in _nodes()]
        draws.shuffle(order)
        assert machine.true(call, BY_RANK, order) > 0.85 * best.by_order


def _nodes() -> list[np.ndarray]:
    names = np.array(BY_RANK)
    return [np.flatnonzero(names == name) for name in dict.fromkeys(BY_RANK)]


def test_the_best_possible_gain_says_what_no_order_changes(golden: Golden) -> None:
    machine = random_machine(5)
    whole = calibrated(machine, CALL, (8, 4 * MIB))
    best = best_possible(whole, CALL, BY_RANK, served(BY_RANK, 8))
    golden(best.why[0])
    assert best.gain >= best.order_gain >= 1


def test_on_a_single_node_no_order_gains_anything() -> None:
    """All messages are within it, whichever ranks serve; the bound knows no such messages."""
    machine, by_rank = random_machine(5), ["n0"] * len(BY_RANK)
    row = machine.measured(CALL, by_rank, [0, 1, 2, 3])
    whole = WholeCall.calibrated(machine.model, [row])
    best = best_possible(whole, CALL, by_rank, [0, 1, 2, 3])
    assert best.by_order == pytest.approx(best.now)
    assert best.order_gain == pytest.approx(1)


def test_collective_buffering_that_costs_is_to_be_switched_off(golden: Golden) -> None:
    """Each rank has one piece of its own: written alone it takes a fraction of the time."""
    machine = random_machine(5)
    call, ranks = settled(CALL, (8, 4 * MIB))
    given = machine.measured(call, BY_RANK, ranks)
    alone = replace(given, aggregators=[], parts={}, seconds=0.5 * given.seconds)
    whole = WholeCall.calibrated(machine.model, [given, alone])
    best = best_possible(whole, call, BY_RANK, ranks)
    assert best.independent == pytest.approx(0.5 * given.seconds)
    golden(best.why)
    slower = replace(alone, seconds=2 * given.seconds)
    whole = WholeCall.calibrated(machine.model, [given, slower])
    assert any("is faster" in text for text in best_possible(whole, call, BY_RANK, ranks).why)


def test_what_was_not_measured_alone_is_to_be_measured(golden: Golden) -> None:
    whole = calibrated(random_machine(5), CALL, (8, 4 * MIB))
    best = best_possible(whole, CALL, BY_RANK, served(BY_RANK, 8))
    assert best.independent is None
    golden(best.why)


# --- quantities -----------------------------------------------------------------------------------


def test_quantities_of_a_call_are_those_counted_by_hand() -> None:
    """4 x 4 tiles of 4 x 4 bytes, two aggregators with buffers of 64 bytes: two rounds."""
    call = Call(tile_io(4, 4, (4, 4), 1), buffer=64)
    found = collective_features(call, hosts((8, 8)), [0, 8], None)
    assert found.values["rounds"] == 2
    values = found.values
    assert values["calls"] == 3
    assert values["bytes"] == 256
    assert values["busiest"] == 128  # half of the file, 64 bytes in each round
    assert values["pieces"] == 4  # a row of a tile is contiguous
    assert values["hot_bytes"] == 0  # each node writes what its own ranks have


def test_a_rank_with_one_piece_writes_it_at_once() -> None:
    """Without holes there is nothing to read back and nothing to lock."""
    pattern = made(*np.array([(k, k * MIB, MIB) for k in range(4)]).T, ranks=4)
    values = independent_features(Call(pattern))
    assert values["own_accesses"] == 1
    assert values["moved"] == 4 * MIB


def test_pieces_with_holes_are_read_and_written_through_a_buffer() -> None:
    """Data sieving: 1 KiB in each 4 KiB of 2 MiB is 4 buffers of 512 KiB, read and written."""
    rows = [(k, k * KIB, KIB, 512, 4 * KIB) for k in range(4)]
    pattern = made(*np.array(rows).T, ranks=4)
    written, read = (independent_features(Call(pattern, reading=way)) for way in (False, True))
    assert written["own_accesses"] == 8
    assert written["own_bytes"] == 4 * MIB
    assert read["own_accesses"] == 1  # 4 MiB at once, and nothing is written back
