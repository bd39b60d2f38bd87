"""What every view must do, whatever it draws."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path

import pytest
from matplotlib.figure import Figure

from isochrone import registry, views
from isochrone.errors import InputError
from synthetic import block, latency_map, seed_map

NAMES = registry.names("views")


def test_the_three_views_of_the_map_are_there() -> None:
    assert {"heatmap", "surface", "levels"} <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_it_has_help_and_the_signature_of_a_view(name: str) -> None:
    view = registry.load("views", name)
    assert (view.__doc__ or "").splitlines()[0].endswith(".")
    parameters = inspect.signature(view.draw).parameters
    positional = [p.name for p in parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD]
    assert positional == ["run", "what", "nbytes"]
    assert parameters["what"].default == "mean"
    assert parameters["nbytes"].default is None


@pytest.mark.parametrize("what", ["mean", "median", "stddev"])
@pytest.mark.parametrize("name", NAMES)
def test_it_draws_every_quantity_in_every_format(name: str, what: str, tmp_path: Path) -> None:
    figure = registry.load("views", name).draw(seed_map(), what)
    assert isinstance(figure, Figure)
    starts = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}
    for suffix in views.SUFFIXES:
        views.save(figure, tmp_path / f"a{suffix}")
        assert (tmp_path / f"a{suffix}").read_bytes().startswith(starts[suffix])


@pytest.mark.parametrize("name", NAMES)
def test_it_refuses_what_was_not_measured(name: str) -> None:
    draw = registry.load("views", name).draw
    with pytest.raises(InputError, match="no pairs of 7 bytes"):
        draw(seed_map(), "mean", 7)
    with pytest.raises(InputError, match="there are"):
        draw(seed_map(), "mode")


@pytest.mark.parametrize("name", NAMES)
def test_it_draws_maps_that_are_cut_or_small_or_without_hosts(name: str, tmp_path: Path) -> None:
    draw = registry.load("views", name).draw
    nameless = latency_map(block(2, 3))
    nameless.ranks = []
    alone = latency_map(block(3, 2), missing=lambda i, j: j == 5)  # a rank without any pair
    single_pair = latency_map(block(3, 2), missing=lambda i, j: (i, j) != (0, 1))
    equal = latency_map(block(2, 3), near=1e-6, far=1e-6, noise=0.0)
    for run in (nameless, alone, single_pair, equal, latency_map(["a", "b"])):
        for what in ("median", "stddev"):
            views.save(draw(run, what), tmp_path / "a.png")


@pytest.mark.parametrize("name", NAMES)
def test_importing_it_does_not_import_matplotlib(name: str) -> None:
    code = (
        "import sys; from isochrone import registry; "
        f"registry.load('views', '{name}'); sys.exit('matplotlib' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
