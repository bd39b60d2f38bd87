"""A mean that another program printed has no interval, and none is shown anywhere."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from matplotlib.collections import LineCollection

from beds.mpis import ROOT
from drawn import draw
from drawn import words as drawn_words
from isochrone.base import registry
from isochrone.cli.main import main
from isochrone.formats.exporters import gnuplot
from isochrone.formats.importers import imb, osu
from isochrone.pages.words import interval
from isochrone.runfile.any_file import read_all
from isochrone.runfile.run import Run
from isochrone.sweep.curves import curves
from isochrone.sweep.switches import switches
from made_up.sweeps import point_to_point
from rendered import document, report, show, words

GOLDEN = ROOT / "tests/golden"


def imported() -> dict[str, Run]:
    return {
        "imb": read_all(GOLDEN / "imb/several.txt")[1],
        "imb-pingpong": imb.IMPORTER.read(GOLDEN / "imb/pingpong-2021.txt"),
        "osu": osu.IMPORTER.read(GOLDEN / "osu/latency-7.2.txt"),
        "osu-full": osu.IMPORTER.read(GOLDEN / "osu/bcast-7.0-full.txt", ranks=4),
    }


@pytest.mark.few(2)
@pytest.mark.parametrize("name", imported())
def test_no_interval_is_shown_of_means(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Neither on the terminal, nor in JSON, nor in a report."""
    run = imported()[name]
    assert not any(point.has_interval for curve in curves(run) for point in curve.points)
    assert "interval" not in show(capsys, tmp_path, run)
    for curve in document(capsys, tmp_path, run)["curves"]:
        for point in curve["points"]:
            assert (point["low"], point["high"]) == (None, None)
            assert "bandwidth_low" not in point
    said = words(report(tmp_path, run))
    assert "95 % interval is" not in said
    assert "95 % interval n" not in said


@pytest.mark.parametrize("view", ["time", "bandwidth", "ranks"])
def test_no_error_bars_are_drawn_of_means(view: str) -> None:
    figure = draw(registry.load("*.figures", view).VIEW, [imported()["imb"]])
    assert "error bars" not in drawn_words(figure)
    bars = [
        found
        for axes in figure.axes
        for found in axes.collections
        if isinstance(found, LineCollection) and len(found.get_segments())
    ]
    assert bars == []
    measured = draw(registry.load("*.figures", "time").VIEW, [point_to_point()])
    assert "error bars" in drawn_words(measured)


def test_no_interval_is_exported_of_means(tmp_path: Path) -> None:
    """Gnuplot would leave out points whose interval is not a number."""
    gnuplot.write(imported()["osu"], tmp_path / "a.dat")
    rows = [
        line.split()
        for line in (tmp_path / "a.dat").read_text().splitlines()
        if line and not line.startswith("#")
    ]
    assert {(row[3], row[4]) for row in rows} == {("NaN", "NaN")}
    script = (tmp_path / "a.gp").read_text()
    assert "yerrorlines" not in script
    assert "using 1:3 with linespoints" in script


def test_switches_are_found_among_means_all_the_same() -> None:
    run = point_to_point(repeats=1, noise=0.001)
    (curve,) = curves(run)
    assert not curve.points[0].has_interval
    assert [change.before for change in switches(curve)] == [131072]


def test_six_means_have_an_interval_of_their_own(tmp_path: Path) -> None:
    """The same table from six launches: their spread is seen, that within each is not."""
    text = (GOLDEN / "imb/pingpong-2021.txt").read_text()
    (tmp_path / "a.txt").write_text(text * 6)
    (curve,) = curves(imb.IMPORTER.read(tmp_path / "a.txt"))
    assert all(point.has_interval for point in curve.points)
    (tmp_path / "a.txt").write_text(text * 5)
    (curve,) = curves(imb.IMPORTER.read(tmp_path / "a.txt"))
    assert not any(point.has_interval for point in curve.points)
    assert interval(curve.points[0]) == "–"


def test_json_stays_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An interval that is not known is null and not NaN."""
    show(capsys, tmp_path, imported()["imb"])
    assert main(["show", "--json", str(tmp_path / "a.jsonl")]) == 0
    json.loads(capsys.readouterr().out, parse_constant=lambda text: pytest.fail(text))
    assert np.isnan(curves(imported()["imb"])[0].points[0].low)
