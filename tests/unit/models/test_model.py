"""A model answers in Python: keywords, arrays, data frames, levels, residuals and a summary."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import t as student

from beds.golden import Golden
from isochrone import models
from isochrone.base.errors import InputError
from isochrone.models import Model, Segment
from isochrone.models.data.load import joined
from made_up.times import grid, noisy, times, truth


def samples(noise: float = 0.02) -> models.Samples:
    """Return a gather and a broadcast, three repetitions of each point."""
    parts = []
    for op in ("gather", "bcast-log"):
        variables = grid(op)
        parts.append(noisy(times(truth(op), variables), variables, noise, 3, 1, op=op[:6]))
    return joined(parts)


@pytest.fixture(scope="module")
def model() -> Model:
    return models.fit(samples())


@pytest.fixture(scope="module")
def gather() -> Model:
    return models.fit(samples().only(op="gather"), "gather")


@pytest.mark.slow
def test_keywords_a_dict_and_both_together_are_one_question(model: Model) -> None:
    expected = model.predict({"p": 12, "b": 1 << 20}, op="gather")
    for found in (
        model.predict(p=12, b=1 << 20, op="gather"),
        model.predict({"p": 12}, b="1MiB", op="gather"),
        model.predict({"ranks": 12, "bytes": "1 MiB", "op": "gather"}),
        model.predict({"p": 12}, {"op": "gather"}, bytes=1 << 20),
        model.predict(pd.DataFrame({"op": ["gather"], "p": [12], "b": [1 << 20]})),
    ):
        assert found == expected
    assert expected.seconds.shape == (1,)


def test_arrays_are_broadcast_and_the_answer_has_their_shape(gather: Model) -> None:
    found = gather.predict(p=[[4], [8], [16]], b=[10_240, 20_480])
    assert found.seconds.shape == found.low.shape == found.high.shape == (3, 2)
    for i, p in enumerate((4, 8, 16)):
        for j, b in enumerate((10_240, 20_480)):
            alone = gather.predict(p=p, b=b).seconds[0]
            assert found.seconds[i, j] == pytest.approx(alone, rel=1e-12)
    assert gather.predict(p=np.arange(2, 9), b="20KiB").seconds.shape == (7,)
    assert gather.predict(p=pd.Series([4, 8]), b=10_240).seconds.shape == (2,)


def test_a_frame_gives_one_time_for_each_row_whatever_its_operation(
    model: Model, golden: Golden
) -> None:
    """Also with other columns, such as the measured times, and with its index in any order."""
    frame = pd.DataFrame(
        {
            "seconds": [1.0, 2.0, 3.0, 4.0],
            "bytes": [10_240, 20_480, 10_240, 40_960],
            "op": ["gather", "bcast-", "bcast-", "gather"],
            "p": [4, 8, 16, 32],
            "host": list("abcd"),
        },
        index=[3, 1, 2, 0],
    )
    found = model.predict(frame)
    for k, row in enumerate(frame.itertuples()):
        alone = model.predict(p=row.p, b=row.bytes, op=row.op)
        assert found.seconds[k] == pytest.approx(alone.seconds[0], rel=1e-12)
        assert found.low[k] == pytest.approx(alone.low[0], rel=1e-12)
        assert found.high[k] == pytest.approx(alone.high[0], rel=1e-12)
    assert model.predict(frame.to_dict("list")).seconds.tolist() == found.seconds.tolist()
    far = model.predict(
        pd.DataFrame({"op": ["gather", "bcast-"], "p": [4, 500], "b": [10_240] * 2})
    )
    golden(far.warnings[0])


@pytest.mark.parametrize("level", [0.5, 0.8, 0.95, 0.99])
def test_the_interval_is_that_of_the_level(gather: Model, level: float) -> None:
    """Its half width is Student's t of the degrees of freedom, times one standard error.

    It is a factor, so that the low end is above zero.
    """
    found, usual = gather.predict(p=8, b=10_240, level=level), gather.predict(p=8, b=10_240)
    freedom = gather.segments[0].degrees_of_freedom
    ratio = student.ppf((1 + level) / 2, freedom) / student.ppf(0.975, freedom)
    assert found.seconds == usual.seconds
    assert found.high - found.seconds == pytest.approx(ratio * (usual.high - usual.seconds))
    assert found.seconds / found.low - 1 == pytest.approx(ratio * (usual.seconds / usual.low - 1))


CASES = [
    ({"p": 4}, "the variable 'b' is missing"),
    ({"p": 4, "b": "1XB"}, "'b' is '1XB', not a finite number"),
    ({"p": None, "b": 1}, "'p' is 'None', not a finite number"),
    ({"p": 4, "b": -1}, "negative or not a number"),
    ({"p": [2, 3], "b": [1, 2, 3]}, "different lengths"),
    ({"p": [[2], [3, 4]], "b": 1}, "'p' are not equally long"),
    ({"p": 4, "ranks": 4, "b": 1}, "'p' is given twice"),
    ({"variables": {"p": 4}, "p": 4, "b": 1}, "'p' is given twice"),
    ({"p": 4, "b": 1, "size": 3}, "does not record its 'size'"),
    ({"p": 4, "b": 1, "op": "scan"}, "not cover op 'scan'"),
    ({"p": 4, "b": 1, "level": 95}, "the confidence level is 95, not between 0 and 1"),
    (
        {"variables": pd.DataFrame({"op": ["gather", "scan"], "p": 4, "b": 1})},
        "not cover op 'scan'",
    ),
    ({"variables": pd.DataFrame({"op": [], "p": [], "b": []})}, "no values to predict are given"),
]


def test_a_wrong_question_is_refused_in_one_line(model: Model, subtests: pytest.Subtests) -> None:
    for asked, says in CASES:
        with subtests.test(str((asked, says))):
            with pytest.raises(InputError, match=says) as caught:
                model.predict(**({"op": "gather"} | asked if "variables" not in asked else asked))
            assert "\n" not in str(caught.value)


def test_residuals_are_of_each_point_and_relative_to_the_formula(model: Model) -> None:
    found = model.residuals()
    frame = pd.DataFrame(found)
    assert list(frame) == ["op", "b", "p", "seconds", "predicted", "residual"]
    assert len(frame) == 160
    assert frame.predicted.to_numpy() == pytest.approx(model.predict(frame).seconds, rel=1e-12)
    assert frame.residual.to_numpy() == pytest.approx(frame.seconds / frame.predicted - 1)
    assert frame.residual.abs().max() < 0.1


def test_residuals_of_other_times_than_those_of_the_fit(
    model: Model, tmp_path: Path, golden: Golden
) -> None:
    """Of a frame, of one operation, and of a model that was read; not of what it is not for."""
    frame = pd.DataFrame({"op": "gather", "p": [4, 8], "b": [10_240] * 2, "seconds": [1e-3, 1e-3]})
    frame["seconds"] = 1.2 * model.predict(frame).seconds
    assert model.residuals(frame)["residual"] == pytest.approx([0.2, 0.2])
    models.write(model, tmp_path / "m.json")
    read = models.read(tmp_path / "m.json")
    assert read == model
    assert read.residuals(frame)["residual"] == pytest.approx([0.2, 0.2])
    with golden.refusal():
        read.residuals()
    with golden.refusal():
        model.residuals(frame.assign(op="scan"))


def test_what_a_model_was_fitted_to_is_kept_in_memory_only(model: Model) -> None:
    assert model.samples is not None
    assert len(model.samples.seconds) == 480
    assert "samples" not in models.document(model)
    assert "seconds" not in str(models.document(model)["pieces"])


def test_the_summary_says_what_fit_prints_of_a_model(model: Model) -> None:
    """The formula of each segment, its coefficients with their intervals, and the candidates."""
    model.ranking[0]["families"][0]["sicc"] = -123.456  # as the engine puts it there
    text = model.summary()
    for segment, heading in model.headed:
        assert segment.low is not None and segment.high is not None
        assert heading in text
        for k, term in enumerate(segment.terms):
            interval = f"[{segment.low[k]:.5g}, {segment.high[k]:.5g}]"
            (line,) = [line for line in text.splitlines() if line.endswith(interval)]
            assert f" {term} " in line
            assert f" {segment.coefficients[k]:.5g} " in line
    for said in ("R² 0.99", "-123.5", "leave-one-out", "leave-one-group-out by p"):
        assert said in text
    assert max(map(len, text.splitlines())) <= 200


def test_a_published_model_has_a_summary_without_what_is_not_known() -> None:
    text = Model([Segment("gather", ["1", "p*b"], [1e-3, 1e-9])]).summary()
    assert "gather model" in text
    assert "R²" not in text
    assert "0.001" in text


def test_who_does_not_say_which_operation_is_told_all_there_are(model: Model) -> None:
    with pytest.raises(InputError) as refused:
        model.predict(p=12, b=1 << 20)
    assert {"gather", "bcast-"} <= set(refused.value.hint.replace(":", ",").split(", "))
