"""When members leave operations with a root: what a run says of it, kept in a model."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from isochrone import models
from isochrone.base import registry
from isochrone.base.errors import InputError
from isochrone.collectives.measured import Leaving, nearest
from isochrone.runfile.run import Run
from made_up.sweeps import collective

SECONDS = 1e-5


def with_times(run: Run, parts: list[float], root: int = 0) -> Run:
    """Say of each sample when its ranks were done, counted from the root."""
    table = run.tables["sample"]
    rolled = np.roll(np.array(parts), root)
    times = np.empty(len(table), dtype=object)
    for row in range(len(table)):
        times[row] = (rolled * table["seconds"][row]).tolist()
    table.columns["times"] = times
    table.columns["root"] = np.full(len(table), root)
    return run


def said_by(run: Run) -> list[Leaving]:
    """Return what all samples of a run say."""
    (kind,) = registry.load("*.readers", "times").READER.kept.values()
    found: list[Leaving] = kind.found(run, run.tables["sample"].columns)
    return found


@pytest.mark.parametrize("root", [0, 3])
def test_parts_are_counted_from_the_root(root: int) -> None:
    parts = [0.0, 1.0, 0.5, 1.0]
    found = said_by(with_times(collective(("bcast",), 4), parts, root))
    assert found
    assert all(one.op == "bcast" and one.ranks == 4 and one.parts == parts for one in found)


def test_operations_that_all_leave_together_need_none() -> None:
    assert said_by(with_times(collective(("allgather",), 4), [1.0, 0.99, 1.0, 1.0])) == []


def test_a_run_without_times_of_its_ranks_says_nothing() -> None:
    run = collective(("bcast",), 4)
    run.tables["sample"].columns.pop("times", None)
    assert said_by(run) == []


def test_of_many_members_some_are_kept_that_stand_for_all() -> None:
    ranks = 4 * 64
    parts = [k / (ranks - 1) for k in range(ranks)]
    one = said_by(with_times(collective(("reduce",), ranks), parts))[0]
    assert len(one.parts) == 64
    assert one.of(0, ranks) == 0
    assert one.of(ranks // 2, ranks) == pytest.approx(0.5, abs=0.02)
    assert one.of(ranks - 1, ranks) == one.parts[-1]


def test_the_nearest_in_ranks_is_asked_and_then_in_bytes() -> None:
    known = [Leaving("bcast", p, b, [0.0, 1.0]) for p in (4, 16) for b in (64, 4096)]
    found = nearest(known, "bcast", 14, 2000)
    assert found is not None
    assert (found.ranks, found.bytes) == (16, 4096)
    assert nearest(known, "gather", 14, 2000) is None


def test_a_model_file_keeps_them(tmp_path: Path) -> None:
    run = with_times(collective(("bcast",), 4), [0.0, 1.0, 0.5, 1.0])
    model = models.fit(run, "hockney")
    assert model.kept["leaving"]
    models.write(model, tmp_path / "m.json")
    assert models.read(tmp_path / "m.json").kept["leaving"] == model.kept["leaving"]


def test_parts_that_are_none_are_refused(tmp_path: Path) -> None:
    run = with_times(collective(("bcast",), 4), [0.0, 1.0, 0.5, 1.0])
    model = models.fit(run, "hockney")
    model.kept["leaving"][0] = Leaving("bcast", 4, 8, [0.0, 7.0])
    models.write(model, tmp_path / "m.json")
    with pytest.raises(InputError, match="leaving"):
        models.read(tmp_path / "m.json")
