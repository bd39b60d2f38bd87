"""Tables of one's own: columns are understood, and a bad line is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from beds.golden import Golden
from isochrone import models
from isochrone.base.errors import InputError
from made_up.times import grid, times, truth


def table(folder: Path, text: str) -> Path:
    path = folder / "times.csv"
    path.write_text(text)
    return path


def test_op_p_b_seconds_are_read_and_fitted(tmp_path: Path) -> None:
    variables, segment = grid("gather"), truth("gather")
    rows = zip(variables["p"], variables["b"], times(segment, variables), strict=True)
    text = "\n".join(
        ["op,p,b,seconds", *(f"gather,{p:.0f},{b:.0f},{float(s)!r}" for p, b, s in rows)]
    )
    model = models.fit(table(tmp_path, text), "gather")
    assert model.segments[0].where == {"op": "gather"}
    assert model.segments[0].coefficients == pytest.approx(segment.coefficients, rel=1e-9)


def test_hotspots_units_blanks_and_other_columns_are_understood(tmp_path: Path) -> None:
    text = "order, pa, pe, bytes, seconds, remark\nintra-first, 0.5, 1, 4MiB, 1e-3, x\n\n"
    data = models.load([table(tmp_path, text)])
    assert data.variables["pa"].tolist() == [0.5]
    assert data.selectors["bytes"].tolist() == [4 << 20]
    assert data.selectors["order"].tolist() == ["intra-first"]
    assert data.made_from[0]["path"].endswith("times.csv")


CASES = [
    ("", "the file is neither a run file nor a table with a column of times"),
    ("p,b\n1,2\n", "the file is neither a run file nor a table with a column of times"),
    ("p,b,seconds\n", "no measured times"),
    ("p,b,seconds\n2,10,x\n", "times.csv:2: 'seconds' is 'x', not a finite number"),
    ("p,b,seconds\n2,10,1\n2,10,nan\n", "times.csv:3: 'seconds' is 'nan'"),
    ("p,b,seconds\n2,10,1\n2,10\n", "times.csv:3: the line has 2 values, not 3"),
    ("p,b,seconds\n2,10,-1\n", "zero or negative"),
    ("p,p,seconds\n2,10,1\n", "the table has two columns of the same name"),
    ("x,seconds\n2,1\n", "no column of the table is a variable of a model"),
    ("p,b,seconds\n2,1XB,1\n", "not a finite number"),
]


def test_what_is_wrong_is_said_in_one_line(tmp_path: Path, subtests: pytest.Subtests) -> None:
    for text, says in CASES:
        with subtests.test(str((text, says))), pytest.raises(InputError, match=says):
            models.load([table(tmp_path, text)])


def test_files_that_are_none_are_refused(tmp_path: Path, golden: Golden) -> None:
    with golden.refusal():
        models.load([tmp_path / "none.csv"])
    with golden.refusal():
        models.load([tmp_path])
    binary = tmp_path / "binary.csv"
    binary.write_bytes(b"\xff\xfe\x00seconds")
    with golden.refusal():
        models.load([binary])


def test_rows_of_a_size_that_was_measured_again_count_as_in_a_run_file(tmp_path: Path) -> None:
    """Of 512 B between 0 and 1 only the second measurement, of other points all."""
    text = (
        "i,j,b,seconds,again\n0,1,8,1e-6,\n0,1,512,8e-6,\n0,1,512,2e-6,true\n"
        "0,1,512,2e-6,true\n2,3,512,4e-6,false\n"
    )
    data = models.load([table(tmp_path, text)])
    assert sorted(data.seconds.tolist()) == [1e-6, 2e-6, 2e-6, 4e-6]
