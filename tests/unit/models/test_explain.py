"""What to measure next is where rivals part, or where least is known."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from beds.golden import Golden
from isochrone import models
from isochrone.models.prediction.doubtful import switches
from isochrone.models.prediction.explain import Suggestion, suggestions
from made_up.steps import stepped

POWERS = (2, 4, 8, 16, 32)


def suggested(model: models.Model) -> Suggestion:
    ((where, (found,)),) = suggestions(model)
    assert where == {"op": "bcast"}
    return found


def test_steps_and_smooth_growth_are_told_apart_off_powers_of_two() -> None:
    """At powers of two log2(p) and its next whole number are the same."""
    model = models.fit(stepped(POWERS))
    found = suggested(model)
    p = found.variables["p"]
    assert p not in POWERS
    assert np.log2(p) % 1 > 0
    terms = [set(answer.terms) for answer in found.answers]
    assert any("log2(p)" in one for one in terms)
    assert any("ceil(log2(p))" in one for one in terms)
    assert found.answers[0].terms == tuple(model.segments[0].terms)
    assert sum(answer.weight for answer in found.answers) == pytest.approx(1.0)


def test_the_suggested_measurement_decides() -> None:
    """With it, the right formula is taken and the wrong one is no rival."""
    p = int(suggested(models.fit(stepped(POWERS))).variables["p"])
    model = models.fit(stepped((*POWERS, p)))
    rivals = [rival for segment in model.segments for rival in segment.rivals]
    assert all("ceil(log2(p))" in segment.terms for segment in model.segments)
    assert not any("log2(p)" in rival.terms for rival in rivals)


def test_without_rivals_it_is_the_farthest_or_a_gap() -> None:
    ranks = (2, 3, 4, 6, 8, 12, 16, 24, 32)
    found = suggested(models.fit(stepped(ranks)))
    assert found.answers == []
    assert found.variables["p"] == 64
    assert found.low < found.seconds < found.high
    model = models.fit(stepped(ranks, jump=2e-4), "tree", splits=models.parse_splits(["b"]))
    found = suggested(model)
    assert found.between
    assert found.variables["b"] == 8192


def test_no_more_ranks_are_suggested_than_can_be_started() -> None:
    ranks = (2, 3, 4, 6, 8, 12, 16, 24, 32)
    model = models.fit(stepped(ranks))
    ((_, (found,)),) = suggestions(model, max_ranks=40)
    assert 32 < found.variables["p"] <= 40


def test_a_class_of_ranks_that_was_not_measured_is_suggested() -> None:
    model = models.fit(stepped(POWERS), "tree")
    model.segments[0].rivals.clear()
    assert np.log2(suggested(model).variables["p"]) % 1 > 0


def test_points_within_a_budget_are_of_several_questions_two_of_each_at_most() -> None:
    """A gap between two segments, other classes of ranks, and beyond the data."""
    model = models.fit(stepped(POWERS, jump=2e-4), "tree", splits=models.parse_splits(["b"]))
    for segment in model.segments:
        segment.rivals.clear()
    (gap,) = switches(model.segments)
    ((_, found),) = suggestions(model, max_ranks=64, budget=600.0)
    costs = [one.cost for one in found]
    assert sum(costs) <= 600
    assert 1 <= sum(gap.below < one.variables["b"] < gap.above for one in found) <= 2
    assert any(np.log2(one.variables["p"]) % 1 > 0 for one in found)
    assert any(one.variables["p"] == 64 for one in found)
    ((_, fewer),) = suggestions(model, max_ranks=64, budget=1.01 * costs[0])
    assert fewer == found[:1]
    assert suggestions(model, max_ranks=64, budget=0.1)[0][1] == []


def test_messages_between_two_ranks_are_suggested_by_size() -> None:
    sizes = 2.0 ** np.arange(3, 16)
    model = models.fit({"b": sizes, "seconds": 1e-6 + 1e-9 * sizes}, "hockney")
    ((_, (found,)),) = suggestions(model)
    assert found.variables == {"b": 2 * sizes[-1]}


def test_a_model_that_was_read_holds_nothing_to_explain(tmp_path: Path, golden: Golden) -> None:
    models.write(models.fit(stepped(POWERS), "tree"), tmp_path / "m.json")
    with golden.refusal():
        suggestions(models.read(tmp_path / "m.json"))
