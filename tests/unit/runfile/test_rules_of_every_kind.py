"""Files of every kind: what breaks a rule is refused, times of 0 divide nothing, numbers agree."""

from __future__ import annotations

import csv
import json
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fuzz.seeds import collective, map_of_sizes, messages, small_map
from isochrone.base.errors import InputError
from isochrone.base.table import Table, column
from isochrone.cli.main import main
from isochrone.runfile.file import read, write
from isochrone.runfile.records import declared_records
from isochrone.runfile.rules import check, rules_of
from isochrone.runfile.run import Run
from made_up import emulations, grid_runs, hotspots, io_recordings, recordings

KINDS: dict[str, Callable[[], Run]] = {
    "latency-map": small_map,
    "latency map of sizes": map_of_sizes,
    "sweep": messages,
    "collective": collective,
    "grids": lambda: grid_runs.grid_run(8, ("2x4",), ops=("bcast",), sizes=(1, 64), repeats=3),
    "hotspot": lambda: hotspots.hotspot(intra=3, inter=3, repeats=3),
    "tile-io": hotspots.tile_io,
    "emulation": emulations.emulation,
    "recording": lambda: recordings.halo_recording(2, 2),
    "io-recording": io_recordings.io_recording,
}
COMMANDS = (
    "show {0}",
    "show {0} --json",
    "check {0} --json",
    "check {1} --baseline {folder} --json",
    "compare {0} {1} --json",
    "compare {1} {0}",
    "fit {0} -o {out}.json --force",
    "report {0} -o {out}.html --force",
    "export {0} --to csv -o {out}.csv --force",
    "plot {0} -o {out}.svg --force",
    "baseline show {folder} --json",
    "history {folder} -o {out}.html --force",
)
NO_TIMES = ("overlap", "busy", "rate", "moved", "phase_p", "phase_bytes")


