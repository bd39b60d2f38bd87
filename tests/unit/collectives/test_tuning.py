"""Choices between the library, its algorithms and grids: made-up launches whose truth is known."""

from __future__ import annotations

from math import inf

import pytest

from isochrone.base.errors import InputError
from isochrone.collectives.tune.times import Choice, Place, gain, read_times
from isochrone.collectives.tune.tuning import algorithm_rules, cautions, grid_rules, ranges, savings
from made_up.tuning import SIZES, launch, time_of

GRIDS = ("2x8", "4x4", "8x2")
MANY = tuple(64 + k for k in range(60))
EQUAL = {"library": 1.0, **dict.fromkeys(GRIDS, 1.0)}
LAUNCHES = range(5)


def wrong(runs: list, least: float) -> float:
    """Return the part of the sizes at which a grid was chosen."""
    return len(savings(read_times(runs), "grid", least)) / len(MANY)


def test_launches_that_differ_do_not_make_a_choice() -> None:
    """Each launch makes each grid slow or fast by 10 %: five of them do not agree."""
    runs = [launch(EQUAL, sizes=MANY, seed=k, launch_noise=0.1) for k in LAUNCHES]
    assert wrong(runs, 0.0) <= 0.05


@pytest.mark.parametrize(("saved", "found"), [(0.10, 0.15), (0.20, 0.97)])
def test_a_gain_is_found(saved: float, found: float) -> None:
    """At 5 % noise of each pass and repetition, ten passes; more than 5 % are wanted."""
    run = launch({**EQUAL, "4x4": 1 - saved}, sizes=MANY, noise=0.05)
    chosen = savings(read_times([run]), "grid", 0.05)
    assert {one.choice.name for one in chosen} == {"4x4"}
    assert len(chosen) >= found * len(MANY)
    inside = [one.gain.low <= saved <= one.gain.high for one in chosen]
    assert sum(inside) >= 0.93 * len(inside)


def test_a_gain_below_what_is_wanted_is_no_choice() -> None:
    run = launch({"library": 1.0, "4x4": 0.97}, noise=0.01)
    assert savings(read_times([run]), "grid", 0.05) == []
    assert len(savings(read_times([run]), "grid", 0.0)) == len(SIZES)


def test_a_grid_has_to_beat_the_best_algorithm_of_the_library_too() -> None:
    """What it saves is said against that one, not against a bad default."""
    grids = [launch({"library": 1.0, "4x4": 0.7}, noise=0.02)]
    better = [launch({"library": 0.6}, noise=0.02, algorithm="allgather=ring", seed=2)]
    worse = [launch({"library": 0.8}, noise=0.02, algorithm="allgather=bruck", seed=3)]
    assert savings(read_times(grids + better + worse), "grid", 0.05) == []
    found = savings(read_times(grids + worse), "grid", 0.05)
    assert [one.bytes for one in found] == list(SIZES)
    assert {(str(one.against), one.algorithms) for one in found} == {("bruck", 1)}
    assert found[0].gain.part == pytest.approx(1 - 0.7 / 0.8, abs=0.05)


@pytest.mark.parametrize("forced", [False, True])
def test_a_comparison_with_the_default_only_is_said_to_be_one(forced: bool) -> None:
    """The default may be a bad one; where algorithms were forced there is nothing to say."""
    slow = [launch({"library": 0.9}, noise=0.02, algorithm="allgather=bruck", seed=3)]
    times = read_times(
        [launch({"library": 1.0, "4x4": 0.7}, noise=0.02), *(slow if forced else [])]
    )
    found = savings(times, "grid", 0.05)
    said = [text for text in cautions(times, found, "grid", 0.05) if "default only" in text]
    assert len(said) == (0 if forced else 1)
    assert {one.algorithms for one in found} == {int(forced)}


def test_an_algorithm_of_the_library_is_chosen_from_three_launches_on() -> None:
    """Launches differ, and these share nothing: of two nobody knows by how much."""
    ring = [
        launch({"library": 0.7}, noise=0.02, algorithm="allgather=ring", seed=k) for k in (7, 8, 9)
    ]
    default = [launch({"library": 1.0}, noise=0.02, seed=k) for k in (1, 2, 3)]
    times = read_times(default + ring)
    found = savings(times, "algorithm", 0.05)
    (rule,) = algorithm_rules(found, times.sizes)
    assert (rule.op, rule.ranks, rule.bytes, rule.algorithm) == (
        "allgather",
        16,
        (64, 4096),
        "ring",
    )
    few = read_times(default + ring[:2])
    assert savings(few, "algorithm", 0.05) == []
    assert any("fewer than 3 times" in text for text in cautions(few, [], "algorithm", 0.05))


