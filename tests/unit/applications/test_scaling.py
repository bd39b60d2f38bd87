"""From traces on 4, 8 and 16 ranks to a description of any number, and to its time on many."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from isochrone.applications.description.actions import Action, actions
from isochrone.applications.description.grids import balanced
from isochrone.applications.description.lowering import program
from isochrone.applications.description.program import Program
from isochrone.applications.description.reading import parse
from isochrone.applications.predict.applications import predict
from isochrone.applications.predict.needed import MODES, sweeps
from isochrone.applications.predict.scaling import scale
from isochrone.applications.thresholds import CLOSES, DOUBTFUL, MAX_FUNCTION_ERROR
from isochrone.applications.traces.communication import ROTATING
from isochrone.applications.traces.gaps import computation
from isochrone.applications.traces.generalizing import generalized
from isochrone.applications.traces.growth import growth, whole
from isochrone.applications.traces.places import Again, flat
from isochrone.applications.traces.structure import structure
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

BLOCKS: Phases = [
    {"repeat": {"times": 21, "step": "k", "phases": [
        *({"bcast": {
            "bytes": f"2**20/side(p, 2, {1 - along})", "root": f"{root} % side(p, 2, {along})",
            "among": {"size": f"side(p, 2, {along})", "stride": stride}}}
          for along, stride, root in ((1, 1, "k"), (0, "side(p, 2, 1)", "(k // 2 + 1)"))),
        {"compute": "16ms/p"}]}},
    {"repeat": {"times": "2*p", "step": "k", "phases": [
        {"compute": "1ms"}, {"reduce": {"bytes": 8, "root": "(2*p - 1 - k) * p // (2*p)"}}]}},
]  # fmt: skip


def level(step: str, numbering: dict[str, bool]) -> Phases:
    """Return computation and messages on a coarser grid of ranks: cells and faces of a part."""
    apart = f"2**({step})"
    grid = {"dimensions": 2, "apart": apart, **numbering}
    return [
        {"compute": {"time": f"1ms/({apart})**2", "among": grid}},
        {"exchange": {"topology": {"offsets": {**grid, "list": [
            {"to": [a, b], "bytes": f"4096/({apart})"}
            for a, b in ((1, 0), (-1, 0), (0, 1), (0, -1))]}}}},
    ]  # fmt: skip


LEVELS = "ceil(log2(side(p, 2, 0)))"


def cycles(**numbering: bool) -> Phases:
    """Return sweeps to the coarsest grid and back."""
    return [
        {"repeat": {"times": 10, "phases": [
            {"repeat": {"times": LEVELS, "step": "k",
                        "phases": [*level("k", numbering), *level("k", numbering)]}},
            {"repeat": {"times": LEVELS, "step": "k",
                        "phases": level(f"{LEVELS} - 1 - k", numbering)}},
            {"allreduce": {"bytes": 8}}]}},
    ]  # fmt: skip


HALVING: Phases = [
    {"repeat": {"times": 10, "phases": [
        {"compute": "80ms/p"},
        {"repeat": {"times": "log2(p)", "step": "k", "phases": [
            {"exchange": {"topology": {"butterfly": {"size": 2, "stride": "2**(log2(p) - 1 - k)"}},
                          "bytes": "2**20/2**(k + 1)"}},
            {"allreduce": {"bytes": 64, "among": {"dimensions": 1, "apart": "2**k"}}}]}}]}},
]  # fmt: skip

STYLES = {
    "cycles": cycles(), "first dimension fastest": cycles(**{"first-fastest": True}),
    "halving": HALVING,
    "stencil": STENCIL, "wavefront": WAVEFRONT, "transpose": TRANSPOSE, "blocks": BLOCKS,
}  # fmt: skip


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


@pytest.mark.slow
@pytest.mark.parametrize("name", STYLES)
def test_a_program_comes_back_on_a_number_of_ranks_nobody_saw(name: str) -> None:
    """On 64 ranks, from 4, 8 and 16: the same messages, groups and computation of each rank."""
    phases = STYLES[name]
    structures = [structure(seen(phases, ranks)) for ranks in (4, 8, 16)]
    general = generalized(structures, "x")
    found = program(parse(general.document, "test", {"p": "64"}))
    expected = made(phases, 64)
    for rank in (0, 5, 37, 63):
        mine, theirs = summed(done(found, rank)), summed(done(expected, rank))
        assert mine.keys() == theirs.keys()
        roots = [[a.root for a in done(what, rank) if a.root >= 0] for what in (found, expected)]
        assert roots[0] == roots[1]
        assert all(mine[key] == pytest.approx(theirs[key], rel=0.01, abs=8) for key in theirs)
        times = [
            sum(a.amount for a in done(what, rank) if a.op == "compute")
            for what in (found, expected)
        ]
        assert times[0] == pytest.approx(times[1], rel=0.03)


def test_operations_whose_roots_rotate_widen_the_interval() -> None:
    """Once, however many of them there are, of rows and columns or of all ranks."""
    for phases in (BLOCKS, BLOCKS[1:]):
        general = generalized([structure(seen(phases, ranks)) for ranks in (4, 8, 16)], "x")
        assert general.spread == pytest.approx(DOUBTFUL)
        assert ROTATING in general.warnings


@pytest.mark.parametrize("hidden", [100, 60])
def test_a_fixed_number_of_levels_is_told_from_a_growing_one(hidden: int) -> None:
    """All of three levels take 100 us twice, so that those without messages show how many are left.

    If they take 60 us, that is no sign of a number: levels go on to one rank.
    """
    there, back = (
        [
            {"compute": {"time": f"100us*{first}", "among": {"dimensions": 2, "apart": apart}}},
            {
                "exchange": {
                    "topology": {
                        "offsets": {
                            "dimensions": 2,
                            "apart": apart,
                            "list": [
                                {"to": [1, 0]},
                                {"to": [-1, 0]},
                                {"to": [0, 1]},
                                {"to": [0, -1]},
                            ],
                        }
                    },
                    "bytes": 512,
                }
            },
        ]
        for first, apart in (("min(k, 1)", "2**k"), ("1", f"2**({LEVELS} - 1 - k)"))
    )
    alone = {
        "time": f"{2 * hidden}us*max(3 - {LEVELS}, 0)",
        "among": {"dimensions": 2, "apart": f"2**{LEVELS}"},
    }
    phases: Phases = [
        {
            "repeat": {
                "times": 20,
                "phases": [
                    {"repeat": {"times": LEVELS, "step": "k", "phases": there}},
                    {"compute": alone},
                    {"repeat": {"times": LEVELS, "step": "k", "phases": back}},
                    {"allreduce": {"bytes": 8}},
                ],
            }
        }
    ]
    general = generalized([structure(seen(phases, ranks)) for ranks in (4, 8, 16)], "x")
    found = program(parse(general.document, "test", {"p": "256"}))
    partners = {action.peer for action in done(found, 0) if action.op == "isend"}
    levels = 3 if hidden == 100 else 4
    assert partners == {side * 2**level for side in (1, 16) for level in range(levels)}


def test_what_differs_in_structure_is_refused_by_its_position() -> None:
    """And so are partners that follow no rule."""
    loop = {"repeat": {"times": 20, "phases": [{"compute": "1ms"}, {"allreduce": {"bytes": 8}}]}}
    other = {"repeat": {"times": 20, "phases": [{"compute": "1ms"}, {"barrier": {}}]}}
    with pytest.raises(InputError, match=r"position 1\.1.*allreduce on 4.*barrier on 8"):
        generalized(
            [
                structure(seen([loop, {"bcast": {"bytes": 8}}], 4)),
                structure(seen([other, {"bcast": {"bytes": 8}}], 8)),
            ],
            "x",
        )
    pairs = [
        {"exchange": {"topology": {"edges": edges}, "flow": "stream", "bytes": 64}}
        for edges in ([[0, 3], [1, 2]], [[0, 5], [6, 1], [2, 7]])
    ]
    with pytest.raises(InputError, match="position 1"):
        generalized([structure(seen([one], 4 + 4 * k)) for k, one in enumerate(pairs)], "x")


def test_a_broadcast_again_and_again_in_a_pipeline_is_doubtful() -> None:
    """It was predicted up to 7 % too short; one before the pipeline is not."""
    front = {"exchange": {"topology": "pipeline", "bytes": 4096, "compute": "1ms/p"}}
    again = {"repeat": {"times": 4, "phases": [front]}}
    inside = [{"repeat": {"times": 10, "phases": [{"bcast": {"bytes": 8192}}, again]}}]
    before = [{"bcast": {"bytes": 8192}}, again]
    for phases, warnings in ((inside, 1), (before, 0)):
        found = generalized([structure(seen(phases, ranks)) for ranks in (4, 8)], "x")
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
    general = generalized([structure(seen(phases, ranks)) for ranks in (4, 8, 16)], "x")
    found = program(parse(general.document, "test", {"p": "64"}))
    expected = made(phases, 64)
    for rank in (0, 37):
        assert summed(done(found, rank)) == summed(done(expected, rank))
        times = [
            sum(a.amount for a in done(what, rank) if a.op == "compute")
            for what in (found, expected)
        ]
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
    general = generalized([structure(one) for one in traces], "x")
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
        generalized([structure(one) for one in traces], "x")


def test_the_largest_trace_is_held_out_and_its_error_widens_the_interval() -> None:
    """Computation that stops to shrink is worse from 4 and 8 ranks than from all three."""

    def of(floor: str, ranks: int) -> Trace:
        return seen(
            [
                {
                    "repeat": {
                        "times": 30,
                        "phases": [
                            {"compute": f"max(16ms/p, {floor})"},
                            {
                                "exchange": {
                                    "topology": {
                                        "offsets": {
                                            "dimensions": 1,
                                            "list": [{"to": [1], "bytes": 0}],
                                        }
                                    }
                                }
                            },
                        ],
                    }
                }
            ],
            ranks,
        )

    good = scale([of("0s", ranks) for ranks in (4, 8, 16)], [32], [messages()])
    bad = scale([of("1.2ms", ranks) for ranks in (4, 8, 16)], [32], [messages()])
    assert abs(good.held_out_error or 0) < 0.02
    assert (bad.held_out_error or 0) < -0.08
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
        [
            [Event("bcast", bytes=8, root=0, gap=gap * (r == slow)), *[step] * 30]
            for r in range(ranks)
        ],
        [tuple(range(ranks))],
    )


@pytest.mark.parametrize("share", [0.006, 0.3])
@pytest.mark.parametrize("seed", range(3))
def test_ranks_that_compute_longer_by_no_rule_are_drawn(seed: int, share: float) -> None:
    """A random rank computes longer, 4, 8, 16 times the mean: the interval is wider by that."""
    dice = np.random.default_rng(seed)
    traces = [uneven(p, int(dice.integers(1, p)), share * 0.3) for p in (4, 8, 16)]
    program = generalized([structure(trace) for trace in traces], "x")
    assert program.spread == pytest.approx(share / (1 + share) * (16 / 4 - 1), rel=0.1)
    assert any("position 1 (bcast)" in text for text in program.warnings)


def test_one_recording_is_not_enough() -> None:
    with pytest.raises(InputError, match="three"):
        scale([seen(STENCIL, 4)], [32], [])


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ({4: 100.0, 8: 50.0, 16: 25.0}, "400*1/p"),
        ({4: 8.0, 8: 8.0, 16: 8.0}, "8"),
    ],
)
def test_functions_are_the_simplest(values: dict[int, float], text: str) -> None:
    found = growth(values)
    assert found is not None
    assert found.text == text
    assert found.spread(128) < 0.05


def measured(value: Callable[[int], float], ranks: Sequence[int] = (4, 8, 16)) -> dict[int, float]:
    return {p: value(p) for p in ranks}


def surface(p: int) -> float:
    return sum(balanced(p, 3)) / p


@pytest.mark.parametrize(
    "value", [surface, lambda p: 10 / p + surface(p), lambda p: 1 + 0.5 * p, lambda p: p**-2.0]
)
def test_the_right_one_of_competing_functions_has_the_most_weight(
    value: Callable[[int], float],
) -> None:
    """On 4, 8 and 16 ranks the surface in a grid of three dimensions is 1/4 + 4/p as well."""
    found = growth(measured(value), grids=(3,))
    assert found is not None
    for p in (32, 64, 128):
        assert found.at(p) == pytest.approx(value(p), rel=0.13)
        assert abs(found.at(p) / value(p) - 1) < found.spread(p) + 0.001


def test_a_further_recording_decides_between_functions() -> None:
    """With noise of 3 %, a constant beside 10/p may be none: 32 ranks tell."""
    few, more = (
        growth(measured(lambda p: 10 / p + 0.1, ranks), noise=0.03)
        for ranks in ((4, 8, 16), (4, 8, 16, 32))
    )
    assert few is not None
    assert more is not None
    assert few.decides(16) == 32
    assert more.decides(32) is None
    assert more.spread(128) < 0.3 * few.spread(128)


def test_a_program_without_a_grid_has_no_surface() -> None:
    """Protects from a serial part (Amdahl) that is taken for the surface of an imaginary grid."""
    found = growth(measured(lambda p: 0.25 + 4 / p))
    assert found is not None
    assert found.at(128) == pytest.approx(0.28125, rel=0.05)


def test_values_that_are_measured_less_exactly_leave_more_open() -> None:
    spreads = [
        found.spread(128)
        for noise in (0.0, 0.03)
        if (found := growth(measured(lambda p: 10 / p + 0.1), noise=noise))
    ]
    assert spreads[1] > 2 * spreads[0]


def test_work_hardly_becomes_less() -> None:
    """Seconds that fall as 1/p**2 are as often done more often, or are many functions."""
    values = measured(lambda p: 8 / p**2)
    weights = []
    for visits in (dict.fromkeys(values, 10), {p: 10 * (p - 1) for p in values}):
        found = growth(values, visits=visits)
        assert found is not None
        weights.append(next(one.weight for one in found.rivals if one.terms == ("1/p**2",)))
    assert weights[0] < weights[1]


def test_sizes_that_depend_on_the_data_are_predicted_with_a_wide_interval() -> None:
    """Means of 100, 140 and 104 kB on 4, 8, 16 ranks: no function of p, hardly a growing one."""
    traces = []
    for ranks, size in ((4, 100_000), (8, 140_000), (16, 104_000)):
        ring = {"dimensions": 1, "periodic": True, "list": [{"to": [1], "bytes": size}]}
        step: Phases = [{"compute": "1ms"}, {"exchange": {"topology": {"offsets": ring}}}]
        traces.append(seen([{"repeat": {"times": 20, "phases": step}}], ranks))
    general = generalized([structure(trace) for trace in traces], "x")
    assert any("no function" in text for text in general.warnings)
    (size_of,) = (g for fitted in general.open for name, g in fitted.items() if "size" in name)
    assert 90_000 < size_of.at(64) < 180_000
    assert size_of.spread(64) > 0.2
    assert growth({4: 100.0, 8: 1000.0, 16: 100.0}, noise=MAX_FUNCTION_ERROR) is None


def test_neighbours_may_grow_with_the_number_of_ranks() -> None:
    """Random partners, 2, 3, 5 of each rank on 4, 8, 16 ranks: more on 64, but no more than p."""
    traces = [
        seen([{"repeat": {"times": 10, "phases": [{"exchange": {
            "topology": {"random-regular": {"degree": degree}}, "bytes": 800}}]}}], ranks)
        for ranks, degree in ((4, 2), (8, 3), (16, 5))
    ]  # fmt: skip
    general = generalized([structure(trace) for trace in traces], "x")
    neighbours = []
    for p in (16, 64):
        expanded = program(parse(general.document, "test", {"p": str(p)}))
        peers = [
            {step.peer for step in done(expanded, rank) if step.op == "isend"} for rank in range(p)
        ]
        neighbours.append(sum(map(len, peers)) / p)
    assert 4 < neighbours[0] < 6
    assert 6 < neighbours[1] < 20


def test_computation_of_one_rank_is_a_function_of_its_own() -> None:
    """One rank computes 20 us for each rank, the others nothing: the first, third, or last."""

    def of(rank: int, ranks: int) -> Trace:
        calls = [
            [
                Event("gather", bytes=8.0, root=0, gap=1e-3),
                Event("scatter", bytes=8.0, root=0, gap=20e-6 * ranks if r == rank else 0.0),
            ]
            * 20
            for r in range(ranks)
        ]
        return Trace(calls, [tuple(range(ranks))])

    for slow, at_64 in ((lambda ranks: 0, 0), (lambda ranks: 2, 2), (lambda ranks: ranks - 1, 63)):
        general = generalized([structure(of(slow(p), p)) for p in (4, 8, 16)], "x")
        expanded = program(parse(general.document, "test", {"p": "64"}))
        times = [
            sum(step.amount for step in done(expanded, rank) if step.op == "compute")
            for rank in (at_64, 1)
        ]
        assert times == pytest.approx([20 * (1e-3 + 64 * 20e-6), 20 * 1e-3], rel=0.01)


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ((9, 21, 45), "3*(p - 1)"),
        ((2, 4, 4), "side(p, 2, 0)"),
        ((2, 4, 8), "floor(p/2)"),
        ((6, 12, 24), "floor(3*p/2)"),
        ((32, 16, 8), "max(1, floor(128/p))"),
        ((14, 18, 26), "(10 + p)"),
        ((16, 19, 22), "(10 + 3*ceil(log2(p)))"),
        ((10, 11, 13), None),
    ],
)
def test_numbers_of_times_are_exact(values: Sequence[int], text: str | None) -> None:
    assert whole(dict(zip((4, 8, 16), values, strict=True))) == text


def test_a_grid_that_the_program_shows_comes_before_a_part_of_the_ranks() -> None:
    """On 4, 8 and 16 ranks a plane of three dimensions has half of them."""
    assert whole({4: 2, 8: 4, 16: 8}, grids={3}) == "side(p, 3, 0)*side(p, 3, 2)"


def test_operations_of_several_sizes_have_their_mean() -> None:
    """Protects from the first size, which may be that of the largest or of the smallest block."""
    sizes = [8.0 * k for k in range(1, 101)]
    calls = [[Event("allreduce", bytes=size, gap=1e-3) for size in sizes] for _ in range(4)]
    (place,) = structure(Trace(calls, [(0, 1, 2, 3)])).tree
    (of_turn,) = place.body if isinstance(place, Again) else [place]
    assert of_turn.round.call.bytes == 404


def test_messages_may_be_begun_before_their_answer_is_awaited() -> None:
    """Isend to the next rank, Recv from there, Wait: as a pipeline of training does."""

    def rank(r: int) -> list[Event]:
        turn = [Event("recv", peer=r - 1, bytes=64.0, gap=1e-5)] * (r > 0)
        if r < 3:
            turn += [Event("isend", peer=r + 1, bytes=64.0), Event("recv", peer=r + 1, bytes=32.0)]
            turn += [Event("wait")]
        return turn + [Event("send", peer=r - 1, bytes=32.0, gap=2e-5)] * (r > 0)

    found = structure(Trace([10 * rank(r) for r in range(4)], [(0, 1, 2, 3)]))
    sent = sum(place.visits * len(place.round.messages) for place in flat(found.tree))
    assert sent == 10 * 2 * 3


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
    tree = structure(Trace(ranks, [tuple(range(4))])).tree
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
    general = generalized([structure(one) for one in traces], "x")
    found = program(parse(general.document, "test", {"p": "64"}))
    times = [sum(a.amount for a in done(found, rank) if a.op == "compute") for rank in range(64)]
    assert np.mean(times) == pytest.approx(1.1 * 20 * 16e-3 / 64, rel=0.06)


def test_a_wavefront_receives_in_the_order_of_the_program() -> None:
    """From the row before, then from the column before, although rank 0 sends along its row."""
    exchange = {
        "topology": {
            "offsets": {
                "dimensions": 2,
                "list": [{"to": [-1, 0], "bytes": 4096}, {"to": [0, 1], "bytes": 1024}],
            }
        },
        "flow": "sweep",
        "compute": "1ms/p",
    }
    phases = [{"repeat": {"times": 10, "phases": [{"exchange": exchange}]}}]
    general = generalized([structure(seen(phases, ranks)) for ranks in (4, 8, 16)], "x")
    found = program(parse(general.document, "test", {"p": "16"}))
    expected = made(phases, 16)
    for rank in range(16):
        orders = [
            [a.peer for a in done(what, rank) if a.op == "recv"] for what in (found, expected)
        ]
        assert orders[0] == orders[1]


@pytest.mark.slow
def test_a_description_has_to_close() -> None:
    """Polling that no call of the trace shows: named, added, and part of the interval."""
    known = [messages(), collectives(bcast=(1e-6, 1e-6), allreduce=(1e-6, 1e-6))]

    def of(ranks: int, *, polled: float) -> Trace:
        trace = seen(STENCIL, ranks)
        (found,) = predict(made(STENCIL, ranks), known, ends=False)
        trace.whole = found.seconds * (1 + polled)
        trace.omitted["probe"] = polled * found.seconds * ranks
        return trace

    good, bad = (
        scale([of(ranks, polled=part) for ranks in (4, 8, 16)], [32], known) for part in (0.0, 0.5)
    )
    assert max(map(abs, good.closing_errors)) < CLOSES
    assert bad.closing_errors == pytest.approx([-1 / 3] * 3, abs=0.02)
    (shorter,), (longer,) = good.predictions, bad.predictions
    assert longer.seconds == pytest.approx(1.5 * shorter.seconds, rel=0.05)
    assert longer.high - longer.seconds > 0.3 * longer.seconds
    assert sum("probe" in text for text in bad.warnings) == 3
    assert not any("probe" in text for text in good.warnings)


def farmed(ranks: int, *, dispatch: float) -> Trace:
    """Return 600 tasks of 1 ms, handed out in turns by a master that computes for each."""
    workers = range(1, ranks)
    tasks = [k % (ranks - 1) + 1 for k in range(600)]
    master = [Event("send", w, 64, gap=dispatch) for w in tasks[: ranks - 1]]
    for k, worker in enumerate(tasks):
        again = k + ranks - 1 < len(tasks)
        master += [
            Event("recv", worker, 32, any=True),
            Event("send", worker, 64 * again, gap=dispatch * again),
        ]
    of_workers = [
        [
            call
            for _ in range(tasks.count(w))
            for call in (Event("recv", 0, 64), Event("send", 0, 32, gap=1e-3))
        ]
        + [Event("recv", 0)]
        for w in workers
    ]
    return Trace([master, *of_workers], [tuple(range(ranks))])


def test_the_master_of_a_farm_is_the_limit_of_its_speed() -> None:
    """On many ranks each task takes what the master computes for it; without, it takes less."""
    ends = []
    for dispatch in (0.0, 50e-6):
        structures = [structure(farmed(ranks, dispatch=dispatch)) for ranks in (4, 8, 16)]
        general = generalized(structures, "x")
        described = program(parse(general.document, "test", {"p": "128"}))
        (found,) = predict(described, [messages()], ends=False)
        ends.append(found.seconds)
    assert ends[1] == pytest.approx(600 * 50e-6, rel=0.1)
    assert ends[0] < 0.5 * ends[1]


def test_messages_along_short_sides_are_those_along_long_ones() -> None:
    """Shifts both ways, one after the other: of two ranks a loop, of one rank none."""

    def shift(axis: int, sign: int) -> dict[str, Any]:
        to = [sign if k == axis else 0 for k in range(3)]
        return {"exchange": {"topology": {"offsets": {
            "dimensions": 3, "periodic": True, "list": [{"to": to, "bytes": 4096}]}}}}  # fmt: skip

    phases: Phases = [{"repeat": {"times": 10, "phases": [
        {"compute": "8ms/p"}, *(shift(axis, sign) for axis in range(3) for sign in (1, -1)),
    ]}}]  # fmt: skip
    general = generalized([structure(seen(phases, ranks)) for ranks in (8, 16, 64)], "x")
    found = program(parse(general.document, "test", {"p": "125"}))
    expected = made(phases, 125)
    for rank in (0, 37):
        assert summed(done(found, rank)) == summed(done(expected, rank))


SHIFTS: Phases = [{"repeat": {"times": 10, "phases": [
    {"compute": "1ms"},
    {"exchange": {"topology": {"offsets": {"dimensions": 3, "first-fastest": True, "list": [
        {"to": [0, 1, 0]}]}}, "bytes": 1024}},
    {"exchange": {"topology": {"offsets": {"dimensions": 3, "first-fastest": True, "list": [
        {"to": [-1, 0, 0]}]}}, "bytes": 2048}}]}}]  # fmt: skip


def test_shifts_along_one_dimension_of_a_grid_come_back() -> None:
    """The first dimension is the fastest, as in Fortran; no message goes along the last one."""
    general = generalized([structure(seen(SHIFTS, ranks)) for ranks in (8, 16, 32)], "x")
    found = program(parse(general.document, "test", {"p": "64"}))
    expected = made(SHIFTS, 64)
    for rank in (0, 5, 37, 63):
        assert summed(done(found, rank)) == summed(done(expected, rank))


UP_AND_DOWN: Phases = [{"repeat": {"times": 10, "phases": [{"exchange": {"topology": {"offsets": {
    "dimensions": 2, "list": [{"to": [1, 0]}, {"to": [-1, 0]}]}}, "bytes": 4096}}]}}]  # fmt: skip


def test_messages_of_uneven_sizes_keep_their_mean_and_widen_the_interval() -> None:
    """Every second column sends twice as much: blocks of what cannot be divided evenly."""

    def uneven(ranks: int, factor: int) -> Trace:
        found = seen(UP_AND_DOWN, ranks)
        found.ranks = [
            [e._replace(bytes=e.bytes * (1 + rank % 2 * factor), seconds=1e-4) for e in events]
            for rank, events in enumerate(found.ranks)
        ]
        return found

    for factor, mean in ((0, 4096), (1, 6144)):
        general = generalized([structure(uneven(p, factor)) for p in (4, 8, 16)], "x")
        (app,) = general.document["apps"]
        (exchange,) = [one["exchange"] for one in app["phases"] if "exchange" in one]
        listed = exchange["topology"]["offsets"]["list"]
        assert [one["bytes"] for one in listed] == [mean, mean]
        assert general.spread == pytest.approx(factor / 3, rel=0.1), "a third of the mean"
        assert len(general.warnings) == factor


def test_the_owner_of_a_turn_holds_up_all_ranks() -> None:
    """In each turn another rank computes 100 us before it broadcasts, as in a factorisation."""

    def of(ranks: int) -> Trace:
        calls = [
            [
                Event("bcast", bytes=8.0, root=turn % ranks, gap=1e-4 * (turn % ranks == rank))
                for turn in range(64)
            ]
            for rank in range(ranks)
        ]
        return Trace(calls, [tuple(range(ranks))])

    general = generalized([structure(of(p)) for p in (4, 8, 16)], "x")
    expanded = program(parse(general.document, "test", {"p": "64"}))
    for rank in (0, 63):
        steps = done(expanded, rank)
        seconds = sum(step.amount for step in steps if step.op == "compute")
        assert seconds == pytest.approx(64e-4, rel=0.01)


def test_groups_of_some_ranks_are_those_of_a_column() -> None:
    """Every fourth rank, such as one of each node, adds up and broadcasts to the others."""

    def of(ranks: int) -> Trace:
        leaders = tuple(range(0, ranks, 4))
        every = [Event("barrier", gap=1e-3)]
        calls = [
            20 * (every + [Event("allreduce", bytes=8.0, members=1)] * (rank in leaders))
            for rank in range(ranks)
        ]
        return Trace(calls, [tuple(range(ranks)), leaders])

    general = generalized([structure(of(p)) for p in (8, 16, 32)], "x")
    (repeat,) = [phase for phase in general.document["apps"][0]["phases"] if "allreduce" in phase]
    assert repeat["allreduce"]["among"] == {"size": "floor(p/4)", "stride": 4}


def alone(ranks: int) -> Trace:
    """Rank 0 sorts what it has gathered, and broadcasts; on 16 ranks, in 3 % of the time."""
    steps = [Event("gather", root=0, bytes=8, gap=16e-3 / ranks)]
    of_root = [*steps, Event("bcast", root=0, bytes=8, gap=5e-7 * ranks * np.log2(ranks))]
    of_others = [*steps, Event("bcast", root=0, bytes=8)]
    return Trace([of_root * 20, *[of_others * 20] * (ranks - 1)], [tuple(range(ranks))])


def test_what_one_rank_computes_while_others_wait_for_it_is_a_phase() -> None:
    """Protects from its being taken for a small part of what all compute."""
    general = generalized([structure(alone(ranks)) for ranks in (4, 8, 16)], "x")
    found = program(parse(general.document, "test", {"p": "64"}))
    root, other = (
        sum(a.amount for a in done(found, rank) if a.op == "compute") for rank in (0, 37)
    )
    assert other == pytest.approx(20 * 16e-3 / 64, rel=0.02)
    assert root == pytest.approx(20 * (16e-3 / 64 + 5e-7 * 64 * 6), rel=0.02)


def there_and_back(ranks: int) -> Trace:
    """Send to the right, then receive from the left; and the other way. No wrap."""

    def step(rank: int) -> list[Event]:
        events = []
        for to in (rank + 1, rank - 1):
            from_ = 2 * rank - to
            events += [Event("send", to, 800)] * (0 <= to < ranks)
            events += [Event("recv", from_, 800)] * (0 <= from_ < ranks)
        return [events[0]._replace(gap=8e-3 / ranks), *events[1:]]

    return Trace([step(rank) * 30 for rank in range(ranks)], [tuple(range(ranks))])


def test_a_row_whose_ends_only_send_or_receive_is_an_exchange() -> None:
    general = generalized([structure(there_and_back(ranks)) for ranks in (4, 8, 16)], "x")
    found = program(parse(general.document, "test", {"p": "64"}))
    for rank, partners in ((0, {1}), (9, {8, 10}), (63, {62})):
        sent = Counter(a.peer for a in done(found, rank) if a.op in ("send", "isend"))
        assert sent == Counter(dict.fromkeys(partners, 30))


def all_others(ranks: int) -> Trace:
    """Begin messages to and from all others, and wait for them."""

    def step(rank: int) -> list[Event]:
        others = [other for other in range(ranks) if other != rank]
        begun = [Event(op, of, 2**20 / ranks**2) for op in ("irecv", "isend") for of in others]
        return [begun[0]._replace(gap=8e-3 / ranks), *begun[1:], Event("wait")]

    return Trace([step(rank) * 10 for rank in range(ranks)], [tuple(range(ranks))])


def test_messages_between_all_ranks_are_no_grid_of_sides_of_two() -> None:
    general = generalized([structure(all_others(ranks)) for ranks in (4, 8, 16)], "x")
    found = program(parse(general.document, "test", {"p": "64"}))
    sent = summed(done(found, 5))
    to_all = {peer: n for (op, peer, _), n in sent.items() if op == "send"}
    assert set(to_all) == set(range(64)) - {5}
    assert set(to_all.values()) == {10 * 2**20 // 64**2}


def reduced(rank: int, ranks: int) -> list[Event]:
    """Receive from the children in a binomial tree, and send to the parent."""
    low = rank & -rank or ranks
    children = [2**k for k in range(ranks.bit_length()) if 2**k < low and rank + 2**k < ranks]
    events = [Event("recv", rank + step, 800) for step in children]
    return events + [Event("send", rank - low, 800)] * (rank > 0)


def answered(rank: int, ranks: int) -> list[Event]:
    """Rank 0 sends to each other rank, and then receives from each."""
    if rank:
        return [Event("recv", 0, 800), Event("send", 0, 800)]
    return [Event(op, other, 800) for op in ("send", "recv") for other in range(1, ranks)]


@pytest.mark.parametrize("step", [reduced, answered])
def test_messages_along_a_tree_or_a_star_are_those_of_more_ranks(
    step: Callable[[int, int], list[Event]],
) -> None:
    def trace(ranks: int) -> Trace:
        steps = [step(rank, ranks) for rank in range(ranks)]
        timed = [[one[0]._replace(gap=8e-3 / ranks), *one[1:]] * 20 for one in steps]
        return Trace(timed, [tuple(range(ranks))])

    general = generalized([structure(trace(ranks)) for ranks in (4, 8, 16)], "x")
    found = program(parse(general.document, "test", {"p": "64"}))
    for rank in (0, 1, 32, 63):
        sent = Counter(a.peer for a in done(found, rank) if a.op in ("send", "isend"))
        assert sent == Counter(e.peer for e in trace(64).ranks[rank] if e.op == "send")


@pytest.mark.parametrize(
    "distances",
    [lambda p: range(1, p), lambda p: [2**k for k in range((p - 1).bit_length())]],
    ids=["all others in turn", "dissemination"],
)
def test_steps_whose_number_grows_with_the_ranks_are_a_loop(
    distances: Callable[[int], Sequence[int]],
) -> None:
    """Each sends to the rank that is so far away, and receives from the other side."""

    def trace(ranks: int) -> Trace:
        def step(rank: int) -> list[Event]:
            events = []
            for far in distances(ranks):
                events += [Event("irecv", (rank - far) % ranks, 800)]
                events += [Event("isend", (rank + far) % ranks, 800), Event("wait")]
            return [events[0]._replace(gap=8e-3 / ranks), *events[1:]]

        return Trace([step(rank) * 10 for rank in range(ranks)], [tuple(range(ranks))])

    general = generalized([structure(trace(ranks)) for ranks in (4, 8, 16)], "x")
    found = program(parse(general.document, "test", {"p": "64"}))
    sent = Counter(a.peer for a in done(found, 5) if a.op in ("send", "isend"))
    assert sent == Counter({(5 + far) % 64: 10 for far in distances(64)})