def broken(run: Run) -> Iterator[tuple[str, Run]]:
    """Yield the run with one member after the other that breaks its rule, each in one record."""
    for name, record in declared_records(run.kind).items():
        table = run.tables.get(name)
        if record is None or table is None or not len(table):
            continue
        values: dict[str, list[Any]] = {}
        for key, rule in rules_of(record).items():
            values[key] = ["x"] if rule.text is None else [7]
            values[key] += [-(2**60)] if rule.least > -np.inf else []
            values[key] += [None] if rule.needed and rule.text is None else []
        for key in record.refers:
            values[key].append(999)
        for key, wrong in values.items():
            for value in wrong if key in table else ():
                changed = [value, *table[key].tolist()[1:]]
                tables = {**run.tables, name: Table({**table.columns, key: column(changed)})}
                yield f"{name} {key} {value}", Run(run.header, run.ranks, tables, [], run.end)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_whatever_breaks_a_rule_is_refused(kind: str, tmp_path: Path) -> None:
    run = KINDS[kind]()
    check(run)
    number = 0
    for number, (what, damaged) in enumerate(broken(run), 1):  # noqa: B007
        path = tmp_path / "a.jsonl"
        write(damaged, path, overwrite=True)
        with pytest.raises(InputError):
            pytest.fail(f"accepted: {what}, {read(path)}")
    assert number > 6


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_times_of_zero_are_divided_by_nowhere(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Random times are 0 in all records of a kind; no warning of numpy, no NaN, no traceback."""
    folder = tmp_path / "nights"
    folder.mkdir()
    for share in (0.1, 0.6, 1.0):
        names = {}
        for number in range(4):
            run, dice = KINDS[kind](), np.random.default_rng([number, int(10 * share)])
            for table in run.tables.values() if number != 1 else ():
                hit = dice.random(len(table)) < share
                for key, values in table.columns.items():
                    if values.dtype.kind == "f" and key not in NO_TIMES:
                        values = np.where(hit & (values >= 0), 0.0, values)
                        # where all are 0, a file may say 0 or 0.0
                        table.columns[key] = values if values.any() else values.astype(int)
            where = tmp_path if number < 2 else folder
            names[number] = where / f"{number}.jsonl"
            write(run, names[number], overwrite=True)
        for line in COMMANDS:
            words = line.format(names[0], names[1], folder=folder, out=tmp_path / "out").split()
            with warnings.catch_warnings():
                warnings.simplefilter("error", RuntimeWarning)
                code = main(words)
            out, err = capsys.readouterr()
            assert code in (0, 1, 2, 4), words
            assert "Warning" not in err, words
            if "--json" in words and code != 2:
                json.loads(out, parse_constant=pytest.fail)


@pytest.mark.parametrize("kind", ["sweep", "collective"])
def test_commands_agree_on_the_median_of_each_size(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Samples that are void, or replaced by later ones, count nowhere."""
    for seed in range(4):
        run, dice = KINDS[kind](), np.random.default_rng(seed)
        table = run.tables["sample"]
        table.columns["seconds"] = table["seconds"] * dice.lognormal(0, 0.3, len(table))
        sizes = np.unique(table["bytes"])
        again = np.isin(table["bytes"], dice.choice(sizes, 2)) & (table["repeat"] % 2 == 0)
        table.columns["again"] = again
        path = tmp_path / f"{seed}.jsonl"
        write(run, path)
        assert main(["show", str(path), "--json"]) == 0
        curves = json.loads(capsys.readouterr().out)["curves"]
        shown = [p["median"] for curve in curves for p in curve["points"]]
        assert main(["compare", str(path), str(path), "--json"]) == 0
        points = json.loads(capsys.readouterr().out)["points"]
        assert sorted(p["before"] for p in points) == pytest.approx(sorted(shown), rel=1e-12)
        target = tmp_path / f"{seed}.csv"
        assert main(["export", str(path), "--to", "csv", "-o", str(target)]) == 0
        rows: dict[tuple[str, ...], list[tuple[bool, float]]] = {}
        for row in csv.DictReader(target.open()):
            of = tuple(row[key] for key in ("op", "p", "b", "i", "j"))
            rows.setdefault(of, []).append((row["again"] == "true", float(row["seconds"])))
        exported = [
            float(np.median([s for mark, s in some if mark or not any(m for m, _ in some)]))
            for some in rows.values()
        ]
        assert sorted(exported) == pytest.approx(sorted(shown), rel=1e-12)
        capsys.readouterr()
        if main(["fit", str(path), "--json"]) == 0:  # of some there are too few sizes
            model = json.loads(capsys.readouterr().out)
            models = model.get("parts", [model])
            assert sum(one["quality"]["points"] for one in models) == len(shown)


def test_commands_agree_on_the_time_of_each_pair(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of a pair that was measured again the later measurement counts, everywhere."""
    for seed in range(4):
        run, dice = small_map(), np.random.default_rng(seed)
        table = run.tables["pair"]
        keys = ("min", "median", "p95", "max", "mean", "low", "high")
        factor = dice.lognormal(0, 0.1, len(table))
        for key in keys:
            if key in table:
                table.columns[key] = table[key] * factor
        path = tmp_path / f"{seed}.jsonl"
        write(run, path)
        assert main(["show", str(path), "--json"]) == 0
        (level, *others) = json.loads(capsys.readouterr().out)["levels"]
        assert main(["compare", str(path), str(path), "--json"]) == 0
        compared = {
            (p["key"]["i"], p["key"]["j"]): p["before"]
            for p in json.loads(capsys.readouterr().out)["points"]
        }
        target = tmp_path / f"{seed}.csv"
        assert main(["export", str(path), "--to", "csv", "-o", str(target)]) == 0
        exported = {
            (int(row["i"]), int(row["j"])): float(row["median"])
            for row in csv.DictReader(target.open())
        }
        capsys.readouterr()
        assert exported == pytest.approx(compared, rel=1e-12)
        for one in (level, *others):
            inside = [
                compared[pair]
                for pair in compared
                if any(set(pair) <= set(group) for group in one["groups"])
                and not any(
                    set(pair) <= set(group)
                    for lower in (level, *others)
                    if lower["level"] < one["level"]
                    for group in lower["groups"]
                )
            ]
            assert one["median"] == pytest.approx(float(np.median(inside)), rel=1e-12)
