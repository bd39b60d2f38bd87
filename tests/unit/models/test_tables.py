"""Measured times given in Python are understood as a CSV with the same columns is."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from beds.golden import Golden
from isochrone import models
from isochrone.base.errors import InputError
from isochrone.models import Samples
from isochrone.models.data import tables
from isochrone.models.data.load import samples_of
from made_up.sweeps import collective
from made_up.times import grid, noisy, times, truth


def columns() -> dict[str, Any]:
    """Return 240 times of a gather, three repetitions of each point."""
    variables = grid("gather")
    data = noisy(times(truth("gather"), variables), variables, 0.02, 3, 1)
    return {"op": ["gather"] * 240, **data.variables, "seconds": data.seconds}


def rows(table: dict[str, Any]) -> list[dict[str, Any]]:
    return [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]


def same(found: Samples, expected: Samples) -> None:
    assert found.seconds.tolist() == expected.seconds.tolist()
    for kind in ("variables", "selectors"):
        mine, others = getattr(found, kind), getattr(expected, kind)
        assert {k: v.tolist() for k, v in mine.items()} == {
            k: v.tolist() for k, v in others.items()
        }


def test_a_frame_columns_and_rows_are_fitted_as_their_csv(tmp_path: Path) -> None:
    table = columns()
    frame = pd.DataFrame(table)
    frame.to_csv(tmp_path / "t.csv", index=False)
    expected = models.fit(tmp_path / "t.csv", "gather").segments[0].coefficients
    for given in (frame, table, rows(table), [frame], frame.set_index(frame.index[::-1])):
        model = models.fit(given, "gather")
        assert model.segments[0].coefficients == pytest.approx(expected, rel=1e-12)
        assert model.segments[0].where == {"op": "gather"}
        assert model.origin == "tabulated"


def test_several_tables_are_fitted_together() -> None:
    frame = pd.DataFrame(columns())
    halves = [frame[frame.p <= 8], frame[frame.p > 8]]
    found = samples_of(halves)
    assert len(found.seconds) == 240


def test_a_single_value_is_one_for_all_rows_and_sizes_have_units() -> None:
    found = samples_of({"op": "bcast", "ranks": 8, "bytes": ["1KiB", 64], "seconds": [1e-6, 2e-6]})
    assert found.selectors["op"].tolist() == ["bcast", "bcast"]
    assert found.variables["p"].tolist() == [8, 8]
    assert found.variables["b"].tolist() == [1024, 64]


def test_the_samples_of_a_run_as_a_frame_are_those_of_the_run(golden: Golden) -> None:
    """What `to_pandas` gives can be filtered and fitted; what does not count stays left out. Where
    the ranks were is known to the run alone.
    """
    run = collective(("bcast",), 8, repeats=3)
    assert {"nodes", "ppn"} <= samples_of(run).variables.keys()
    run.ranks = []
    same(samples_of(run.to_pandas()), samples_of(run))
    marked = run.to_pandas().assign(void=lambda table: table.index % 2 == 0)
    assert len(samples_of(marked).seconds) == len(marked) // 2
    for odd in ("true", 1, 1.0, True):
        partly = marked.assign(void=[odd if k % 2 else None for k in range(len(marked))])
        assert len(samples_of(partly).seconds) == len(marked) // 2
    assert samples_of(marked.assign(origin="simulated")).origin == "simulated"
    some = ["simulated" if k % 2 else pd.NA for k in range(len(marked))]
    golden(samples_of(run.to_pandas().assign(origin=some)).origin)


def test_types_of_pandas_are_understood() -> None:
    """Categories, whole numbers that may be missing, and texts of its own kind."""
    frame = pd.DataFrame({"op": ["bcast", "scan"], "p": [2, 4], "b": [8, 8], "seconds": [1.0, 2]})
    plain = samples_of(frame)
    same(samples_of(frame.astype({"op": "category", "p": "Int64", "b": "int32"})), plain)
    same(samples_of(frame.astype({"op": "string", "seconds": "float32"})), plain)


GOOD = {"p": [2, 4], "b": [8, 8], "seconds": [1e-6, 2e-6]}


IN_ONE_LINE = [
    ({"seconds": None}, "the table has no column 'seconds'"),
    ({"seconds": [1e-6, "x"]}, "row 1: 'seconds' is 'x', not a finite number"),
    ({"seconds": [1e-6, float("nan")]}, "row 1: 'seconds' is 'nan', not a finite number"),
    ({"seconds": [1e-6, -1]}, "zero or negative"),
    ({"p": [2, None]}, "row 1: 'p' is 'None', not a finite number"),
    ({"p": [2, 2.5]}, "'p' is 2.5, which is not a valid number of ranks"),
    ({"b": ["1KiB", "1XB"]}, "row 1: 'b' is '1XB', not a finite number"),
    ({"p": [True, False]}, "row 0: 'p' is 'True', not a finite number"),
    ({"op": ["bcast", None]}, "a row has no 'op'"),
    ({"op": ["bcast", float("nan")]}, "a row has no 'op'"),
]


def test_what_is_wrong_is_said_in_one_line(subtests: pytest.Subtests) -> None:
    """The same of columns, rows and a frame."""
    for changed, says in IN_ONE_LINE:
        with subtests.test(str((changed, says))):
            table = {k: v for k, v in {**GOOD, **changed}.items() if v is not None}
            for given in (table, rows(table), pd.DataFrame(table)):
                with pytest.raises(InputError, match=says.replace("None", "(None|nan)")) as caught:
                    models.fit(given)
                assert "\n" not in str(caught.value)


REFUSED_IN_ONE = [
    ({**GOOD, "b": [8]}, "the columns have different lengths: 'p' 2, 'b' 1, 'seconds' 2"),
    ({**GOOD, "b": [[1, 2], [3, 4]]}, "more than one dimension"),
    ({**GOOD, "b": [[1], [3, 4]]}, "row 0: 'b' is '\\[1\\]', not a finite number"),
    ({"x": [1], "seconds": [1]}, "no column of the table is a variable of a model"),
    ({"p": [], "b": [], "seconds": []}, "no measured times"),
    ([{"p": 2, "b": 8, "seconds": 1}, {"p": 2, "seconds": 1}], "row 1: a row has no 'b'"),
    (
        pd.DataFrame([[1, 2, 3]], columns=["p", "p", "seconds"]),
        "the table has two columns of the same name",
    ),
    ([], "no data to fit are given"),
    (5, "data of type 'int' cannot be fitted"),
    ([5, 6], "data of type 'int' cannot be fitted"),
]


def test_tables_that_are_none_are_refused_in_one_line(subtests: pytest.Subtests) -> None:
    for given, says in REFUSED_IN_ONE:
        with subtests.test(str((given, says))):
            with pytest.raises(InputError, match=says) as caught:
                models.fit(given)
            assert "\n" not in str(caught.value)


def test_pandas_is_not_imported() -> None:
    code = (
        "import sys, isochrone; "
        "isochrone.fit({'b': range(1, 9), 'seconds': [1e-6 * k for k in range(1, 9)]}, 'hockney');"
        "sys.exit('pandas' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_columns_of_numbers_are_not_read_value_by_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "number", lambda *_: pytest.fail("a number was read as text"))
    b = np.arange(100.0)
    assert samples_of({"b": b, "seconds": 1e-6 + 1e-9 * b}).variables["b"].tolist() == b.tolist()
