"""What `show` says of the ranks' clocks."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from beds.golden import Golden
from isochrone.base.documents import plain
from isochrone.base.errors import InputError
from isochrone.runfile.clocks import clocks
from isochrone.runfile.file import read

HEADER = {"record": "run", "format": 1, "experiment": "clock-sync", "ranks": 3}
SYNC = {"record": "sync", "at": 0.0, "residual_median": 1e-6, "residual_max": 3e-6, "drift_max": 0}
OFFSET = {"record": "offset", "i": 0, "j": 1, "at": 1, "age": 1, "seconds": 1e-6, "bound": 2e-6}


@pytest.fixture
def written(tmp_path: Path) -> Callable[..., Path]:
    """A run file of the records given."""

    def write(*records: dict[str, object]) -> Path:
        path = tmp_path / "clocks.jsonl"
        path.write_text("".join(json.dumps(record) + "\n" for record in (HEADER, *records)))
        return path

    return write


def test_the_worst_pair_is_named_whatever_the_sign(written: Callable[..., Path]) -> None:
    """A clock that is behind is as wrong as one that is ahead."""
    worst = {**OFFSET, "i": 2, "j": 1, "age": 4.5, "seconds": -8e-6}
    path = written(SYNC, OFFSET, {**SYNC, "residual_max": 2e-6, "drift_max": 5e-7}, worst, OFFSET)
    found = clocks(read(path))
    assert found.synchronised == 2
    assert found.residual_max == pytest.approx(3e-6)
    assert found.drift_max == pytest.approx(5e-7), "as known last"
    offset = found.offset
    assert offset is not None
    assert (offset.worst_pair, offset.worst_age) == ((2, 1), 4.5)
    assert offset.max == pytest.approx(8e-6)
    assert offset.median == pytest.approx(1e-6)
    assert offset.comparisons == 3


def test_a_run_with_synchronisations_alone_is_summarised_too(
    written: Callable[..., Path],
) -> None:
    """A collective operation on a common clock writes no comparisons."""
    found = clocks(read(written(SYNC)))
    assert found.residual_median == pytest.approx(1e-6)
    assert "offset" not in plain(found)


@pytest.mark.parametrize(
    "records",
    [
        [{"record": "sync", "at": 0}],
        [{**SYNC, "residual_max": "a lot"}],
        [SYNC, {k: v for k, v in SYNC.items() if k != "drift_max"}],
        [SYNC, {**OFFSET, "j": None}],
    ],
)
def test_damaged_records_are_refused(
    written: Callable[..., Path], records: list[dict[str, object]]
) -> None:
    with pytest.raises(InputError):
        read(written(*records))


def test_show_prints_the_table(
    written: Callable[..., Path], isochrone: Callable[..., object], golden: Golden
) -> None:
    path = written(SYNC, {**OFFSET, "seconds": -8e-6})
    answer = isochrone("show", path)
    assert answer.returncode == 0, answer.stderr
    golden(answer.stdout)
    found = json.loads(isochrone("show", path, "--json").stdout)
    assert found["clocks"]["offset"]["max"] == pytest.approx(8e-6)
