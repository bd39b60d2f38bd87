"""What a node costs by a model: messages of another size than the model knows are named."""

from __future__ import annotations

import numpy as np
import pytest

from beds.golden import Golden
from isochrone import models
from isochrone.collective_io.patterns.tiles import tile_io
from isochrone.collective_io.predict.node_cost import CallCost, NodeCost, predict
from isochrone.collective_io.workload.call import Call, aggregators
from isochrone.collective_io.workload.traffic import layout_of
from made_up.hotspots import SIZES, by_bytes, sizes
from made_up.jobs import UNEVEN, tachyon


def call(model: NodeCost, rows: int, nodes: int = 8, buffer: int | None = None) -> CallCost:
    """Predict the exchange of 4x4 tiles with rows of 4 KiB."""
    hosts = [f"n{node}" for node, count in enumerate(UNEVEN) for _ in range(count)]
    layout = layout_of(hosts)
    servers = aggregators(hosts, nodes=nodes)
    kinds = Call(tile_io(4, 4, (1024, rows), 4), buffer=buffer).round_kinds(len(servers))
    return predict(kinds, layout, servers, model)


@pytest.mark.parametrize(("rows", "said"), [(64, "128 KiB"), (2048, ""), (4096, "8 MiB")])
def test_a_model_of_one_size_says_so_beyond_a_factor_of_one_and_a_half(
    rows: int, said: str, golden: Golden
) -> None:
    """Half a tile is a message: the paper's model is of 4 MiB."""
    found = [text for text in call(tachyon(), rows).warnings if "average message" in text]
    if said:
        golden(found[0])
        assert (
            f"measure hotspot --bytes {','.join(sorted(('4MiB', said.replace(' ', ''))))}"
            in (found[0])
        )
    else:
        assert not found


def test_a_model_with_bytes_warns_outside_its_sizes_only(golden: Golden) -> None:
    model = NodeCost(models.fit(sizes()))
    assert model.sizes == list(SIZES)
    for rows in (8, 64, 1024, 8192):
        golden(call(model, rows).warnings, f"{rows} rows")


def test_fewer_aggregators_have_larger_messages() -> None:
    """A model that counts messages alone would take half of them to be twice as fast."""
    model = NodeCost(models.fit(sizes()))
    assert call(model, 512, nodes=4).seconds > 0.9 * call(model, 512, nodes=8).seconds
    many, one = call(model, 512, buffer=1 << 18), call(model, 512)
    assert many.rounds == 4 * 4
    assert one.seconds < many.seconds < 1.5 * one.seconds


def test_the_time_of_a_call_is_that_of_the_formula_it_was_made_of() -> None:
    """The hot node has four messages in and eight out, while others are busy, too."""
    found = call(NodeCost(models.fit(sizes(noise=0))), 1024)
    loads = np.maximum(found.counts.into_bytes, found.counts.out_bytes)
    busy = loads.mean() / loads.max()
    hot = found.hot_nodes[0]
    counts = [int(side[hot]) for side in (found.counts.intra, found.counts.into, found.counts.out)]
    assert counts == [0, 4, 8]
    expected = by_bytes(0, 4, 8, 2 << 20, busy)
    assert found.seconds == pytest.approx(expected, rel=0.02)
