"""Applications on a simulated machine: predicted by models of that machine, and emulated there."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from beds.mpis import PATIENCE, SCRIPTS
from isochrone import models
from isochrone.measure.platforms import parse
from isochrone.models import Model

WITHIN = 0.05

SPEC = """
isochrone: app/1
seed: 3
runs: [alone]
repeats: 1
parameters: {n: 1024}
apps:
  - {name: ring, ranks: 4, iterations: 10, phases: [
      {exchange: {topology: token-ring, bytes: 1KiB, compute: 20us}}]}
  - {name: servers, ranks: 4, iterations: 10, phases: [
      {exchange: {topology: client-server, bytes: 512, reply: 4KiB,
                  compute: {time: {exponential: {mean: 20us}}}}}]}
  - {name: farm, ranks: 4, iterations: 5, phases: [
      {exchange: {topology: task-farm, tasks: 10, dispatch: 30us, bytes: 16KiB,
                  compute: {time: {lognormal: {median: 50us, sigma: 0.8}}}}}]}
  - {name: pipe, ranks: 4, iterations: 20, phases: [
      {exchange: {topology: pipeline, bytes: 128KiB, compute: 10us}}]}
  - {name: halo, ranks: 4, iterations: 10, phases: [
      {exchange: {topology: {halo: {shape: [2, 2]}}, bytes: 100KiB}}]}
  - {name: rows, ranks: 4, iterations: 10, phases: [
      {compute: 20us}, {allgather: {bytes: 8*n/p}}]}
  - {name: repeats, ranks: 4, iterations: 3, phases: [
      {repeat: {times: 10, phases: [
        {compute: {time: 20us, schedule: [0.5, 1, 1.5]}},
        {exchange: {topology: {offsets: {dimensions: 2, list: [{to: [0, 1]}, {to: [1, 0]}]}},
                    bytes: 4KiB}},
        {every: 5, allgather: {bytes: 8*n/p}}]}},
      {reduce: {bytes: 512}}]}
  - {name: steps, ranks: 4, iterations: 3, phases: [
      {repeat: {times: 8, step: k, phases: [
        {compute: {time: 10us * (k + 1), among: {dimensions: 1, apart: 2**(k % 2)}}},
        {exchange: {topology: {offsets: {dimensions: 1, apart: 2**(k % 2), list: [{to: [1]}]}},
                    bytes: 8KiB * (k + 1)}},
        {bcast: {bytes: 8*n, root: k % p}}]}}]}
  - {name: columns, ranks: 4, iterations: 10, phases: [
      {compute: 20us}, {reduce: {bytes: 8*n}}, {bcast: {bytes: 8*n}}]}
"""

MESSAGES = (
    ("--mode", "blocking"),
    ("--mode", "nonblocking", "--window", "64"),
    ("--mode", "blocking", "--window", "64"),
    ("--mode", "bidirectional"),
)


def run(*words: str | Path) -> str:
    argv = [SCRIPTS / "isochrone", *words]
    answer = subprocess.run(argv, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert answer.returncode == 0, answer.stderr
    return answer.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, simulation: object) -> Path:
    """A machine of 18 nodes of two cores."""
    folder = tmp_path_factory.mktemp("applications")
    machine = parse("nodes:18 cores:2")
    (folder / "machine.xml").write_text(machine.xml())
    (folder / "machine.hosts").write_text(machine.hosts())
    return folder


def measured(folder: Path, name: str, ranks: int, *words: str) -> Path:
    out = folder / f"{name}.jsonl"
    run(
        "measure",
        *words,
        "-n",
        str(ranks),
        "--quiet",
        "--repeats",
        "1",
        "--platform",
        folder / "machine.xml",
        "-o",
        out,
    )
    return out


@pytest.fixture(scope="module")
def fitted(folder: Path) -> list[Path]:
    """Model files of messages within a node and between two, and of collectives on 4 ranks."""
    found: list[Model] = []
    for pair in ("0-1", "0-2"):
        for words in MESSAGES if pair == "0-2" else MESSAGES[:2]:
            path = measured(
                folder,
                "messages",
                4,
                "point-to-point",
                "--pairs",
                pair,
                *words,
                "--bytes",
                "0,1:1MiB:x4,65535",
                "--force",
            )
            found.append(models.fit(path, "hockney"))
    path = measured(
        folder,
        "collective",
        4,
        "collective",
        "--op",
        "allgather,reduce,bcast",
        "--bytes",
        "8,512,2KiB,8KiB,16KiB,32KiB",
        "--sync",
        "window",
    )
    times = models.load([path])
    found += [models.fit(times.only(op=op), "hockney") for op in ("allgather", "reduce", "bcast")]
    paths = [folder / f"model-{k}.json" for k in range(len(found))]
    for model, path in zip(found, paths, strict=True):
        models.write(model, path)
    return paths


def test_predicted_times_are_those_of_the_emulation(folder: Path, fitted: list[Path]) -> None:
    """Barton's four topologies, a halo, both variants of Jacobi, and loops whose turns differ."""
    (folder / "app.yaml").write_text(SPEC)
    out = folder / "emulated.jsonl"
    run("emulate", folder / "app.yaml", "--quiet", "--platform", folder / "machine.xml", "-o", out)
    document = json.loads(run("compare", out, "--with-prediction", "--json", "--model", *fitted))
    totals = {row["app"]: row for row in document["compared"] if row["phase"] is None}
    apps = ["ring", "servers", "farm", "pipe", "halo", "rows", "repeats", "steps", "columns"]
    assert list(totals) == apps
    away = {name: abs(row["away"]) for name, row in totals.items()}
    assert max(away.values()) < WITHIN, away
    assert document["origin"] == "simulated"
