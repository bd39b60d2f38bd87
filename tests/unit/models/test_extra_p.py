"""Files of Extra-P are tables: parameters and the time are what their names say."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from isochrone.base.errors import InputError
from isochrone.models import load
from isochrone.models.data.columns import Columns
from isochrone.models.data.tables import read_csv
from isochrone.runfile.file import read as read_run
from isochrone.runfile.file_type import looks_like_a_run, looks_like_a_table

TEXT = """\
# two parameters
PARAMETER p
PARAMETER size
POINTS (2 8) (4 8)
POINTS ((2) (1024)) ((4) (1024))

REGION bcast
METRIC time_us
DATA 1 1.1
DATA 2
DATA 3
DATA 4
METRIC visits
DATA 1
DATA 1
DATA 1
DATA 1
"""


def written(folder: Path, text: str, name: str = "times.txt") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def lines(*values: object) -> str:
    return "".join(f"{json.dumps(value)}\n" for value in values)


def test_text_is_read_with_repetitions_region_and_unit(tmp_path: Path) -> None:
    data = read_csv(written(tmp_path, TEXT))
    assert data.variables["p"].tolist() == [2, 2, 4, 2, 4]
    assert data.variables["b"].tolist() == [8, 8, 8, 1024, 1024]
    assert data.seconds == pytest.approx([1e-6, 1.1e-6, 2e-6, 3e-6, 4e-6])
    assert set(data.selectors["op"].tolist()) == {"bcast"}
    assert len(data.read_as) == 1


def test_one_parameter_needs_no_brackets(tmp_path: Path) -> None:
    text = "PARAMETER nprocs\nPOINTS 2 4\nREGION r\nDATA 1e-6\nDATA 2e-6\n"
    data = read_csv(written(tmp_path, text))
    assert data.variables["p"].tolist() == [2, 4]
    assert data.seconds.tolist() == [1e-6, 2e-6]


def test_lines_of_json_are_read_and_are_no_run_file(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        lines(
            {
                "params": {"p": 2, "size": 8},
                "metric": "time_ms",
                "value": [1, 2],
                "callpath": "a->b",
            },
            {"params": {"size": 16, "p": 4}, "metric": "time_ms", "value": 3.5, "callpath": "a->b"},
            {"params": {"p": 4, "size": 16}, "metric": "visits", "value": 3, "callpath": "a->b"},
        ),
        "times.jsonl",
    )
    assert looks_like_a_table(path)
    assert not looks_like_a_run(path)
    data = load([path])
    assert data.variables["p"].tolist() == [2, 2, 4]
    assert data.variables["b"].tolist() == [8, 8, 16]
    assert data.seconds == pytest.approx([1e-3, 2e-3, 3.5e-3])
    assert set(data.selectors["op"].tolist()) == {"a->b"}


def test_values_without_callpath_have_no_operation(tmp_path: Path) -> None:
    data = read_csv(written(tmp_path, lines({"params": {"p": 2}, "value": 1})))
    assert data.selectors == {}
    assert data.seconds.tolist() == [1.0]


def test_parameters_and_metrics_may_be_named(tmp_path: Path) -> None:
    own = Columns.parse("x=p,metr=seconds:ms")
    path = written(tmp_path, lines({"params": {"x": 20}, "metric": "metr", "value": 5}))
    data = read_csv(path, own)
    assert data.variables["p"].tolist() == [20]
    assert data.seconds.tolist() == [5e-3]
    with pytest.raises(InputError, match="metr"):
        read_csv(path)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("PARAMETER p\nPOINTS 2 4\nREGION r\nDATA 1\n", ":4"),
        ("PARAMETER p\nPOINTS 2 4\nDATA 1\nREGION r\nDATA 1\nDATA 1\n", ":4"),
        ("PARAMETER p\nPOINTS 2\nDATA 1\nDATA 2\n", ":4"),
        ("PARAMETER p q\nPOINTS (2 4) (3)\n", ":2"),
        ("PARAMETER p\nPOINTS 2\nMETRIC time\nDATA x\n", ":4"),
        ("PARAMETER p\nSPEED 2\n", ":2"),
        ("PARAMETER p\n", ""),
        ("PARAMETER p\nPOINTS 2\nMETRIC visits\nDATA 1\n", ""),
        ("PARAMETER p\nPOINTS 2\nMETRIC time\nDATA -1\n", ""),
        (lines({"params": {"p": 2}, "value": 1}, {"params": {"q": 2}, "value": 1}), ":1"),
        (lines({"params": {"p": 2}, "value": 1}) + '{"params":\n', ":2"),
        (lines({"params": {"p": 2}, "value": "x"}), ":1"),
        (lines({"params": {"p": 2}}), ":1"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(text: str, line: str, tmp_path: Path) -> None:
    path = written(tmp_path, text)
    with pytest.raises(InputError) as caught:
        load([path])
    assert "\n" not in str(caught.value)
    assert caught.value.where == f"{path}{line}"


def test_who_shows_tables_is_sent_to_fit(tmp_path: Path) -> None:
    """Extra-P in both forms, and tables that only their columns tell."""
    for text in (
        TEXT,
        lines({"params": {"p": 2}, "value": 1}),
        "# Size  Latency(us)\n8  1.5\n",
        "Processes;Size;Latency(us)\n2;8;1,5\n",
    ):
        with pytest.raises(InputError) as caught:
            read_run(written(tmp_path, text))
        assert "fit" in caught.value.hint
