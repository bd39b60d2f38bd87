"""Models of times whose law is known: what is asked beyond the data is right, or known to be open.

A few draws of what `bench/modelling.py` draws often, and collectives that SimGrid has run with the
algorithms of MPICH (`tests/golden/simgrid`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest

from beds.mpis import ROOT
from isochrone import models
from isochrone.models import Samples
from made_up.tables import (
    BIG_JUMP,
    DESIGNS,
    Questions,
    big_jump_questions,
    draw,
    questions,
)
from made_up.truths import TRUTHS, named

TABLE = (
    "gather",
    "tree",
    "smooth log",
    "break at p*b",
    "break at b = c/log2(p)",
    "sqrt(p)",
    "bcast of MPICH",
)
"""Truths that are asked again and again."""

PLACES = ("inside", "2x", "4x")
OFTEN = ("2-16", "2-32", "2-32, powers of two")
OTHERS = tuple(truth.name for truth in TRUTHS if not truth.known)
SIMULATED = ROOT / "tests/golden/simgrid"


@dataclass(frozen=True)
class Judged:
    """Relative errors, and whether the 95 % intervals hold the truth, point by point."""

    errors: np.ndarray
    covered: np.ndarray


@cache
def judged(name: str, design: str) -> dict[str, Judged]:
    """Fit one draw of a truth, and ask for what was not measured."""
    truth, measured = named(name), DESIGNS[design]
    model = models.fit(draw(truth, measured, seed=len(name)))
    return {where: _judge(model, asked) for where, asked in questions(truth, measured).items()}


def _judge(model: models.Model, asked: Questions, **where: str) -> Judged:
    said = model.predict(asked.variables, **where)
    answered = np.isfinite(said.seconds)  # else: "the formula gives no time there"
    assert np.mean(answered) > 0.8
    covered = (said.low <= asked.seconds) & (asked.seconds <= said.high)
    errors = np.abs(said.seconds / asked.seconds - 1)
    return Judged(errors[answered], covered[answered])


def coverage(found: Sequence[dict[str, Judged]], where: str) -> float:
    """Return the part of the points that the intervals cover."""
    return float(np.mean(np.concatenate([one[where].covered for one in found])))


def test_truths_are_times_and_have_names_of_their_own() -> None:
    """Whatever is asked has a time above zero; else errors and coverage mean nothing."""
    p, b = np.meshgrid([2.0, 3, 7, 32, 128], [0.0, 8, 1000, 2**20])
    assert all(np.all(truth.seconds(p, b) > 0) for truth in TRUTHS)
    assert len({truth.name for truth in TRUTHS}) == len(TRUTHS)


@pytest.mark.few(3)
@pytest.mark.parametrize("name", TABLE)
def test_intervals_hold_the_truth_beyond_the_data(name: str) -> None:
    """What is among the forms is covered at twice and four times the most ranks, as inside."""
    found = [judged(name, design) for design in OFTEN]
    assert {where: coverage(found, where) for where in PLACES if coverage(found, where) < 0.9} == {}


@pytest.mark.full
def test_forms_that_are_not_known_are_seen_in_the_intervals() -> None:
    """Models with a wrong form say by their intervals that they may be wrong; none is sure of it.

    One draw of each: of all points eight of ten are covered, and four of ten of every truth.
    """
    found = {name: [judged(name, design) for design in OFTEN[:2]] for name in OTHERS}
    for where in PLACES:
        covered = {name: coverage(one, where) for name, one in found.items()}
        assert coverage([one for some in found.values() for one in some], where) > 0.8, covered
        assert min(covered.values()) > 0.4, covered


@pytest.mark.full
def test_four_times_the_ranks_are_predicted_well() -> None:
    """Over all truths the mean error at four times the most ranks (or bytes) is at most 5 %."""
    errors = {t.name: float(np.mean(judged(t.name, "2-32")["4x"].errors)) for t in TRUTHS}
    worst = sorted(errors, key=lambda name: -errors[name])[:5]
    assert np.mean(list(errors.values())) < 0.05, {name: errors[name] for name in worst}


def test_a_big_jump_does_not_spoil_what_was_held_out() -> None:
    """A jump by a factor of three between 50 and 100 kB: at most 1.5 % on points held out."""
    truth = named("big jump")
    model = models.fit(draw(truth, BIG_JUMP, seed=1))
    assert np.mean(_judge(model, big_jump_questions(truth)).errors) < 0.015


OPERATIONS = ("bcast", "reduce", "allreduce", "gather", "scatter", "allgather", "alltoall")


@cache
def simulated(stem: str, op: str) -> dict[str, Judged]:
    """Fit a simulated collective on up to 32 ranks, and ask for 64 and 128."""
    data = models.load([SIMULATED / f"{stem}.csv"]).only(op=op)
    ranks = data.variables["p"]
    model = models.fit(_part(data, ranks <= 32))
    rest = {f"{p}": _part(data, ranks == p) for p in (64, 128)}
    return {p: _judge(model, Questions(one.variables, one.seconds)) for p, one in rest.items()}


def _part(data: Samples, mine: np.ndarray) -> Samples:
    return data.rows(mine)


@pytest.mark.parametrize(("ranks", "limit"), [("64", 0.06), ("128", 0.09)])
def test_algorithms_that_a_library_selects_are_predicted(ranks: str, limit: float) -> None:
    """Fitted on 2 to 32 ranks, the mean error over the operations stays small beyond.

    Not of alltoall: two sizes are too few to tell what is done with short messages from 8 ranks on.
    """
    errors = {
        op: float(np.mean(simulated("mpich-flat", op)[ranks].errors))
        for op in OPERATIONS
        if op != "alltoall"
    }
    assert np.mean(list(errors.values())) < limit, errors


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("stem", "part"), [("mpich-flat", 0.9), ("mpich-16x8", 0.9), ("ompi-flat", 0.8)]
)
def test_algorithms_that_a_library_selects_are_covered(stem: str, part: float) -> None:
    """Nine of ten times of 64 and 128 ranks are within the intervals, of Open MPI's eight."""
    found = [simulated(stem, op) for op in OPERATIONS]
    assert {
        where: coverage(found, where) for where in ("64", "128") if coverage(found, where) < part
    } == {}
