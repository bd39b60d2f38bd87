"""What is said of a fitted model: by `fit`, and in a report."""

from __future__ import annotations

import pytest

from beds.golden import Golden
from isochrone import models
from isochrone.models import Model
from isochrone.models.data.load import joined
from isochrone.models.pages import model as pages
from isochrone.pages.page import Later, Listing, Picture, Sentence, Table, Warnings
from isochrone.pages.terminal import print_blocks
from made_up.hotspots import hotspot
from made_up.sweeps import collective, point_to_point
from rendered import blocks

SIZES = (0, 64, 256, 1024, 4096, 16384, 65536)


@pytest.fixture(scope="module")
def fitted() -> Model:
    """A model of broadcasts of many sizes on a few numbers of ranks."""
    runs = [collective(("bcast",), p, repeats=3) for p in (2, 4, 8)]
    return models.fit(joined([models.of_run(run) for run in runs]), "auto")


def test_a_fit_says_formula_coefficients_deviations_and_ranking(
    fitted: Model, golden: Golden
) -> None:
    found = pages.blocks(fitted)
    sentences = [block for block in found if isinstance(block, Sentence)]
    assert sentences[0].text.startswith(f"{fitted.family} model, op bcast: t = ")
    assert sentences[1].text.startswith("Deviation: ")
    assert "measured times" in sentences[1].text
    assert any(s.text.startswith("t = ") and s.about.startswith("op bcast") for s in sentences)
    coefficients, deviations, ranking = [block for block in found if isinstance(block, Table)][-3:]
    assert [column.title for column in coefficients.columns][-1] == "95 % interval"
    assert any(s.text.startswith("R² ") and s.text.endswith(" points") for s in sentences)
    assert deviations.title == "|predicted - measured| / the smaller" + " of both"
    rows = [row.cells[0] for row in deviations.rows]
    golden(rows[0])
    assert "leave-one-out" in rows
    golden(rows)
    assert "p = 4" in rows
    golden(deviations.more)
    golden(rows)
    golden(ranking.title)
    titles = [column.title for column in ranking.columns]
    assert titles == ["family", "error", "SICc", "coefficients", "segments", ""]
    taken = sum(len(segment.terms) for segment in fitted.segments)
    assert [ranking.rows[0].cells[3], ranking.rows[0].cells[-1]] == [str(taken), "<- taken"]
    assert any(isinstance(block, Warnings) for block in found)


def test_families_that_cannot_be_fitted_say_why_in_full(
    fitted: Model, capsys: pytest.CaptureFixture[str]
) -> None:
    """A long reason would squeeze the numbers if it stood in their table."""
    why = ("the terms are collinear " * 8).strip()
    row = {"family": "tree", "held_out": None, "reason": why}
    fitted.ranking[0]["families"].append(row)
    (listing,) = [block for block in pages.blocks(fitted) if isinstance(block, Listing)]
    assert listing.items[-1].about == "tree"
    print_blocks([listing])
    assert why in capsys.readouterr().out


def test_of_many_values_the_worst_are_listed(
    monkeypatch: pytest.MonkeyPatch, golden: Golden
) -> None:
    monkeypatch.setattr(pages, "MAX_DEVIATION_ROWS", 2)
    model = models.fit(models.of_run(point_to_point(sizes=SIZES)), "hockney")
    table = [block for block in pages.blocks(model) if isinstance(block, Table)][-1]
    if not table.more:  # the ranking comes last if there is one
        table = [block for block in pages.blocks(model) if isinstance(block, Table)][-2]
    golden(table.more)


def test_the_formula_a_sweep_asks_for_and_its_figure() -> None:
    (fit,) = blocks(point_to_point(sizes=SIZES), Later, "Model")
    found = fit.make()
    assert any(isinstance(block, Sentence) and block.text.startswith("t = ") for block in found)
    assert any(isinstance(block, Sentence) and "median" in block.text for block in found)
    picture = found[-1]
    assert isinstance(picture, Picture)
    assert isinstance(picture.options.model, Model)


def test_costs_of_messages_stand_for_the_formula_of_a_hotspot(golden: Golden) -> None:
    (fit,) = blocks(hotspot(noise=0.0), Later, "Model")
    first, *others = fit.make()
    assert isinstance(first, Sentence)
    assert first.about == "intra-first, 4 MiB, pa ≤ 1"
    assert first.stress == ("3.05 ms", "1.90 ms", "5.70 ms")
    picture = others[-1]
    assert isinstance(picture, Picture)
    golden(picture.title)


def test_where_no_formula_fits_it_is_said_why(golden: Golden) -> None:
    """Times of 0 in a coarse clock, or too few points."""
    (fit,) = blocks(hotspot(intra=1, inter=0, repeats=1), Later, "Model")
    why, bare = fit.make()
    assert isinstance(why, Sentence)
    golden(why.text)
    assert isinstance(bare, Picture)
    golden(bare.title)