def test_a_launch_with_forced_algorithms_says_nothing_of_other_operations() -> None:
    """Their default may be another one there, and the phases of its grids are."""
    run = launch({"library": 1.0, "4x4": 0.5}, ops=("bcast", "allgather"), algorithm="bcast=chain")
    (place, sizes), *others = read_times([run]).times.items()
    assert (place, others) == (Place("bcast", 16, 4), [])
    assert {choice for choices in sizes.values() for choice in choices} == {
        Choice("algorithm", "chain")
    }


def test_simulated_times_know_no_chance() -> None:
    """One repetition is enough there, and 6 % are more than 5 %."""
    run = launch({"library": 1.0, "4x4": 0.94}, noise=0, passes=1, repeats=1, simulated=True)
    times = read_times([run])
    (rule,) = grid_rules(savings(times, "grid", 0.05), times.sizes)
    assert rule.points == [
        (size, pytest.approx(time_of(size)), pytest.approx(0.94 * time_of(size))) for size in SIZES
    ]
    assert (rule.bytes, rule.grid, rule.nodes) == ((64, 4096), "4x4", 4)
    assert cautions(times, [], "grid", 0.05) == []


def test_rules_join_neighbours_and_end_between_sizes() -> None:
    """Half way, on a scale of factors, to the size with another choice; nothing beyond the last."""
    factors = {
        "library": 1.0,
        "4x4": {64: 0.5, 256: 0.5, 1024: 1.0, 4096: 0.5},
        "2x8": {64: 1.0, 256: 1.0, 1024: 0.5, 4096: 1.0},
    }
    times = read_times([launch(factors, noise=0.01)])
    rules = grid_rules(savings(times, "grid", 0.05), times.sizes)
    assert [(rule.grid, rule.bytes) for rule in rules] == [
        ("4x4", (64, 512)),
        ("2x8", (513, 2048)),
        ("4x4", (2049, 4096)),
    ]


def test_a_choice_that_is_as_good_as_the_neighbours_is_not_changed() -> None:
    """Two grids that take turns within the noise would make a rule for each size."""
    near = {64: 0.50, 256: 0.51, 1024: 0.50, 4096: 0.51}
    far = {64: 0.51, 256: 0.50, 1024: 0.51, 4096: 0.50}
    times = read_times([launch({"library": 1.0, "4x4": near, "2x8": far}, noise=0.001)])
    assert len(grid_rules(savings(times, "grid", 0.05), times.sizes)) == 1


@pytest.mark.parametrize(
    ("sizes", "chosen", "expected"),
    [
        ([8], ["a"], [(8, 8)]),
        ([0, 8], ["a", "a"], [(0, 8)]),
        ([0, 8], ["a", None], [(0, 0)]),
        ([8, 32, 128], [None, "a", None], [(17, 64)]),
        ([8, 32, 128], ["a", None, "a"], [(8, 16), (65, 128)]),
        ([8, 1 << 20], ["a", "a"], [(8, 8), (1 << 20, 1 << 20)]),  # nobody knows what is between
        ([8, 1 << 20], ["a", None], [(8, 8)]),
        ([8, 32], [None, None], []),
    ],
)
def test_ranges(sizes: list[int], chosen: list, expected: list[tuple[int, int]]) -> None:
    assert [(low, high) for low, high, _ in ranges(sizes, chosen)] == expected


def test_few_passes_have_no_interval() -> None:
    """Of five passes all may lie on one side of the truth in one case of sixteen."""
    library, grid = ({0: dict.fromkeys(range(5), seconds)} for seconds in (2.0, 1.0))
    found = gain(library, grid)
    assert (found.part, found.low, found.high) == (0.5, -inf, 1.0)


UNLIKE = [
    ({"library": "Open MPI v5.0.11, package: x"}, "of Open MPI v5.0.11"),
    ({"simulated": True}, "simulated and measured"),
    ({"layout": [k % 4 for k in range(16)]}, "placed differently"),
    ({"algorithm": "selector=ompi"}, "the run has another algorithm selector than the first run"),
]


@pytest.mark.parametrize(("other", "says"), UNLIKE, ids=[says for _, says in UNLIKE])
def test_runs_that_cannot_be_compared_are_refused(other: dict, says: str) -> None:
    runs = [launch({"library": 1.0}), launch({"library": 1.0}, **other)]
    with pytest.raises(InputError, match=says):
        read_times(runs)
