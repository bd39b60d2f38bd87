"""A model knows what it is of, and refuses what its formulas do not hold."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from beds.golden import Golden
from beds.mpis import ROOT
from isochrone import models
from isochrone.collective_io.variables.hotspot import VARIABLES
from isochrone.models import Model, Segment, of_run
from isochrone.models.prediction.questions import subject
from made_up.hotspots import hotspot
from made_up.sweeps import bisection, collective, point_to_point


def line(**segment: object) -> Segment:
    return Segment("hockney", ["1", "b"], [1e-6, 1e-9], **segment)  # type: ignore[arg-type]


def of(model: Model) -> str:
    return subject(model.experiment, model.segments)


@pytest.mark.parametrize("path", sorted((ROOT / "examples/models").glob("*.json")), ids=str)
def test_a_published_model_says_what_it_is_of(path: Path) -> None:
    expected = VARIABLES.subject if "tachyon" in path.stem else "collective"
    assert of(models.read(path)) == expected


def test_what_was_measured_is_known_from_the_model() -> None:
    """Also of a collective on one number of ranks, whose formula has no p."""
    alone = models.fit(collective(("bcast",), 4))
    assert alone.variables == ["b"]
    assert (of(alone), alone.experiment) == ("collective", "collective")
    pair = models.fit(point_to_point())
    assert (of(pair), pair.experiment) == ("message", "point-to-point")
    hot = models.fit(hotspot(), "hotspot")
    assert (of(hot), hot.experiment) == (VARIABLES.subject, "hotspot")


def test_bisections_are_messages_although_they_have_ranks() -> None:
    assert of(models.fit([bisection(p) for p in (4, 8)])) == "message"


def test_files_that_do_not_record_it_are_judged_by_their_variables() -> None:
    assert of(Model([line()])) == "message"
    assert of(Model([line(where={"op": "bcast"})])) == "collective"
    assert of(Model([Segment("ring", ["1", "p"], [1e-6, 1e-6])])) == "collective"
    assert of(Model([Segment("compute", ["n"], [1e-9])])) == "computation"


def test_what_was_measured_is_kept_in_the_file(tmp_path: Path) -> None:
    models.write(models.fit(collective(("bcast",), 4)), tmp_path / "m.json")
    again = models.read(tmp_path / "m.json")
    assert again.experiment == "collective"
    assert again.segments[0].fitted["p"] == (4, 4)


def test_ranks_that_were_not_measured_are_refused_by_a_formula_without_them(golden: Golden) -> None:
    """It would give 4 and 4,096 ranks the same time."""
    model = models.fit(collective(("bcast",), 4))
    assert model.predict({"p": 4, "b": 1024}).warnings == []
    with golden.refusal():
        model.predict({"p": [4, 4096], "b": 1024})


def test_a_family_named_against_the_data_is_doubtful(golden: Golden) -> None:
    """Several numbers of ranks went into a formula without any."""
    runs = [of_run(collective(("bcast",), p)) for p in (4, 16)]
    model = models.fit(runs, "hockney")
    found = model.predict({"p": [4, 8], "b": 1024})
    golden(found.warnings[0])
    with golden.refusal():
        model.predict({"p": 64, "b": 1024})


def test_what_an_older_file_does_not_record_is_a_warning(golden: Golden) -> None:
    found = Model([line()]).predict({"p": 64, "b": 0})
    assert found.seconds == pytest.approx(1e-6)
    golden(found.warnings)


def test_sizes_that_make_no_difference_may_be_asked_for(golden: Golden) -> None:
    """Small messages along a tree: a formula without b, found for several b."""
    segment = Segment(
        "tree", ["1", "ceil(log2(p))"], [1e-6, 2e-6], fitted={"p": (2, 16), "b": (0, 64)}
    )
    found = Model([segment]).predict({"p": 4, "b": [0, 8, 64]})
    np.testing.assert_allclose(found.seconds, 5e-6)
    assert found.warnings == []
    with golden.refusal():
        Model([segment]).predict({"p": 4, "b": 1 << 20})
