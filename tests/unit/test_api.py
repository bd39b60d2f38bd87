"""What `import isochrone` offers: the same answers as the command line, from runs or files."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import isochrone
from beds.command_line import run_here
from beds.golden import Golden
from beds.mpis import ROOT
from isochrone.base.errors import InputError
from isochrone.runfile.file import write
from made_up import sweeps
from made_up.latency_maps import cyclic, latency_map
from made_up.launches import launches

OSU = ROOT / "tests/golden/osu/latency-7.2.txt"


@pytest.fixture
def map_file(tmp_path: Path) -> Path:
    write(latency_map(["a", "a", "b", "b"]), tmp_path / "map.jsonl")
    return tmp_path / "map.jsonl"


def test_all_public_names_are_there_and_loaded_on_first_use(golden: Golden) -> None:
    """The package is light until something is used: no numpy for ``isochrone --help``."""
    assert {"analyse", "compare", "plot", "measure", "fit", "read"} <= set(isochrone.__all__)
    assert all(callable(getattr(isochrone, name)) for name in isochrone.__all__)
    assert set(isochrone.__all__) <= set(dir(isochrone))
    code = (
        "import sys, isochrone; sys.exit('numpy' in sys.modules or 'isochrone.api' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
    with golden.refusal(kind=AttributeError):
        _ = isochrone.weather  # type: ignore[attr-defined]


def test_measure_is_a_function_whatever_was_imported_before() -> None:
    """`isochrone.measure` is a package, too: importing from it must not take the function away."""
    code = (
        "import isochrone.measure.probe; from isochrone import measure; "
        "assert callable(measure) and callable(isochrone.measure)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_an_analysis_is_the_document_and_the_words_of_show(map_file: Path) -> None:
    found = isochrone.analyse(map_file)
    printed = json.loads(run_here("show", map_file, "--json").stdout)
    assert json.loads(json.dumps(found.to_json())) == printed
    assert found["levels"][0]["name"] == printed["levels"][0]["name"]
    assert str(found) == run_here("show", map_file).stdout.rstrip()
    assert isochrone.analyse(isochrone.read(map_file)).to_json() == found.to_json()


def test_pairs_of_a_map_have_estimates() -> None:
    run = latency_map(cyclic(6, 4), noise=0.01, missing=lambda i, j: (i, j) == (0, 1))
    seconds, half = isochrone.analyse(run).estimates(0, [1, 2, 6])
    assert seconds == pytest.approx([9.8e-6, 9.8e-6, 1.2e-6], rel=0.02)
    assert ((half > 0) & (half < 0.1 * seconds)).all()


def test_output_of_other_programs_is_read_analysed_and_fitted() -> None:
    assert isochrone.read(OSU).origin == "imported"
    assert isochrone.analyse(OSU)["origin"] == "imported"
    assert isochrone.fit(OSU, "hockney").family == "hockney"
    assert isochrone.fit([OSU, OSU], "hockney").origin == "imported"


def test_launches_are_compared_from_runs_paths_and_numbered_files(tmp_path: Path) -> None:
    slow = launches(5, np.random.default_rng(2), factor=1.5, between=0.01)
    for number, run in enumerate(launches(5, np.random.default_rng(1), between=0.01), start=1):
        write(run, tmp_path / f"a-{number}.jsonl")
    by_name = isochrone.compare(tmp_path / "a.jsonl", slow)
    by_path = isochrone.compare([tmp_path / f"a-{k}.jsonl" for k in range(1, 6)], slow)
    assert by_name.to_json() == by_path.to_json()
    assert {point.verdict for point in by_name.points} == {"slower"}
    same = isochrone.compare(slow[0], slow[0])
    assert same.launches == (1, 1)


def test_figures_are_drawn_and_written(map_file: Path, tmp_path: Path, golden: Golden) -> None:
    figure = isochrone.plot(map_file, output=tmp_path / "map.svg")
    assert figure.axes
    assert (tmp_path / "map.svg").read_text().lstrip().startswith("<?xml")
    assert isochrone.plot([sweeps.point_to_point(), sweeps.point_to_point(seed=8)], "bandwidth")
    with golden.refusal():
        isochrone.plot(map_file, colour="red")


def test_each_result_is_plotted_in_the_place_of_given_axes(map_file: Path, tmp_path: Path) -> None:
    """Two views in one figure: each within its axes, with text scaled to them."""
    from matplotlib.figure import Figure

    run = isochrone.read(map_file)
    sweep = sweeps.point_to_point()
    slow = launches(3, np.random.default_rng(2), factor=1.5)
    found = isochrone.compare(launches(3, np.random.default_rng(1)), slow)
    figure = Figure(figsize=(12, 10))
    places = figure.subplots(2, 3).ravel()
    plots = (run.plot, isochrone.analyse(run).plot, found.plot, isochrone.fit(sweep).plot)
    for ax, plot in zip(places, plots, strict=False):
        assert plot(ax=ax) is figure
    assert isochrone.plot(map_file, "surface", tmp_path / "all.svg", ax=places[4]) is figure
    assert (tmp_path / "all.svg").exists()
    assert len(figure.subfigs) == 5
    for ax, part in zip(places, figure.subfigs, strict=False):
        assert part.bbox.bounds == pytest.approx(ax.bbox.bounds)
        assert part.axes
        if ax is not places[4]:  # space reaches beyond its frame
            assert all(part.bbox.padded(1).contains(*one.bbox.p0) for one in part.axes)
    whole = run.plot().texts[0].get_fontsize()
    assert figure.subfigs[0].texts[0].get_fontsize() < 0.8 * whole


def test_what_cannot_be_is_one_line(tmp_path: Path) -> None:
    for wrong in (
        lambda: isochrone.analyse(tmp_path / "nowhere"),
        lambda: isochrone.compare([], []),
        lambda: isochrone.plot([]),
        lambda: isochrone.measure("weather"),
        lambda: isochrone.measure("synthetic", launcher="rsh"),
        lambda: isochrone.measure(
            "latency-map",
            2,
            launcher_options={"platform": "none.xml"},
            launcher="simgrid",
            mpicc="none-cc",
        ),
    ):
        with pytest.raises(InputError) as caught:
            wrong()
        assert "\n" not in str(caught.value)


def test_data_frames_have_the_hosts_of_ranks(map_file: Path) -> None:
    run = isochrone.read(map_file)
    frame = run.to_pandas()
    assert frame[["i", "j", "host_i", "host_j"]].iloc[1].tolist() == [0, 2, "a", "b"]
    ranks = run.to_pandas("rank")
    assert ranks["host"].tolist() == ["a", "a", "b", "b"]
    assert ranks["rank"].tolist() == [0, 1, 2, 3]
    pair = sweeps.point_to_point(sizes=(8, 64), repeats=2).to_pandas()
    assert (set(pair["host_i"]), set(pair["host_j"])) == ({"n0"}, {"n1"})
    assert "times" in sweeps.collective(sizes=(8,), repeats=2).to_pandas()


def test_maps_comparisons_and_predictions_are_data_frames_in_seconds(
    map_file: Path, tmp_path: Path
) -> None:
    """One name of the time in all of them, so that frames can be joined."""
    frame = isochrone.read(map_file).to_pandas()
    assert frame["seconds"].tolist() == frame["median"].tolist()
    dice = np.random.default_rng(3)
    found = isochrone.compare(*(launches(3, dice, factor=f) for f in (1.0, 2.0)))
    points = found.to_pandas()
    assert points["ratio"].tolist() == [one.ratio for one in found.points]
    assert set(points["verdict"]) == {one.verdict for one in found.points}
    sizes = [8, 64, 512, 4096, 32768]
    model = isochrone.fit({"b": sizes, "seconds": [1e-6 + 1e-9 * b for b in sizes]}, "hockney")
    model.save(tmp_path / "m.json")
    again = type(model).load(tmp_path / "m.json").predict(b=[[8], [64]]).to_pandas()
    assert again["seconds"].tolist() == pytest.approx([1.008e-6, 1.064e-6], rel=1e-3)
    assert list(again) == ["b", "seconds", "low", "high"]
    terms = model.to_pandas()
    assert terms["term"].tolist() == ["1", "b"]
    assert terms["coefficient"].tolist() == pytest.approx([1e-6, 1e-9], rel=1e-3)


def test_a_prediction_is_plotted_with_a_line_for_each_other_value() -> None:
    """In the axes it is given; a point for each time, a band for each line."""
    from matplotlib.figure import Figure

    sizes, ranks = np.array([8, 64, 512]), np.array([2, 4, 8, 16])
    rows = [{"p": p, "b": b, "seconds": 1e-6 * p + 1e-9 * b} for p in ranks for b in sizes]
    model = isochrone.fit(rows)
    figure = Figure()
    ax = figure.subplots()
    assert model.predict(p=ranks[:, None], b=sizes).plot(ax=ax) is figure
    assert len(ax.lines) == len(ax.collections) == len(sizes)
    assert [len(line.get_xdata()) for line in ax.lines] == [4, 4, 4]
    assert ax.get_xlabel() == "ranks"
    assert model.predict(p=4, b=8).plot().axes
    nothing = replace(model.predict(p=4, b=8), seconds=np.array([np.nan]))
    with pytest.raises(InputError):
        nothing.plot()


def test_tables_of_arrow_are_the_data_frames(map_file: Path, golden: Golden) -> None:
    """With nulls for what is not known; lists of the times of ranks stay lists."""
    run = isochrone.read(map_file)
    table = run.to_arrow()
    assert table.column_names == list(run.to_pandas().columns)
    assert table["median"].to_pylist() == run.pairs()["median"].tolist()
    assert json.loads(table.schema.metadata[b"isochrone"])["experiment"] == "latency-map"
    assert run.to_arrow("rank")["host"].to_pylist() == ["a", "a", "b", "b"]
    each = sweeps.collective(sizes=(8,), repeats=2).to_arrow()
    assert len(each["times"][0].as_py()) == 8
    run.tables["pair"].columns["median"][0] = np.nan
    assert run.to_arrow()["median"][0].as_py() is None
    run.tables["pair"].columns["note"] = np.array(["x", *range(5)], dtype=object)
    with golden.refusal():
        run.to_arrow()


def test_a_map_is_an_array_of_xarray(map_file: Path, golden: Golden) -> None:
    run = isochrone.read(map_file)
    found = run.to_xarray()
    assert found.dims == ("bytes", "i", "j")
    nbytes = run.message_sizes()[0]
    assert found.sel(bytes=nbytes, i=0, j=3).item() == run.matrix(nbytes=nbytes)[0, 3]
    assert found.attrs == {"units": "s", "origin": "measured"}
    assert found.host_i.values.tolist() == run.hosts
    assert np.isnan(found.sel(i=1, j=1)).all()
    with golden.refusal():
        run.to_xarray("weather")


def test_notebooks_show_results_with_escaped_names(map_file: Path) -> None:
    """Names of hosts come from elsewhere."""
    slow = launches(5, np.random.default_rng(2), factor=1.5, between=0.01)
    found = isochrone.compare(launches(5, np.random.default_rng(1), between=0.01), slow)
    assert "<td>slower" in found._repr_html_()
    hosts = ["<b>", "<b>", "c", "d"]
    run = latency_map(hosts)
    shown = isochrone.analyse(run)._repr_html_()
    assert shown.startswith("<pre>")
    assert "<b>" not in shown
    model = isochrone.fit(OSU, "hockney")
    assert model.predict(b=[8, 64])._repr_html_().count("<tr>") == 2
