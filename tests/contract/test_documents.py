"""Every JSON document has a schema, which says of real documents which keys they have, and no more.

Documents of other tests are checked as well: `beds.command_line.run_here` does it.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from jsonschema import Draft202012Validator

from beds import documents as checked
from beds.command_line import run_here
from beds.golden import Golden
from beds.mpis import ROOT
from isochrone import models
from isochrone.applications.predict.application_accuracy import Accuracy, Said
from isochrone.base.documents import plain
from isochrone.base.inference import Estimate, speedup
from isochrone.cli.main import parser
from isochrone.cli.parser import load_all
from isochrone.collective_io.patterns.tiles import tile_io
from isochrone.collective_io.workload.call import Call
from isochrone.collectives.tune.program import TunedProgram, Used, Way
from isochrone.console import documents
from isochrone.console.as_json import json_text
from isochrone.runfile.file import write
from isochrone.runfile.run import Run
from made_up import grids, hotspots, sweeps
from made_up.applications import collectives, messages
from made_up.emulations import emulation
from made_up.grid_runs import grid_run
from made_up.io_machines import MIB, hosts, random_machine, served, tile_run
from made_up.io_recordings import io_recording
from made_up.jobs import TACHYON
from made_up.latency_maps import latency_map, with_retests
from made_up.launches import launches
from made_up.recordings import halo_recording
from made_up.tuning import launch

COMMANDS = {one.prog.removeprefix("isochrone "): one for one in load_all(parser())}
"""All commands by their words."""
UNEVEN = ("--nodes", "4,4,2,2,1,1,1,1", "--tiles", "4x4", "--model", TACHYON)
SIZES = (8, 64, 512, 4096, 65536, 1 << 20)
"""The schema of descriptions of applications, which `isochrone emulate --schema` prints."""

Found = Iterator[Any]


def answered(*words: object) -> Any:
    """Return the document that a command prints."""
    done = run_here(*words, "--json")
    assert done.returncode == 0, done.stderr
    return checked.strictly(done.stdout)


def shown(folder: Path, *runs: Run) -> Found:
    for number, run in enumerate(runs):
        path = folder / f"{number}.jsonl"
        write(run, path)
        yield answered("show", path)


def slow_map() -> Run:
    """Make a map with a slow node, pairs of which were measured again."""
    names = [f"n{k // 2}" for k in range(12)]
    run = latency_map(names)
    run.header["clock"] = {"source": "MPI_Wtime", "granularity": 2e-8}
    table = run.pairs()
    for key in ("mean", "median", "min", "max", "p95", "low", "high"):
        late = (table["i"] // 2 == 3) | (table["j"] // 2 == 3)
        table.columns[key] = table[key] * (1 + 4 * late)
    return with_retests(run, [(6, 7), (6, 8)])


def maps(folder: Path) -> Found:
    yield from shown(folder, slow_map(), latency_map(["a", "b"], nbytes=(64, 4096)))


def all_sweeps(folder: Path) -> Found:
    yield from shown(
        folder,
        sweeps.point_to_point(),
        sweeps.point_to_point(window=64),
        sweeps.bisection(slow=2),
        sweeps.collective(late=3),
        sweeps.collective(("barrier",)),
        sweeps.point_to_point(complete=False, passes=10),
        grid_run(),
        grids.grid_run(),
    )


def hot_spots(folder: Path) -> Found:
    yield from shown(folder, hotspots.hotspot())


def tiles(folder: Path) -> Found:
    yield from shown(
        folder,
        hotspots.tile_io(),
        hotspots.exchange(),
        hotspots.tile_io(file=False, complete=False),
    )


def unknown_kinds(folder: Path) -> Found:
    run = sweeps.point_to_point(sizes=(8, 64))
    run.header |= {"experiment": "weather", "kind": "forecast"}
    yield from shown(folder, run)


def emulated(folder: Path) -> Found:
    yield from shown(folder, emulation())


def recorded(folder: Path) -> Found:
    yield from shown(folder, halo_recording(4, 4, 10))


def recorded_io(folder: Path) -> Found:
    yield from shown(folder, io_recording(), io_recording(seen=False))


def launched(folder: Path, name: str, seed: int = 1, factor: float = 1.0) -> list[Path]:
    made = launches(4, np.random.default_rng(seed), factor=factor, between=0.01)
    paths = [folder / f"{name}-{number}.jsonl" for number in range(1, 5)]
    for run, path in zip(made, paths, strict=True):
        write(run, path)
    return paths


def pooled(folder: Path) -> Found:
    yield answered("show", "--pool", *launched(folder, "run"))
    map_files = [folder / f"map-{k}.jsonl" for k in range(3)]
    for path in map_files:
        write(latency_map(["a", "a", "b", "b"]), path)
    yield answered("show", "--pool", *map_files)


def compared(folder: Path) -> Found:
    before, after = launched(folder, "a"), launched(folder, "b", 2, 1.4)
    sides = [",".join(map(str, side)) for side in (before, after)]
    yield answered("compare", *sides)
    done = run_here("compare", *sides, "--fail-on", "slower:5%", "--json")
    assert done.returncode == 1
    yield checked.strictly(done.stdout)
    yield answered("compare", before[0], after[0])
    write(slow_map(), folder / "slow.jsonl")
    write(latency_map([f"n{k // 2}" for k in range(12)]), folder / "map.jsonl")
    yield answered("compare", folder / "map.jsonl", folder / "slow.jsonl")
    both = f"{before[0]},{folder / 'map.jsonl'}"
    yield answered("compare", both, both)


def against_models(folder: Path) -> Found:
    """Rows as they are made; tests/end_to_end/test_emulate.py checks the whole document."""
    rows = [
        Accuracy("a", phase, Estimate(n, 1.0, low, 1.2), Said(1.1, 0.9, 1.2))
        for phase, n, low in ((None, 3, 0.9), ("compute", 1, math.nan))
    ]
    yield {"compared": plain(rows), "origin": "measured", "warnings": []}


def fitted(folder: Path) -> Found:
    made = (
        sweeps.point_to_point(sizes=SIZES),
        sweeps.collective(sizes=SIZES),
        grid_run(ops=("bcast",)),
        hotspots.hotspot(),
    )
    for number, run in enumerate(made):
        path = folder / f"{number}.jsonl"
        write(run, path)
        yield answered("fit", path, "--explain", "--rivals")
    yield answered("fit", *launched(folder, "run"), "--family", "hockney", "--split", "none")
    for path in sorted((ROOT / "examples/models").glob("*.json")):
        yield json.loads(path.read_text())


def times(folder: Path) -> Found:
    models.write(models.fit(sweeps.point_to_point()), folder / "pair.json")
    yield answered("predict", "message", "--model", folder / "pair.json", "--bytes", "8,1MiB")
    models.write(models.fit(sweeps.collective(("bcast",), 4)), folder / "c.json")
    asked = ("--model", folder / "c.json", "--ranks", 4, "--bytes", "64,16MiB")
    yield answered("predict", "collective", *asked)


def on_grids(folder: Path) -> Found:
    models.write(models.fit([grid_run(ops=("bcast",))]), folder / "grid.json")
    asked = ("--model", folder / "grid.json", "--ranks", 16, "--bytes", "64,4KiB")
    yield answered("predict", "collective", *asked, "--grid", "best")
    yield answered("predict", "collective", *asked, "--grid", "4x4")


def applications(folder: Path) -> Found:
    (folder / "app.yaml").write_text(
        "isochrone: app/1\nparameters: {n: 1000}\napps:\n  - name: jacobi\n    ranks: 4\n"
        "    iterations: 5\n    phases:\n      - compute: 1us\n      - allgather: {bytes: 8*n/p}\n"
    )
    models.write(collectives(allgather=(10e-6, 1e-6)), folder / "m.json")
    asked = ("predict", "app", folder / "app.yaml", "--model", folder / "m.json")
    yield answered(*asked, "--set", "n=1000,2000")


def scaled(folder: Path) -> Found:
    files = [folder / f"r{rows * columns}.jsonl" for rows, columns in ((2, 2), (4, 2), (4, 4))]
    for path, shape in zip(files, ((2, 2), (4, 2), (4, 4)), strict=True):
        write(halo_recording(*shape), path)
    models.write(messages(), folder / "m.json")
    models.write(collectives(allreduce=(10e-6, 1e-6)), folder / "a.json")
    known = ("--to", "32", "--model", folder / "m.json", folder / "a.json")
    yield answered("scale", *files, *known)
    yield answered("scale", *files[1:], *known)


def positions(folder: Path) -> Found:
    write(halo_recording(3, 3), folder / "halo.jsonl")
    yield answered("scale", "--list", folder / "halo.jsonl")


def collective_io(folder: Path) -> Found:
    yield answered("predict", "collective-io", *UNEVEN)
    call = Call(tile_io(4, 4, (512, 512), 4), buffer=4 * MIB)
    measured = random_machine(5).measured(call, hosts(), served(hosts(), 8))
    write(tile_run(measured, {"cb_nodes": "8"}), folder / "calls.jsonl")
    more = ("--tile", "512x512", "--element", "4", "--calls", folder / "calls.jsonl")
    yield answered("predict", "collective-io", *UNEVEN, *more)


def nodes(folder: Path) -> Found:
    yield answered("place", "nodes", *UNEVEN, "--dry-run")


def aggregators(folder: Path) -> Found:
    yield answered("place", "aggregators", *UNEVEN, "--dry-run")
    terms, costs = ["ba", "max(bi,bo)", "pe", "1"], [3e-10, 4.5e-8, 2e-4, 1e-3]
    segment = models.Segment("hotspot-bytes", terms, costs, where={"order": "intra-first"})
    models.write(models.Model([segment]), folder / "bytes.json")
    job = (*UNEVEN[:4], "--element", "4", "--model", folder / "bytes.json", "--choose", "all")
    yield answered("place", "aggregators", *job, "--dry-run")
    yield answered("place", "aggregators", *job, "--driver", "ompio")


def orders(folder: Path) -> Found:
    yield answered("place", "orders", *UNEVEN, "--max-orders", 4, "--dry-run")


def tuned(folder: Path) -> Found:
    files = []
    for number in range(3):
        run = launch({"library": 1.0, "2x2": 0.7}, seed=number, ops=("bcast",), ranks=4)
        files.append(folder / f"{number}.jsonl")
        write(run, files[-1])
    yield answered("tune", "collectives", *files)


def tuned_io(folder: Path) -> Found:
    """Without a program: what is there before anything was started, and what a start adds."""
    start = {
        "command": ["mpiexec", "./a.out"],
        "launches": 5,
        "complete": False,
        "patterns": [],
        "parts": {},
        "best_possible": None,
        "choices": [],
        "given": None,
        "proposed": None,
        "gain": None,
        "whole_gain": None,
        "kept": None,
        "use": [],
        "why": "",
        "starts": 0,
        "warnings": [],
        "portable": None,
    }
    yield start


def tuned_program(folder: Path) -> Found:
    """Likewise; with a choice that was tried."""
    document = TunedProgram(["mpiexec", "./a.out"], 2, 1.0, 0.5, [Used("bcast", 8, 3, 0.5)], 0.0)
    yield json.loads(json_text(document))
    gain = speedup([2.0, 2.1, 2.2], [1.0, 1.1, 1.2])
    document.ways = [Way("table", [], [folder / "table.json"], ["isochrone exec"], {}, gain)]
    document.kept = "table"
    yield json.loads(json_text(document))


def run_files(folder: Path) -> Found:
    made = (
        slow_map(),
        sweeps.point_to_point(),
        sweeps.bisection(),
        sweeps.collective(),
        emulation(),
        hotspots.hotspot(),
        hotspots.tile_io(),
        io_recording(),
        halo_recording(2, 2, 3),
        grid_run(),
    )
    for number, run in enumerate(made):
        path = folder / f"{number}.jsonl"
        write(run, path)
        yield from some(list(map(json.loads, path.read_text().splitlines())))


def some(records: list[dict[str, Any]]) -> Found:
    """Return a few records of each name: those of an experiment are all alike."""
    for name in dict.fromkeys(one["record"] for one in records):
        yield from [one for one in records if one["record"] == name][:5]


def kept_nights(folder: Path) -> list[Path]:
    """Keep some runs of one machine in a folder, and return their files."""
    files = launched(folder, "night")
    done = run_here("baseline", "add", folder / "nights", *files)
    assert done.returncode == 0, done.stderr
    return files


def listed(folder: Path) -> Found:
    kept_nights(folder)
    yield answered("baseline", "list", folder / "nights")


def typical(folder: Path) -> Found:
    kept_nights(folder)
    yield answered("baseline", "show", folder / "nights")


def verdicts(folder: Path) -> Found:
    files = kept_nights(folder)
    yield answered("check", files[0], "--lenient", "--baseline", folder / "nights")
    write(slow_map(), folder / "slow.jsonl")
    done = run_here("check", folder / "slow.jsonl", "--allow", "host=n9", "--json")
    assert done.returncode == 1
    yield checked.strictly(done.stdout)


def configured(folder: Path) -> Found:
    yield answered("config")


def healthy(folder: Path) -> Found:
    """Of a host without the MPI that is meant."""
    yield checked.strictly(run_here("doctor", "--mpicc", folder / "mpicc", "--json").stdout)


CASES: dict[str, Callable[[Path], Found]] = {
    "baseline-list": listed,
    "baseline-show": typical,
    "check": verdicts,
    "config": configured,
    "compare": compared,
    "compare-with-prediction": against_models,
    "doctor": healthy,
    "model": fitted,
    "place-aggregators": aggregators,
    "place-nodes": nodes,
    "place-orders": orders,
    "predict-app": applications,
    "predict-collective-io": collective_io,
    "predict-grids": on_grids,
    "predict-times": times,
    "run-file": run_files,
    "scale": scaled,
    "scale-list": positions,
    "show-clocks": unknown_kinds,
    "show-emulation": emulated,
    "show-hotspot": hot_spots,
    "show-io-recording": recorded_io,
    "show-latency-map": maps,
    "show-pool": pooled,
    "show-recording": recorded,
    "show-sweep": all_sweeps,
    "show-tile-io": tiles,
    "tune-collective-io": tuned_io,
    "tune-collectives": tuned,
    "tune-program": tuned_program,
}
"""What makes documents of each name."""


@pytest.mark.slow
def test_real_documents_have_the_keys_that_are_declared_and_no_others(
    tmp_path: Path, subtests: pytest.Subtests
) -> None:
    for name in documents.names():
        with subtests.test(str(name)):
            assert name in CASES, (
                f"no document '{name}' is checked: add what makes one to CASES here"
            )
            (folder := tmp_path / name).mkdir()
            found = list(CASES[name](folder))
            assert found
            for document in found:
                checked.check(document, name)


def test_a_schema_is_one_and_refuses_a_key_that_is_not_declared(subtests: pytest.Subtests) -> None:
    for name in documents.names():
        with subtests.test(str(name)):
            schema = documents.schema(name)
            Draft202012Validator.check_schema(schema)
            closed = list(objects(schema))
            assert closed, name
            if name != "run-file":  # whose records belong to experiments
                assert not checked.validator(name).is_valid({"surprise": 1})


def objects(schema: Any) -> Iterator[dict[str, Any]]:
    """Find all objects with declared keys; each says that it has no others, or which."""
    if isinstance(schema, list):
        for one in schema:
            yield from objects(one)
    elif isinstance(schema, dict):
        if schema.get("type") == "object" and "properties" in schema:
            assert "additionalProperties" in schema, schema
            yield schema
        for one in schema.values():
            yield from objects(one)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_with_json_has_a_schema(command: str) -> None:
    """Whoever adds --json to a command also declares what it prints."""
    actions = {
        option: action
        for action in COMMANDS[command]._actions
        for option in action.option_strings
        if action.help is not argparse.SUPPRESS
    }
    if "--json" not in actions:
        return
    assert documents.of_command(command), (
        f"isochrone {command} --json prints a document without a schema: name its class in "
        "DOCUMENTS of the command"
    )
    assert "--schema" in actions, f"isochrone {command}: add --json by cli/as_json.add_json"
    printed = run_here(*command.split(), "--schema")
    assert printed.returncode == 0, printed.stderr
    assert json.loads(printed.stdout) == documents.printed_by(command)


def test_all_schemas_are_written_to_a_folder(tmp_path: Path) -> None:
    assert documents.main([str(tmp_path)]) == 0
    made = {path.stem: json.loads(path.read_text()) for path in tmp_path.iterdir()}
    assert made == {name: documents.schema(name) for name in documents.names()}


def test_a_schema_by_name_and_a_wrong_name(tmp_path: Path, golden: Golden) -> None:
    done = run_here("show", "--schema", "model")
    assert json.loads(done.stdout) == documents.schema("model")
    done = run_here("fit", "--schema", "models")
    assert done.returncode == 2
    golden(done.stderr)
    assert done.stderr.count("\n") == 1


def test_show_of_several_files_is_a_list_of_documents(tmp_path: Path) -> None:
    for name, run in (("a", latency_map(["a", "b"])), ("b", sweeps.point_to_point())):
        write(run, tmp_path / f"{name}.jsonl")
    found = answered("show", tmp_path / "a.jsonl", tmp_path / "b.jsonl")
    assert len(found) == 2
