"""From a real measurement to what a person sees of it: hot spot and exchange of tiles."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

Isochrone = Callable[..., subprocess.CompletedProcess[str]]


def test_a_small_hotspot_is_measured_shown_drawn_and_reported(
    isochrone: Isochrone, tmp_path: Path
) -> None:
    """On one host nothing is between nodes: the points are there, and why there is no plane."""
    run = tmp_path / "h.jsonl"
    words = ("measure", "hotspot", "-n", "4", "--bytes", "4KiB", "--repeats", "5", "-o", run)
    assert isochrone(*words).returncode == 0
    answer = isochrone("show", run)
    assert answer.returncode == 0, answer.stderr
    assert "Hot: rank 0" in answer.stdout
    assert "60 points" in answer.stdout
    found = json.loads(isochrone("show", "--json", run).stdout)
    counts = [(p["intra"], p["in"], p["out"], p["n"], p["bytes"]) for p in found["points"]]
    assert counts == [(2 * k, 0, 0, 5, 4096) for k in (1, 2, 3)]
    assert all(0 < p["min"] <= p["low"] <= p["median"] <= p["high"] for p in found["points"])
    answer = isochrone("plot", run, "-o", tmp_path / "h.svg")
    assert answer.returncode == 0, answer.stderr
    assert "no formula" in (tmp_path / "h.svg").read_text("utf-8")
    answer = isochrone("report", run, "-o", tmp_path / "h.html")
    assert answer.returncode == 0, answer.stderr
    assert "No formula" in (tmp_path / "h.html").read_text("utf-8")


def test_an_exchange_of_tiles_is_measured_shown_drawn_and_reported(
    isochrone: Isochrone, tmp_path: Path
) -> None:
    run = tmp_path / "t.jsonl"
    words = ("measure", "tile-io", "-n", "4", "--phase", "exchange", "--tile", "64x64")
    assert isochrone(*words, "--repeats", "5", "-o", run).returncode == 0
    answer = isochrone("show", run)
    assert answer.returncode == 0, answer.stderr
    assert "node): 0" in answer.stdout
    found = json.loads(isochrone("show", "--json", run).stdout)
    assert [(p["phase"], p["op"], p["n"]) for p in found["phases"]] == [
        ("exchange", "write", 5),
        ("exchange", "read", 5),
    ]
    assert found["phases"][0]["bytes"] == 4 * 64 * 64 * 3
    (node,) = found["nodes"]
    assert (node["intra"], node["in"], node["out"], node["hot"]) == (4, 0, 0, False)
    answer = isochrone("plot", run, "-o", tmp_path / "t.svg")
    assert answer.returncode == 0, answer.stderr
    answer = isochrone("report", run, "-o", tmp_path / "t.html")
    assert answer.returncode == 0, answer.stderr
    page = (tmp_path / "t.html").read_text("utf-8")
    assert "of 48 KiB" in page
