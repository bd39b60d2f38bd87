"""What a run file may hold: one table of rules, so that all commands accept the same files."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from isochrone.base.errors import InputError
from isochrone.cli.main import main
from isochrone.runfile import file as runs

Records = list[dict[str, Any]]
COMMANDS = (
    ("show", "{}", "--json"),
    ("check", "{}", "--json"),
    ("compare", "{}", "{sound}", "--json"),
    ("fit", "{}", "-o", "{out}.json", "--force"),
    ("report", "{}", "-o", "{out}.html", "--force"),
    ("export", "{}", "--to", "csv", "-o", "{out}.csv", "--force"),
)


def head(experiment: str, ranks: int) -> Records:
    """Return the records that come before the samples."""
    places = [
        {"record": "rank", "rank": k, "host": f"h{k // 2}", "node": k // 2} for k in range(ranks)
    ]
    return [
        {
            "record": "run",
            "format": 1,
            "experiment": experiment,
            "ranks": ranks,
            "clock": {"granularity": 1e-9},
        },
        *places,
    ]


def a_map() -> Records:
    """Return a latency map of six ranks."""
    pairs = [
        {
            "record": "pair",
            "i": i,
            "j": j,
            "bytes": 64,
            "n": 100,
            "mean": 2e-6,
            "min": 1e-6,
            "median": 2e-6 + 1e-8 * j,
            "max": 4e-6,
            "low": 1.9e-6,
            "high": 2.1e-6,
        }
        for j in range(6)
        for i in range(j)
    ]
    return [*head("latency-map", 6), *pairs, {"record": "end", "complete": True, "seconds": 1.0}]


def a_sweep() -> Records:
    """Return a sweep of two ranks."""
    samples = [
        {
            "record": "sample",
            "i": 0,
            "j": 1,
            "bytes": size,
            "repeat": k,
            "seconds": 1e-6 + size * 1e-9 + k * 1e-9,
        }
        for size in (1, 64, 1024, 65536, 262144)
        for k in range(5)
    ]
    return [
        *head("point-to-point", 2),
        *samples,
        {"record": "end", "complete": True, "seconds": 1.0},
    ]


def collective() -> Records:
    """Return a sweep over an operation."""
    changed = a_sweep()
    changed[0]["experiment"] = "collective"
    for record in changed:
        if record["record"] == "sample":
            del record["i"], record["j"]
            record |= {"op": "bcast", "p": 2}
    return changed


def sample(key: str, value: Any, of: Callable[[], Records] = a_map) -> Records:
    """Return a file in which one sample holds something else."""
    records = of()
    records[-3][key] = value
    return records


def header(key: str, value: Any, of: Callable[[], Records] = a_map) -> Records:
    """Return a file whose first record holds something else."""
    records = of()
    records[0][key] = value
    return records


IMPOSSIBLE: dict[str, Records] = {
    **{
        f"pair {key} {value}": sample(key, value)
        for key, value in (
            ("n", 0),
            ("n", -5),
            ("n", 10**18),
            ("n", 1.5),
            ("min", 1.0),
            ("max", 1e-9),
            ("low", 1.0),
            ("bytes", -1),
            ("bytes", 64.5),
            ("median", -1.0),
            ("median", 1e12),
            ("median", "x"),
            ("i", 5),
            ("j", 6),
            ("i", -1),
            ("i", 0.5),
        )
    },
    **{
        f"sample {key} {value}": sample(key, value, a_sweep)
        for key, value in (
            ("bytes", -64),
            ("bytes", 64.5),
            ("rate", -1),
            ("n", 0),
            ("i", 1),
            ("j", 2),
            ("seconds", -1.0),
            ("seconds", "x"),
            ("seconds", None),
        )
    },
    "p 0": sample("p", 0, collective),
    "p 3": sample("p", 3, collective),
    "op none": sample("op", None, collective),
    "granularity": header("clock", {"granularity": 1.0}),
    "negative granularity": header("clock", {"granularity": -1e-9}),
    "by nothing": [{**a_sweep()[0], "kind": "sweep", "by": []}, *a_sweep()[1:]],
    "by another": [{**a_sweep()[0], "kind": "sweep", "by": ["op"]}, *a_sweep()[1:]],
    "another kind": [{**a_sweep()[0], "kind": "latency-map"}, *a_sweep()[1:]],
    "a map as a sweep": [{**a_map()[0], "kind": "sweep", "by": ["i", "j"]}, *a_map()[1:]],
    "complete no": [*a_map()[:-1], {"record": "end", "complete": "no"}],
    "seconds text": [*a_map()[:-1], {"record": "end", "complete": True, "seconds": "1"}],
    "after end": [*a_map(), a_map()[-3]],
    "two ends": [*a_map(), a_map()[-1]],
    "two headers": [a_map()[0], *a_map()],
    "contradicting": [*a_map()[:-1], {**a_map()[-3], "median": 3e-6}, a_map()[-1]],
}


def written(path: Path, records: Records) -> Path:
    """Write a file."""
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


@pytest.mark.parametrize("name", IMPOSSIBLE)
def test_all_commands_refuse_what_cannot_be(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    records = IMPOSSIBLE[name]
    path = written(tmp_path / "a.jsonl", records)
    with pytest.raises(InputError) as error:
        runs.read(path)
    assert error.value.where.startswith(str(path))
    sound = written(tmp_path / "b.jsonl", a_map() if "pair" in str(records[-2]) else a_sweep())
    for command in COMMANDS:
        words = [word.format(path, sound=sound, out=tmp_path / "out") for word in command]
        assert main(words) == 2, words
        out, err = capsys.readouterr()
        assert not out
        assert err.count("\n") == 1
    assert not list(tmp_path.glob("out*"))


@pytest.mark.slow
@pytest.mark.parametrize("of", [a_map, a_sweep, collective])
def test_all_commands_accept_what_can_be_and_agree_on_times(
    of: Callable[[], Records], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path / "a.jsonl", of())
    for command in COMMANDS:
        if of is a_map and command[0] == "fit":
            continue  # no sizes to fit
        words = [word.format(path, sound=path, out=tmp_path / "out") for word in command]
        assert main(words) in (0, 1, 4), words
        out = capsys.readouterr().out
        if command[0] == "compare":
            assert all(point["ratio"] == 1 for point in json.loads(out)["points"])


def test_a_time_of_zero_is_reported_and_never_divided_by(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    records = a_map()
    for record in records:
        if record["record"] == "pair":
            record |= dict.fromkeys(("mean", "min", "median", "max", "low", "high"), 0.0)
    path = written(tmp_path / "a.jsonl", records)
    assert "below-resolution" in {one["code"] for one in runs.read(path).warnings}
    for command in ("show", "check"):
        assert main([command, str(path), "--json"]) in (0, 1, 4)
        out, err = capsys.readouterr()
        assert "RuntimeWarning" not in err
        json.loads(out, parse_constant=pytest.fail)


def test_a_level_without_pairs_is_no_bare_nan(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    records = a_map()
    path = written(tmp_path / "a.jsonl", [*records[:8], records[-1]])
    assert main(["show", str(path), "--json"]) == 0
    json.loads(capsys.readouterr().out, parse_constant=pytest.fail)


@pytest.mark.parametrize("kind", ["pipe", "device", "endless line"])
def test_only_ordinary_files_of_bounded_lines_are_read(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    else:
        with path.open("wb") as stream:
            stream.truncate(1 << 40)
    assert main(["show", str(path)]) == 2
    assert main(["check", str(tmp_path)]) == 2
