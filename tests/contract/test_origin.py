"""Where times come from stays with them: nothing made from simulated data calls them measured."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from beds.golden import Golden
from drawn import words as drawn_words
from isochrone import models, views
from isochrone.base import registry
from isochrone.cli.main import main
from isochrone.collective_io.orders.compared_orders import ComparedOrder, ComparedOrders
from isochrone.models.data.load import samples_of
from isochrone.pages.html.render import write_report
from isochrone.runfile import file as runs
from isochrone.runfile.origin import together, with_noun
from isochrone.runfile.run import Run
from isochrone.views.view import ORDERS, TABLE
from made_up.emulations import emulation
from made_up.grid_runs import grid_run
from made_up.hotspots import exchange, hotspot, tile_io
from made_up.io_recordings import io_recording
from made_up.latency_maps import block, latency_map
from made_up.recordings import halo_recording
from made_up.sweeps import collective
from rendered import words

MEASURED = re.compile(r"(?<!not )(?<!was )\bmeasured\b(?! again)", re.IGNORECASE)
"""A word that says where times are from; what was not measured, or again, is another matter."""

SIZES = (0, 64, 4096, 65536, 1 << 20)


def simulated(run: Run) -> Run:
    run.header["clock"] = {"source": "MPI_Wtime", "simulated": True}
    return run


def sweeps() -> list[Run]:
    return [collective(("bcast",), p, sizes=SIZES, repeats=4, noise=0.01) for p in (4, 8, 16)]


def examples() -> dict[str, list[Run]]:
    """Return runs of each kind of result."""
    return {
        "sweep": sweeps(),
        "latency-map": [latency_map(block(4, 4), nbytes=(64, 1024))],
        "hotspot": [hotspot(intra=3, inter=3)],
        "tile-io": [exchange()],
        "emulation": [emulation()],
        "recording": [halo_recording(2, 2)],
        "io-recording": [io_recording()],
    }


def written(folder: Path, made: list[Run]) -> list[str]:
    paths = [folder / f"{number}.jsonl" for number in range(len(made))]
    for run, path in zip(made, paths, strict=True):
        runs.write(run, path, overwrite=True)
    return [str(path) for path in paths]


@pytest.mark.few(2)
@pytest.mark.parametrize("name", registry.names("*.figures"))
def test_a_picture_of_simulated_data_says_so(name: str) -> None:
    view = registry.load("*.figures", name).VIEW
    for kind in view.kinds:
        if kind == ORDERS:
            one = ComparedOrder(["given"], [0], ["a"], [2], 0.1, 0.05, 0.2, [0.1, 0.12])
            orders = ComparedOrders([one], origin="simulated", model_origin="simulated")
            said = drawn_words(view.draw([orders], views.Options()))
            assert "simulated" in said.lower()
            assert not MEASURED.search(said), said
            continue
        runs_of_it = examples()["sweep" if kind == TABLE else kind]
        if name == "grids":
            runs_of_it = [grid_run(repeats=2), grid_run(24, ("4x6",), repeats=2)]
        if name == "history" and kind == "tile-io":
            runs_of_it = [tile_io()]  # it draws times, and counts of messages have none
        made: list[Any] = [simulated(run) for run in runs_of_it]
        made = [samples_of(run) for run in made] if kind == TABLE else made
        made = made if view.several else made[:1]
        said = drawn_words(view.draw(made, views.Options()))
        assert "simulated" in said.lower(), (name, kind, said)
        assert not MEASURED.search(said), (name, kind, said)


def test_a_picture_of_grids_calls_the_deviations_of_simulated_times_so() -> None:
    made = [simulated(grid_run(ops=("bcast",)))]
    view = registry.load("*.figures", "grids").VIEW
    said = drawn_words(view.draw(made, views.Options(model=models.fit(made))))
    assert "|predicted - simulated| / the smaller" in said
    assert not MEASURED.search(said)


@pytest.mark.parametrize("name", ["fit", "deviation", "plane"])
def test_a_picture_of_measured_data_says_so(name: str) -> None:
    made = examples()["hotspot" if name == "plane" else "sweep"]
    view = registry.load("*.figures", name).VIEW
    assert MEASURED.search(drawn_words(view.draw(made, views.Options())))


def test_a_picture_of_mixed_data_and_of_a_model_of_others_says_both(golden: Golden) -> None:
    first, *others = sweeps()
    view = registry.load("*.figures", "fit").VIEW
    said = drawn_words(view.draw([simulated(first), *others], views.Options()))
    golden(said)
    model = models.fit([simulated(run) for run in sweeps()], "bcast-log")
    said = drawn_words(view.draw(sweeps(), views.Options(model=model)))
    assert "Measured times" in said
    golden(said)


@pytest.mark.few(3)
@pytest.mark.parametrize("kind", list(examples()))
def test_what_show_and_report_say_of_simulated_data(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = [simulated(run) for run in examples()[kind]]
    paths = written(tmp_path, made)
    assert main(["show", *paths]) == 0
    said = capsys.readouterr().out
    assert said.lower().count("simulated") >= len(made)
    assert not MEASURED.search(said), said
    assert main(["show", "--json", paths[0]]) == 0
    assert json.loads(capsys.readouterr().out)["origin"] == "simulated"
    write_report(made, tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text("utf-8")
    assert not MEASURED.search(words(text)), words(text)
    assert not MEASURED.search(re.sub(r"<style.*?</style>", "", text, flags=re.DOTALL))


def test_every_kind_of_page_is_tested_here() -> None:
    """Clocks have no times of messages."""
    assert {*examples(), "clocks"} == set(registry.names("*.kinds"))


@pytest.mark.parametrize(
    ("change", "origin"),
    [
        ("measured", "measured"),
        ("simulated", "simulated"),
        ("made_up", "synthetic"),
        ("imported", "imported"),
    ],
)
def test_a_model_and_its_prediction_say_where_the_times_are_from(
    change: str, origin: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """From the run file into what `fit` prints, the model file, and predictions of both kinds."""
    made = sweeps()
    for run in made:
        run.header |= {
            "measured": {},
            "simulated": {"clock": {"simulated": True}},
            "made_up": {"kind": "sweep", "by": ["op", "p"], "made_up": True},
            "imported": {"imported": {"format": "csv"}},
        }[change]
    model = tmp_path / "model.json"
    assert main(["fit", *written(tmp_path, made), "--family", "bcast-log", "-o", str(model)]) == 0
    said = capsys.readouterr().out
    assert with_noun(origin) in said
    assert bool(MEASURED.search(said)) == (origin == "measured"), said
    assert json.loads(model.read_text())["origin"] == origin
    assert models.read(model).origin == origin
    assert with_noun(origin) in repr(models.read(model))
    asked = ["predict", "collective", "--model", str(model), "--ranks", "8", "--bytes", "64"]
    assert models.read(model).predict({"p": 8, "b": 64}).origin == origin
    assert main(asked) == 0
    said = capsys.readouterr().out
    assert f"fitted to {with_noun(origin)}" in said
    assert main([*asked, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["origin"] == origin


def test_a_prediction_of_collective_io_says_where_the_times_are_from(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], golden: Golden
) -> None:
    model = tmp_path / "model.json"
    models.write(models.fit(simulated(hotspot(intra=3, inter=3)), "hotspot"), model)
    workload = ["--nodes", "2,2,2,2", "--tiles", "4x2", "--tile", "8x8", "--model", str(model)]
    for command in (["predict", "collective-io"], ["place", "nodes"], ["place", "aggregators"]):
        assert main([*command, *workload]) == 0
        said = capsys.readouterr().out
        golden(said)
        assert not MEASURED.search(said), said
        assert main([*command, *workload, "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["origin"] == "simulated"


def test_a_table_of_the_users_own_is_named_and_a_published_model_says_its_source(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing is known of a CSV but that it is a table; nothing of a paper but what it says."""
    table = tmp_path / "a.csv"
    rows = [f"bcast,{p},{b},{p * 1e-6 + b * p * 1e-9}" for p in (2, 4, 8) for b in SIZES]
    table.write_text("\n".join(["op,p,b,seconds", *rows]))
    assert main(["fit", str(table), "--family", "bcast-linear"]) == 0
    said = capsys.readouterr().out
    assert "tabulated times" in said
    assert not MEASURED.search(said), said
    published = Path(__file__).parents[2] / "examples/models/t3e-1200.json"
    asked = [
        "predict",
        "collective",
        "--model",
        str(published),
        "--op",
        "gather",
        "--ranks",
        "8",
        "--bytes",
        "64",
    ]
    assert main(asked) == 0
    assert models.read(published).source[:40] in capsys.readouterr().out


@pytest.mark.parametrize("make", [lambda: sweeps()[0], lambda: hotspot(intra=3, inter=3)])
def test_an_exported_table_keeps_its_origin(make: Callable[[], Run], tmp_path: Path) -> None:
    (path,) = written(tmp_path, [simulated(make())])
    assert main(["export", path, "--to", "csv", "-o", str(tmp_path / "a.csv")]) == 0
    assert models.load([tmp_path / "a.csv"]).origin == "simulated"


def test_mixed_origins_are_named_once_each_and_in_one_order(golden: Golden) -> None:
    golden(together(["simulated", "measured", "simulated"]))
    golden(together(["tabulated", "measured and simulated"]))
    assert together([]) == together([""]) == ""
    golden(together(["measured, simulated and given", "given"]))
    assert with_noun("made up and given") == " ".join(("synthetic", "and", "tabulated", "times"))
    assert with_noun("") == "times"
