"""Whole collective calls as a user meets them: predicted from measured runs, the gain first."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from beds.golden import Golden
from isochrone.collective_io.patterns.tiles import tile_io
from isochrone.collective_io.workload.call import Call
from isochrone.runfile.file import write
from made_up.hotspots import hotspot
from made_up.io_machines import MIB, hosts, random_machine, served, tile_run
from made_up.jobs import TACHYON

Isochrone = Callable[..., subprocess.CompletedProcess[str]]

ASKED = (
    "predict",
    "collective-io",
    "--nodes",
    "4,4,2,2,1,1,1,1",
    "--tiles",
    "4x4",
    "--tile",
    "512x512",
    "--element",
    "4",
    "--model",
    TACHYON,
)
CALL = Call(tile_io(4, 4, (512, 512), 4), buffer=4 * MIB)
HINTS = {
    "cb_nodes": "8",
    "cb_buffer_size": str(4 * MIB),
    "cb_config_list": "*:1",
    "romio_cb_write": "automatic",
}


@pytest.fixture
def measured(tmp_path: Path) -> Path:
    """A run of a write with eight aggregators, buffers of 4 MiB, on a made-up machine."""
    call = random_machine(5).measured(CALL, hosts(), served(hosts(), 8))
    path = tmp_path / "tiles.jsonl"
    write(tile_run(call, HINTS), path)
    return path


def test_a_measured_run_predicts_itself_part_by_part(isochrone: Isochrone, measured: Path) -> None:
    answer = isochrone(*ASKED, "--hints", "cb_buffer_size=4MiB", "--calls", measured, "--json")
    assert answer.returncode == 0, answer.stderr
    found = json.loads(answer.stdout)
    own = random_machine(5).measured(CALL, hosts(), served(hosts(), 8))
    assert found["whole"]["seconds"] == pytest.approx(own.seconds, rel=0.01)
    assert found["whole"]["low"] < own.seconds < found["whole"]["high"]
    for part in ("offsets", "counts", "exchange", "file", "rest"):
        assert found["parts"][part] == pytest.approx(own.parts[part], rel=0.01, abs=1e-3)
    best = found["best_possible"]
    assert best["gain"] >= best["by_order"]["gain"] >= 1
    assert best["seconds"] == pytest.approx(found["whole"]["seconds"] / best["gain"])


def test_the_best_possible_gain_is_the_first_line(isochrone: Isochrone, measured: Path) -> None:
    answer = isochrone(*ASKED, "--calls", measured)
    assert answer.returncode == 0, answer.stderr
    first = answer.stdout.splitlines()[0]
    assert first.startswith("No other") or ("as fast" in first and "only the" in first)
    for part in ("offsets and lengths", "exchange", "file access", "remainder"):
        assert f"\n{part}" in answer.stdout


def test_without_measured_calls_it_says_that_only_the_exchange_is_predicted(
    isochrone: Isochrone,
    golden: Golden,
) -> None:
    answer = isochrone(*ASKED)
    golden.measured(answer.stdout.splitlines()[0])
    assert "measure tile-io --file" in answer.stdout
    found = json.loads(isochrone(*ASKED, "--json").stdout)
    assert found["whole"]["seconds"] is None
    assert found["parts"]["file"] is None
    assert found["parts"]["exchange"] == pytest.approx(found["seconds"])


def test_collective_buffering_that_costs_is_to_be_switched_off(
    isochrone: Isochrone, measured: Path, tmp_path: Path
) -> None:
    """A second run with romio_cb_write = disable took a third of the time."""
    given = random_machine(5).measured(CALL, hosts(), served(hosts(), 8))
    alone = replace(given, aggregators=[], parts={}, seconds=given.seconds / 3)
    other = tmp_path / "alone.jsonl"
    write(tile_run(alone, HINTS | {"romio_cb_write": "disable"}), other)
    answer = isochrone(*ASKED, "--calls", measured, other)
    assert answer.returncode == 0, answer.stderr
    assert "romio_cb_write = disable" in answer.stdout


def test_show_says_how_much_faster_a_call_can_get(isochrone: Isochrone, measured: Path) -> None:
    answer = isochrone("show", measured)
    assert answer.returncode == 0, answer.stderr
    assert "as fast" in answer.stdout or "No other" in answer.stdout


def test_a_run_of_something_else_is_refused(isochrone: Isochrone, tmp_path: Path) -> None:
    path = tmp_path / "other.jsonl"
    write(hotspot(), path)
    answer = isochrone(*ASKED, "--calls", path)
    assert answer.returncode == 2
    assert answer.stderr.count("\n") == 1
    assert "measure tile-io" in answer.stderr
