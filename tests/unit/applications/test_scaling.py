"""From traces on 4, 8 and 16 ranks to a description of any number, and to its time on many."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from isochrone.applications.description.actions import Action, actions
from isochrone.applications.description.lowering import program
from isochrone.applications.description.program import Program
from isochrone.applications.description.reading import parse
from isochrone.applications.predict.applications import predict
from isochrone.applications.predict.needed import MODES, sweeps
from isochrone.applications.predict.scaling import scale
from isochrone.applications.traces.gaps import computation
from isochrone.applications.traces.generalizing import DOUBTFUL, LITTLE, analysed, generalized
from isochrone.applications.traces.growth import growth, whole
from isochrone.applications.traces.places import flat
from isochrone.applications.traces.trace import Event, Trace
from isochrone.base.errors import InputError
from made_up.applications import collectives, messages
from made_up.programs_run import Seen

Phases = list[dict[str, Any]]

STENCIL: Phases = [
    {"bcast": {"bytes": 4096}},
    {"repeat": {"times": 12, "phases": [
        {"repeat": {"times": 5, "phases": [
            {"compute": "8ms/p"},
            {"exchange": {"topology": {"offsets": {"dimensions": 3, "list": [
                {"to": [sign if k == axis else 0 for k in range(3)],
                 "bytes": f"round(115200*side(p, 3, {axis})/p)"}
                for axis in range(3) for sign in (1, -1)]}}}}]}},
        {"allreduce": {"bytes": 8}}]}},
]  # fmt: skip

WAVEFRONT: Phases = [
    {"repeat": {"times": 10, "phases": [
        {"repeat": {"times": 4, "phases": [{"exchange": {
            "topology": {"offsets": {"dimensions": 2, "list": [
                {"to": [step, 0], "bytes": "round(11520/side(p, 2, 1))"},
                {"to": [0, step], "bytes": "round(11520/side(p, 2, 0))"}]}},
            "flow": "stream", "compute": "4ms/p"}}]}}
        for step in (1, -1)]}},
    {"allreduce": {"bytes": 8}},
]  # fmt: skip

TRANSPOSE: Phases = [
    {"repeat": {"times": 20, "phases": [
        {"compute": "16ms/p"},
        {"alltoall": {"bytes": "2**20/p/side(p, 2, 1)",
                      "among": {"size": "side(p, 2, 1)", "stride": 1}}},
        {"alltoall": {"bytes": "2**20/p/side(p, 2, 0)",
                      "among": {"size": "side(p, 2, 0)", "stride": "side(p, 2, 1)"}}}]}},
    {"barrier": {}},
]  # fmt: skip

STYLES = {"stencil": STENCIL, "wavefront": WAVEFRONT, "transpose": TRANSPOSE}


def made(phases: Phases, ranks: int) -> Program:
    app = {"name": "x", "ranks": ranks, "iterations": 1, "phases": phases}
    return program(parse({"isochrone": "app/1", "apps": [app]}, "test"))


def seen(phases: Phases, ranks: int) -> Trace:
    return Seen(made(phases, ranks)).trace()


def done(what: Program, rank: int) -> list[Action]:
    return list(actions(what).of(rank))


def summed(found: list[Action]) -> Counter[tuple[str, int, tuple[int, ...]]]:
    """Return the bytes of each operation with each partner."""
    sums: Counter[tuple[str, int, tuple[int, ...]]] = Counter()
    for action in found:
        if action.op not in ("compute", "wait"):
            sums[action.op[action.op.startswith("i") :], action.peer, action.members] += round(
                action.amount
            )
    return sums


@pytest.mark.parametrize("name", STYLES)
def test_a_program_comes_back_on_a_number_of_ranks_nobody_saw(name: str) -> None:
    """On 64 ranks, from 4, 8 and 16: the same messages, groups and computation of each rank."""
    phases = STYLES[name]
    structures = [analysed(seen(phases, ranks)) for ranks in (4, 8, 16)]
    general = generalized(structures, "x")
    found = program(parse(general.document, "test", {"p": "64"}))
    expected = made(phases, 64)
    for rank in (0, 5, 37, 63):
        mine, theirs = summed(done(found, rank)), summed(done(expected, rank))
        assert mine.keys() == theirs.keys()
        assert all(mine[key] == pytest.approx(theirs[key], rel=0.01, abs=8) for key in theirs)
        times = [sum(a.amount for a in done(what, rank) if a.op == "compute")
                 for what in (found, expected)]  # fmt: skip
        assert times[0] == pytest.approx(times[1], rel=0.03)


def test_what_differs_in_structure_is_refused_by_its_position() -> None:
    """And so are partners that follow no rule."""
    loop = {"repeat": {"times": 20, "phases": [{"compute": "1ms"}, {"allreduce": {"bytes": 8}}]}}
    other = {"repeat": {"times": 20, "phases": [{"compute": "1ms"}, {"barrier": {}}]}}
    with pytest.raises(InputError, match=r"position 1\.1.*allreduce at 4.*barrier at 8"):
        generalized([analysed(seen([loop, {"bcast": {"bytes": 8}}], 4)),
                     analysed(seen([other, {"bcast": {"bytes": 8}}], 8))], "x")  # fmt: skip
    pairs = [{"exchange": {"topology": {"edges": edges}, "flow": "stream", "bytes": 64}}
             for edges in ([[0, 3], [1, 2]], [[0, 5], [6, 1], [2, 7]])]  # fmt: skip
    with pytest.raises(InputError, match="position 1"):
        generalized([analysed(seen([one], 4 + 4 * k)) for k, one in enumerate(pairs)], "x")


def test_a_broadcast_again_and_again_in_a_pipeline_is_doubtful() -> None:
    """It was predicted up to 7 % too short; one before the pipeline is not."""
    front = {"exchange": {"topology": "pipeline", "bytes": 4096, "compute": "1ms/p"}}
    again = {"repeat": {"times": 4, "phases": [front]}}
    inside = [{"repeat": {"times": 10, "phases": [{"bcast": {"bytes": 8192}}, again]}}]
    before = [{"bcast": {"bytes": 8192}}, again]
    for phases, warnings in ((inside, 1), (before, 0)):
        found = generalized([analysed(seen(phases, ranks)) for ranks in (4, 8)], "x")
        assert len(found.warnings) == warnings


NINE_POINTS: Phases = [{"repeat": {"times": 10, "phases": [{"exchange": {"topology": {"offsets": {
    "dimensions": 2, "periodic": True, "list": [
        {"to": [a, b], "bytes": 512 if a * b else 4096}
        for a in (-1, 0, 1) for b in (-1, 0, 1) if a or b]}}}}]}}]  # fmt: skip

BUTTERFLY: Phases = [{"repeat": {"times": 10, "phases": [
    {"compute": "8ms/p"}, {"exchange": {"topology": "butterfly", "bytes": 4096}},
    {"allreduce": {"bytes": 8}}]}}]  # fmt: skip


@pytest.mark.parametrize("phases", [NINE_POINTS, BUTTERFLY])
def test_neighbours_at_corners_and_along_bits_come_back(phases: Phases) -> None:
    """Of two sides of two ranks, four messages go to the same rank; bits are as many as p has."""
    general = generalized([analysed(seen(phases, ranks)) for ranks in (4, 8, 16)], "x")
    found = program(parse(general.document, "test", {"p": "64"}))
    expected = made(phases, 64)
    for rank in (0, 37):
        assert summed(done(found, rank)) == summed(done(expected, rank))
        times = [sum(a.amount for a in done(what, rank) if a.op == "compute")
                 for what in (found, expected)]  # fmt: skip
        assert times[0] == pytest.approx(times[1], rel=0.05, abs=1e-4)


def noisy(ranks: int, seconds: float, dice: np.random.Generator, *, common: bool) -> Trace:
    """Return 40 steps of computation that varies by 20 %, of each rank or of all in common."""
    each = seconds * dice.lognormal(-0.02, 0.2, (1 if common else ranks, 40))
    of_ranks = np.broadcast_to(each, (ranks, 40))
    return Trace(
        [[Event("allreduce", bytes=8, gap=float(one)) for one in row] for row in of_ranks],
        [tuple(range(ranks))],
    )


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("common", [False, True])
def test_noise_is_no_reason_for_another_function(seed: int, common: bool) -> None:
    """Computation is divided by p; what remains is the error of a mean of 40."""
    dice = np.random.default_rng(seed)
    traces = [noisy(p, 16e-3 / p, dice, common=common) for p in (4, 8, 16)]
    general = generalized([analysed(one) for one in traces], "x")
    found = program(parse(general.document, "test", {"p": "64"}))
    total = sum(action.amount for action in done(found, 5) if action.op == "compute")
    assert total == pytest.approx(40 * 16e-3 / 64, rel=0.15)
    assert ("lognormal" in str(general.document)) != common


def test_the_description_predicts_what_scale_does() -> None:
    """Its time and its interval: what extrapolation adds is in the description."""
    traces = [seen(STENCIL, ranks) for ranks in (4, 8)]
    known = [messages(), collectives(bcast=(1e-6, 1e-6), allreduce=(1e-6, 1e-6))]
    found = scale(traces, [16], known)
    described = program(parse(found.described, "test", {"p": "16"}))
    (again,) = predict(described, known)
    (one,) = found.predictions
    assert (again.seconds, again.low, again.high) == (one.seconds, one.low, one.high)
    assert described.applications[0].uncertainty == pytest.approx(DOUBTFUL, rel=0.1)
    assert one.high - one.seconds > 0.19 * one.seconds


def test_sizes_that_follow_no_function_are_refused() -> None:
    traces = [
        Trace([[Event("allreduce", bytes=size, gap=1e-3)] * 20] * ranks, [tuple(range(ranks))])
        for ranks, size in ((4, 800.0), (8, 90.0), (16, 7000.0))
    ]
    with pytest.raises(InputError, match="position 1"):
        generalized([analysed(one) for one in traces], "x")


def test_the_largest_trace_is_held_out_and_its_error_widens_the_interval() -> None:
    """Computation that stops to shrink is worse from 4 and 8 ranks than from all three."""

    def of(floor: str, ranks: int) -> Trace:
        return seen([{"repeat": {"times": 30, "phases": [
            {"compute": f"max(16ms/p, {floor})"}, {"exchange": {"topology": {"offsets": {
                "dimensions": 1, "list": [{"to": [1], "bytes": 0}]}}}}]}}], ranks)  # fmt: skip

    good = scale([of("0s", ranks) for ranks in (4, 8, 16)], [32], [messages()])
    bad = scale([of("1.2ms", ranks) for ranks in (4, 8, 16)], [32], [messages()])
    assert abs(good.held_out_error or 0) < 0.02
    assert (bad.held_out_error or 0) < -0.1
    width = [
        (one.predictions[0].high - one.predictions[0].low) / one.predictions[0].seconds
        for one in (good, bad)
    ]
    assert width[1] > width[0] + 0.1
    traces = [of("0s", ranks) for ranks in (4, 8, 16)]
    traces[1].warnings.append("different sizes")
    doubtful = scale(traces, [32], [messages()])
    (one,) = doubtful.predictions
    assert one.high - one.low > 0.4 * one.seconds
    assert "different sizes" in doubtful.warnings


def uneven(ranks: int, slow: int, gap: float) -> Trace:
    """Return 30 steps of 10 ms in a collective; before, one rank computes longer."""
    step = Event("allreduce", bytes=8, gap=8e-4 / ranks, seconds=1e-2)
    return Trace(
        [[Event("bcast", bytes=8, root=0, gap=gap * (r == slow)), *[step] * 30]
         for r in range(ranks)],
        [tuple(range(ranks))],
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(5))
def test_negligible_computation_need_follow_no_rule(seed: int) -> None:
    """A random rank computes 0.6 % of the run time longer: not known, but so much at most."""
    dice = np.random.default_rng(seed)
    for share in (0.006, 0.3):
        traces = [uneven(p, int(dice.integers(1, p)), share * 0.3)
                  for p in (4, 8, 16)]  # fmt: skip
        structures = [analysed(one) for one in traces]
        if share > LITTLE:
            with pytest.raises(InputError, match=r"position 1 \(bcast\)"):
                generalized(structures, "x")
        else:
            found = generalized(structures, "x")
            assert found.spread == pytest.approx(share, rel=0.1)
            assert any("position 1 (bcast)" in text for text in found.warnings)


def test_one_recording_is_not_enough() -> None:
    with pytest.raises(InputError, match="three"):
        scale([seen(STENCIL, 4)], [32], [])


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ({4: 100.0, 8: 50.0, 16: 25.0}, "400*1/p"),
        ({4: 8.0, 8: 8.0, 16: 8.0}, "8"),
        ({4: 3.0, 8: 5.0, 16: 9.0}, "(1 + 0.5*p)"),
    ],
)
def test_functions_are_the_simplest(values: dict[int, float], text: str) -> None:
    found = growth(values)
    assert found is not None
    assert found.text == text


def test_computation_of_one_rank_is_a_function_of_its_own() -> None:
    """Rank 0 computes 20 us for each rank, the others nothing; if it is another, it is refused."""

    def of(rank: int, ranks: int) -> Trace:
        calls = [
            [Event("gather", bytes=8.0, root=0, gap=1e-3),
             Event("scatter", bytes=8.0, root=0, gap=20e-6 * ranks if r == rank else 0.0)] * 20
            for r in range(ranks)
        ]  # fmt: skip
        return Trace(calls, [tuple(range(ranks))])

    general = generalized([analysed(of(0, ranks)) for ranks in (4, 8, 16)], "x")
    found = program(parse(general.document, "test", {"p": "64"}))
    times = [sum(a.amount for a in done(found, rank) if a.op == "compute") for rank in (0, 1)]
    assert times == pytest.approx([20 * (1e-3 + 64 * 20e-6), 20 * 1e-3], rel=0.01)
    with pytest.raises(InputError, match=r"position 1\.2"):
        generalized([analysed(of(2, ranks)) for ranks in (4, 8, 16)], "x")


def test_numbers_of_times_are_exact() -> None:
    assert whole({4: 9, 8: 21, 16: 45}) == "3*(p - 1)"
    assert whole({4: 2, 8: 4, 16: 4}) == "side(p, 2, 0)"
    assert whole({4: 10, 8: 11, 16: 13}) is None


def test_what_is_measured_is_what_the_program_calls() -> None:
    """Its operations on its groups, its messages on both paths; in a simulation once."""
    traces = [seen([*TRANSPOSE, *STENCIL], ranks) for ranks in (4, 8, 16)]
    hosts = [f"n{rank // 2}" for rank in range(16)]
    found = sweeps(traces, hosts, 32, 64, simulated=True, mapped=False)
    ranks: dict[str, list[int]] = {}
    for preset, count in found:
        ranks.setdefault(preset.name, []).append(count)
        assert preset.options[preset.options.index("--repeats") + 1] == "1"
    assert ranks["latency-map"] == [32]
    assert "latency-map" not in {
        preset.name for preset, _ in sweeps(traces, hosts, 32, 64, simulated=True, mapped=True)
    }
    assert ranks["allreduce"] == [4, 8, 16, 32]  # 2 are on one node
    assert ranks["alltoall"] == [2, 4, 8, 16]  # as rows of 2 are; rows of 4 of 16 are 16 of 64
    assert {name for name in ranks if name.startswith("messages")} == {
        f"messages-{path}-{mode}" for path in ("node", "network") for mode in MODES
    }
    sizes = {preset.name: preset.options for preset, _ in found}["alltoall"]
    assert sizes[sizes.index("--bytes") + 1] == f"8:{2**17}:x4"


def test_ranks_differ_although_the_first_turn_computes_nothing() -> None:
    """Rank 2 computes 4 % longer; the turn without computation is a schedule, and no chance."""
    steps = [Event("barrier")] * 2 + [Event("allreduce", bytes=8)]
    ranks = [
        [*steps[:2], steps[2], *[steps[2]._replace(gap=1e-4 * (1.04 if r == 2 else 1))] * 9]
        for r in range(4)
    ]
    tree = analysed(Trace(ranks, [tuple(range(4))])).tree
    places = [place for place in flat(tree) if place.visits == 10]
    found = computation(places[0].round.before, 4, 10)
    assert found["imbalance"] == {"2": pytest.approx(1.04, rel=0.001)}
    assert found["schedule"][0] == 0


@pytest.mark.parametrize("seed", range(5))
def test_ranks_that_differ_are_a_sample(seed: int) -> None:
    """Their mean on four ranks is off by chance, which is no part that does not shrink with p."""
    dice = np.random.default_rng(seed)
    traces = []
    for p in (4, 8, 16):
        slow = dice.uniform(1.0, 1.2, p)
        ranks = [[Event("allreduce", bytes=8, gap=16e-3 / p * of)] * 20 for of in slow.tolist()]
        traces.append(Trace(ranks, [tuple(range(p))]))
    general = generalized([analysed(one) for one in traces], "x")
    found = program(parse(general.document, "test", {"p": "64"}))
    times = [sum(a.amount for a in done(found, rank) if a.op == "compute") for rank in range(64)]
    assert np.mean(times) == pytest.approx(1.1 * 20 * 16e-3 / 64, rel=0.06)


def test_a_wavefront_receives_in_the_order_of_the_program() -> None:
    """From the row before, then from the column before, although rank 0 sends along its row."""
    exchange = {"topology": {"offsets": {"dimensions": 2, "list": [
        {"to": [-1, 0], "bytes": 4096}, {"to": [0, 1], "bytes": 1024}]}},
        "flow": "sweep", "compute": "1ms/p"}  # fmt: skip
    phases = [{"repeat": {"times": 10, "phases": [{"exchange": exchange}]}}]
    general = generalized([analysed(seen(phases, ranks)) for ranks in (4, 8, 16)], "x")
    found = program(parse(general.document, "test", {"p": "16"}))
    expected = made(phases, 16)
    for rank in range(16):
        orders = [
            [a.peer for a in done(what, rank) if a.op == "recv"] for what in (found, expected)
        ]
        assert orders[0] == orders[1]
