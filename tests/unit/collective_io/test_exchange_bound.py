"""The lower bound of an exchange: no order of nodes or aggregators is below it."""

from __future__ import annotations

import random
from itertools import permutations

import numpy as np
import pytest

from isochrone.collective_io.patterns.tiles import tile_io
from isochrone.collective_io.predict.best_possible import least_exchange
from isochrone.collective_io.predict.node_cost import predict
from isochrone.collective_io.workload.accesses import made
from isochrone.collective_io.workload.call import Call
from isochrone.collective_io.workload.traffic import layout_of
from made_up.io_machines import MIB, hosts, model_of
from made_up.jobs import UNEVEN, block_layout, directional, tachyon

BYTES = model_of(4e-8, 1e-4)


@pytest.mark.few(2)
@pytest.mark.parametrize("reading", [False, True])
@pytest.mark.parametrize("model", [directional(), tachyon(), BYTES], ids=["max", "sum", "bytes"])
def test_no_order_of_table_ii_is_below_it(model: object, reading: bool) -> None:
    """All 420 orders of the paper's nodes; the best of them is not far above."""
    kinds = Call(tile_io(4, 4), reading=reading).round_kinds(8)
    orders = set(permutations(UNEVEN))
    times = []
    for order in orders:
        layout = block_layout(order)
        servers = np.cumsum((0, *order[:-1]))
        cost = predict(kinds, layout, servers, model)  # type: ignore[arg-type]
        times.append(cost.seconds)
    bound = least_exchange(kinds, block_layout(UNEVEN), model, 1)  # type: ignore[arg-type]
    assert 0.3 * min(times) < bound.seconds <= min(times) * (1 + 1e-9)


@pytest.mark.slow
def test_no_random_order_of_random_accesses_is_below_it(subtests: pytest.Subtests) -> None:
    """Orders of nodes and of aggregators, ranks in turns or in blocks, one or several rounds."""
    for seed in range(40):
        with subtests.test(str(seed)):
            dice = random.Random(seed)
            sizes = [dice.randint(1, 4) for _ in range(dice.randint(2, 6))]
            ranks = sum(sizes)
            rows = [
                (dice.randrange(ranks), dice.randrange(4 * MIB), dice.randint(1, MIB))
                for _ in range(60)
            ]
            pattern = made(*np.array(rows).T, ranks=ranks)
            call = Call(pattern, buffer=dice.choice([None, MIB]), reading=dice.random() < 0.5)
            number = dice.randint(1, ranks)
            kinds = call.round_kinds(number)
            by_rank = hosts(sizes)
            if dice.random() < 0.3:
                dice.shuffle(by_rank)
            bound = least_exchange(kinds, layout_of(by_rank), BYTES)
            for _ in range(30):
                in_blocks = by_rank == sorted(by_rank)
                order = hosts(dice.sample(sizes, len(sizes))) if in_blocks else by_rank
                layout = layout_of(order)
                servers = [dice.randrange(ranks) for _ in range(number)]
                found = predict(kinds, layout, servers, BYTES)
                # the model's own constants: a node may have no messages at all
                assert bound.seconds <= found.seconds * (1 + 1e-9)


def test_a_node_that_can_keep_all_its_data_has_no_bound() -> None:
    """Each node writes what its own ranks have: nothing needs to go between nodes."""
    pattern = made(*np.array([(k, k * MIB, MIB) for k in range(4)]).T, ranks=4)
    bound = least_exchange(Call(pattern).round_kinds(4), block_layout((1, 1, 1, 1)), BYTES)
    assert bound.bytes == 0
