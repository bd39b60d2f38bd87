"""Samples of one shape are read quickly; what is read does not depend on the way it was read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from isochrone.base.errors import InputError
from isochrone.base.table import Table, TableBuilder
from isochrone.runfile import file as runs
from isochrone.runfile.fast_lines import columns_of

HEADER = {"record": "run", "format": 1, "experiment": "anything", "ranks": 4}
NUMBERS = (0, 7, -3, 2**62, 1.0, 0.5, -1e-9, 1e300)
OTHERS = (2**64, True, False, "bcast", "é", None, [0.5, 1], [], {"a": 1})


def lines(records: list[dict[str, Any]]) -> list[bytes]:
    return [json.dumps(record).encode() + b"\n" for record in records]


def plain(records: list[dict[str, Any]]) -> Table:
    """Make the table that results if every record is taken as a dict, all of them at once."""
    builder = TableBuilder()
    builder.extend([{k: v for k, v in r.items() if k != "record"} for r in records])
    return builder.build()


def write(folder: Path, text: list[bytes]) -> Path:
    path = folder / "run.jsonl"
    path.write_bytes(b"".join(text))
    return path


def assert_equal(found: Table, expected: Table) -> None:
    assert list(found.columns) == list(expected.columns)
    for key, column in expected.columns.items():
        assert found[key].dtype == column.dtype, key
        if column.dtype == object:
            assert found[key].tolist() == column.tolist()
        else:
            np.testing.assert_array_equal(found[key], column)


@pytest.mark.parametrize("seed", range(60))
def test_any_way_of_reading_gives_the_same_table(
    tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Numbers mixed or missing, truth values, texts, lists; in blocks of every length."""
    dice = np.random.default_rng(seed)
    kinds = {
        "in": NUMBERS[:4],
        "x y": NUMBERS[4:],
        "both": NUMBERS,
        "flag": (True, False),
        "op": ("bcast", "é"),
        "times": ([1.0, 2], [3]),
        "any": NUMBERS + OTHERS,
    }
    keys = [key for key in kinds if dice.random() < 0.7] or ["in"]
    gaps, strangers = dice.choice([0.0, 0.02, 0.3]), dice.choice([0.0, 0.02])
    records: list[dict[str, Any]] = []
    for _ in range(200):
        record: dict[str, Any] = {"record": "sample"}
        for key in keys:
            values = kinds[key] if dice.random() >= strangers else kinds["any"]
            if dice.random() >= gaps:
                record[key] = values[dice.integers(len(values))]
        records.append(record)
    monkeypatch.setattr(runs, "BLOCK", int(dice.choice([1, 200, 1000, 1 << 20])))
    run = runs.read(write(tmp_path, lines([HEADER, *records])))
    assert_equal(run.tables["sample"], plain(records))


def test_samples_of_one_shape_need_no_dicts() -> None:
    """Else 1,024 ranks are not read in a second."""
    records = [{"record": "pair", "i": k, "in": 2, "median": 1.5e-6, "op": "a"} for k in range(9)]
    found = columns_of(lines(records))
    assert found is not None
    assert found[0] == "pair"
    assert_equal(Table(found[1]), plain(records))


@pytest.mark.parametrize(
    "odd",
    [
        {"record": "sample", "k": 1},
        {"record": "sample", "k": 1, "s": 0.5, "again": True},
        {"record": "node", "k": 1, "s": 0.5},
        {"k": 1, "s": 0.5},
        [1, 2],
    ],
)
def test_one_record_of_another_shape_is_not_taken_for_one_like_the_others(odd: Any) -> None:
    usual = {"record": "sample", "k": 1, "s": 0.5}
    for records in ([usual, usual, odd], [odd, usual]):
        assert columns_of(lines(records)) is None


@pytest.mark.parametrize("name", ["run", "rank", "warning", "end"])
def test_records_that_are_no_samples_are_left_to_the_reader(name: str) -> None:
    assert columns_of(lines([{"record": name, "rank": 0, "host": "a"}])) is None


@pytest.mark.parametrize("block", [1, 100, 1 << 20])
@pytest.mark.parametrize(
    ("damaged", "complaint"),
    [
        (b"\n", "the line is not a record of a run file: Input data was truncated"),
        (b'{"record":"sample","s":0.5,\n', "not a record"),
        (b'{"record":"sample","s":0.5} {"record":"sample","s":0.5}\n', "trailing characters"),
        (b'{"record":"sample","s":NaN}\n', "not a record"),
        (b'{"record":"sample","s":"\xff"}\n', "not a record"),
        (b'{"record":7,"s":0.5}\n', "the record has no name"),
        (b'{"s":0.5}\n', "the record has no name"),
        (b'"record"\n', "not a record"),
    ],
)
def test_damage_among_samples_is_named_by_its_line(
    tmp_path: Path, block: int, damaged: bytes, complaint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A blank line, too, and two records in one line."""
    monkeypatch.setattr(runs, "BLOCK", block)
    sample = lines([{"record": "sample", "s": 0.5}])
    text = [*lines([HEADER]), *sample * 30, damaged, *sample * 30]
    with pytest.raises(InputError, match=complaint) as error:
        runs.read(write(tmp_path, text))
    assert error.value.where.endswith("run.jsonl:32")


@pytest.mark.parametrize("block", [1, 100, 1 << 20])
def test_a_file_cut_within_its_last_sample_keeps_all_others(
    tmp_path: Path, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs, "BLOCK", block)
    text = lines([HEADER, *[{"record": "sample", "s": 0.5}] * 50])
    whole = write(tmp_path, [*text[:-1], text[-1].rstrip()])
    assert len(runs.read(whole).tables["sample"]) == 50
    cut = write(tmp_path, [*text[:-1], text[-1][:-5]])
    assert len(runs.read(cut).tables["sample"]) == 49


def test_names_of_members_that_cannot_be_attributes_are_read(tmp_path: Path) -> None:
    """Unknown members are kept, whatever their names."""
    keys = ["in", "__slots__", "record ", "", "a b", 'quo"te', "new\nline", "_0", "name"]
    records = [{"record": "sample", **dict.fromkeys(keys, 0.5)}] * 3
    run = runs.read(write(tmp_path, lines([HEADER, *records])))
    assert list(run.tables["sample"].columns) == keys


def test_a_whole_number_beyond_any_float_is_no_crash(tmp_path: Path) -> None:
    text = [*lines([HEADER]), b'{"record":"sample","s":1' + b"0" * 400 + b"}\n"]
    assert runs.read(write(tmp_path, text)).tables["sample"]["s"].tolist() == [10**400]
