"""Launches in turns: each turn has every arrangement once, in an order that is drawn."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import pytest

from beds.golden import Golden
from isochrone.base.errors import MeasurementError
from isochrone.collective_io.cli.proof import (
    JobRunner,
    Launch,
    launch_in_turns,
    tile_options,
)
from isochrone.collective_io.orders.setting import GIVEN, Setting
from isochrone.collective_io.patterns.tiles import tile_io as tiles
from isochrone.collective_io.workload.call import Call
from isochrone.measure.job import Progress
from isochrone.runfile.run import Run
from made_up.hotspots import tile_io

HOSTS = tile_io().hosts


class Started:
    """Stands in for the launcher: the first option says how many times as long a launch takes."""

    def __init__(self) -> None:
        self.files: list[str] = []

    def run(self, experiment: str, options: Sequence[str], path: Path, start: Any) -> Run:
        self.files.append(path.name)
        run = tile_io(file=False)
        run.tables["sample"]["seconds"][:] *= float(options[0])
        return run


def turns(started: Started, tmp_path: Path, **more: Any) -> Any:
    sides = {f"order-{k}": Launch([str(k)], None, HOSTS) for k in (1, 2, 3)}
    return launch_in_turns(
        cast(JobRunner, started), sides, launches=4, op="write", runs=tmp_path, **more
    )


def test_each_turn_has_every_arrangement_once_and_turns_differ(tmp_path: Path) -> None:
    started = Started()
    found = turns(started, tmp_path, seed=1)
    sequences = [tuple(started.files[k : k + 3]) for k in (0, 3, 6, 9)]
    for number, files in enumerate(sequences, start=1):
        assert sorted(files) == [f"order-{k}-{number}.jsonl" for k in (1, 2, 3)]
    assert len({tuple(file[:7] for file in files) for files in sequences}) > 1
    again = Started()
    turns(again, tmp_path / "again", seed=1)
    assert again.files == started.files
    assert list(found.times) == ["order-1", "order-2", "order-3"]
    one, two, three = found.times.values()
    assert len(one) == 4
    assert found.exchange == found.times
    assert two == pytest.approx([2 * seconds for seconds in one])
    assert three == pytest.approx([3 * seconds for seconds in one])


def test_without_a_seed_they_alternate_and_progress_is_told(tmp_path: Path) -> None:
    started, told = Started(), list[Progress]()
    turns(started, tmp_path, progress=told.append)
    assert started.files[:4] == [f"order-{k}-1.jsonl" for k in (1, 2, 3)] + ["order-1-2.jsonl"]
    assert [one.done for one in told] == list(range(1, 13))
    assert {one.total for one in told} == {12}


def test_ranks_elsewhere_than_planned_are_an_error(tmp_path: Path, golden: Golden) -> None:
    sides = {"order-1": Launch(["1"], None, [*HOSTS[:-1], "elsewhere"])}
    with golden.refusal(kind=MeasurementError):
        launch_in_turns(cast(JobRunner, Started()), sides, launches=1, op="write", runs=tmp_path)


def test_a_folder_with_earlier_launches_is_refused_before_anything_is_launched(
    tmp_path: Path,
    golden: Golden,
) -> None:
    """A comparison that was interrupted leaves some; half an hour later the next would fail."""
    (tmp_path / "order-3-2.jsonl").write_text("{}")
    started = Started()
    with golden.refusal():
        turns(started, tmp_path)
    assert not started.files


def asked(file: Path | None) -> Namespace:
    """Options of the command line."""
    return Namespace(element=None, repeats=1, file=file)


def test_the_library_gets_all_hints_of_the_call() -> None:
    """What is predicted with a buffer or few aggregators must be measured with them."""
    call = Call(tiles(2, 2), buffer=1 << 20, unit=4096)
    file = Path("/scratch/f")
    *_, option, text = tile_options(asked(file), call, [0, 1], Setting("n1,*:1", 4))
    assert option == "--hints"
    assert text == (
        "cb_config_list=n1,*:1,cb_nodes=4,cb_buffer_size=1048576,romio_cb_write=enable,"
        "romio_cb_read=enable,striping_unit=4096"
    )


def test_what_the_replay_cannot_do_is_refused(golden: Golden) -> None:
    """It divides the file evenly: another division would be predicted than is measured."""
    pattern = tiles(2, 2)
    for call in (Call(pattern, unit=4096), Call(pattern, smallest=1 << 20)):
        with golden.refusal():
            tile_options(asked(None), call, [0, 1], GIVEN)
        assert "file" in tile_options(asked(Path("/scratch/f")), call, [0, 1], GIVEN)
