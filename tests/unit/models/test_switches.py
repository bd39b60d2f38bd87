"""Where segments change is an interval: it is named, and what lies within it is doubtful."""

from __future__ import annotations

import numpy as np
import pytest

from beds.golden import Golden
from isochrone import models
from isochrone.base.errors import InputError
from isochrone.models import Model, parse_splits
from isochrone.models.prediction.doubtful import nowhere_near, switches
from made_up.steps import stepped

RANKS = (2, 3, 4, 6, 8, 12, 16)


@pytest.fixture(scope="module")
def jumping() -> Model:
    """A jump between 4 and 16 KiB."""
    return models.fit(stepped(RANKS, jump=2e-4), "tree", splits=parse_splits(["b"]))


def test_a_switch_is_a_gap_with_a_guess_in_it(jumping: Model) -> None:
    (switch,) = switches(jumping.segments)
    assert (switch.name, switch.below, switch.above) == ("b", 4096, 16384)
    assert str(switch).startswith("somewhere between 4 KiB and 16 KiB (assumed: 8 KiB")


def test_a_point_in_the_gap_is_said_to_be_between_two_segments(
    jumping: Model, golden: Golden
) -> None:
    said = jumping.predict(p=8, b=["6KiB", "8KiB"]).warnings
    golden(said)
    found = jumping.predict(p=8, b="12KiB")
    golden(found.warnings[0])
    point = {"p": np.array([8.0]), "b": np.array([12288.0])}
    below, above = (segment.evaluate(point, "relative")[0][0] for segment in jumping.segments)
    assert found.low[0] < below < above < found.high[0]


def test_measured_sizes_at_the_ends_of_the_gap_are_in_one_segment(jumping: Model) -> None:
    assert jumping.predict(p=8, b=["4KiB", "16KiB"]).warnings == []


def test_bounds_that_were_given_are_no_gaps() -> None:
    model = models.fit(stepped(RANKS, jump=2e-4), "tree", splits=parse_splits(["b:12KiB"]))
    assert switches(model.segments) == []
    assert not any("between" in text for text in model.predict(p=8, b="10KiB").warnings)


def test_a_known_switch_in_the_gap_is_where_it_is_taken(golden: Golden) -> None:
    """The default of the library, as its own variable says it."""
    splits = parse_splits(["b"], breakpoints=["b:12288,512KiB"])
    assert splits.known == {"b": [12288.0, 524288.0]}
    model = models.fit(stepped(RANKS, jump=2e-4), "tree", splits=splits)
    assert [switch.taken for switch in switches(model.segments)] == [12288]
    below, above = (model.predict(p=8, b=size).seconds[0] for size in (12288, 12289))
    assert above - below > 1e-4
    golden(nowhere_near(model.segments, splits.known))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("b", "the breakpoint 'b' has no value"),
        ("b:2,1", "not increasing"),
        ("x:4", "'x' is not a term"),
        ("p:many", "a valid breakpoint of 'p'"),
        ("b:1XB", "1XB"),
    ],
)
def test_a_known_switch_that_is_none_is_refused(text: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        parse_splits(None, breakpoints=[text])


def test_known_switches_alone_leave_the_search_as_it_is() -> None:
    assert parse_splits(None, breakpoints=["p:8"]).along is None


def test_an_end_that_keeps_out_no_point_is_no_end() -> None:
    """A jump in b, and more beyond 256 KiB in all: no formula of small sizes ends along p*b."""
    p, b = (column.ravel() for column in np.meshgrid([4.0, 8, 16, 32], 4.0 ** np.arange(2, 11)))
    steps, noise = np.ceil(np.log2(p)), np.random.default_rng(1).normal(0, 0.01, len(p))
    small = 1e-5 + 3e-5 * steps
    large = 7e-5 * p + 2e-9 * b + np.where(p * b > 262144, 3e-5 * p, 0)
    seconds = np.where(b <= 8192, small, large) * np.exp(noise)
    model = models.fit({"op": ["allreduce"] * len(p), "p": p, "b": b, "seconds": seconds})
    sizes = [64.0, 1024.0, 4096.0]
    found = model.predict(p=256, b=sizes)
    assert found.by_formula == pytest.approx([1e-5 + 3e-5 * 8] * len(sizes), rel=0.1)
