"""A page of each command that decides something, as the command writes it from made-up results."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from beds.command_line import run_here
from isochrone import models
from isochrone.base.inference import Speedup
from isochrone.cli.commands.tune import program as tune_program
from isochrone.collective_io.cli.placing import outcome
from isochrone.collectives.tune.program import TunedProgram, Used, Way
from isochrone.collectives.tune.times import read_times
from isochrone.collectives.tune.tuning import savings
from isochrone.console.decision_page import tell_decision
from isochrone.runfile.file import write
from made_up.applications import collectives, messages
from made_up.latency_maps import latency_map
from made_up.recordings import halo_recording
from made_up.sweeps import collective
from made_up.tuning import launch

SPEC = """
isochrone: app/1
apps:
  - name: jacobi
    ranks: 4
    iterations: 50
    phases:
      - compute: 1ms
      - allgather: {bytes: 2000}
"""

COMMANDS = {
    "check": "check map.jsonl",
    "fit": "fit c2.jsonl c4.jsonl c8.jsonl c16.jsonl",
    "predict-collective": "predict collective --model bcast.json --ranks 32,64 --bytes 8,64KiB",
    "predict-app": "predict app app.yaml --model messages.json allgather.json",
    "scale": "scale r4.jsonl r8.jsonl r16.jsonl --to 64 --model messages.json allreduce.json",
    "tune-collectives": "tune collectives launch-1.jsonl launch-2.jsonl launch-3.jsonl",
}
"""The commands that need no MPI, by the name of their page."""

GAIN = Speedup(2.0, 1.6, 1.25, 1.12, 1.40, 5)


def write_results(folder: Path) -> None:
    """Write the runs, models and descriptions that the commands read."""
    hosts = [host for host in "abcdefgh" for _ in range(4)]
    write(latency_map(hosts, slow_hosts={"c": 3.0}), folder / "map.jsonl")
    sweeps = [collective(("bcast",), ranks) for ranks in (2, 4, 8, 16)]
    for run in sweeps:
        write(run, folder / f"c{run.size}.jsonl")
    models.write(models.fit(sweeps), folder / "bcast.json")
    for op in ("allgather", "allreduce"):
        models.write(collectives(**{op: (10e-6, 1e-6)}), folder / f"{op}.json")
    models.write(messages(), folder / "messages.json")
    (folder / "app.yaml").write_text(SPEC)
    for shape in ((2, 2), (4, 2), (4, 4)):
        write(halo_recording(*shape), folder / f"r{shape[0] * shape[1]}.jsonl")
    for number in (1, 2, 3):
        run = launch({"library": 1.0, "4x4": 0.7}, seed=number)
        write(run, folder / f"launch-{number}.jsonl")


def write_pages(folder: Path) -> dict[str, Path]:
    """Return the pages, by the name of the command."""
    write_results(folder)
    pages = {}
    for name, words in COMMANDS.items():
        pages[name] = folder / f"{name}.html"
        answer = run_here(*words.split(), "--page", pages[name], cwd=folder)
        assert pages[name].exists(), answer.stderr
    saved = savings(read_times([launch({"library": 1.0, "4x4": 0.7})]), "grid", 0.05)
    way = Way("table", saved, [], ["isochrone exec --tuning table.json -- ./app"], {}, GAIN)
    tuned = TunedProgram(
        ["mpiexec", "./app"], 16, 2.0, 0.4, [Used("allgather", 64, 9, 0.3)], 0.0, [way], "table"
    )
    choice = {
        "name": "1",
        "hints": {"cb_nodes": "2"},
        "environment": {},
        "starts": [],
        "gain": GAIN,
    }
    hints = {
        "portable": None,
        "choices": [choice],
        "verdict": "faster",
        "kept": "romio-hints",
        "proposed": {"words": "2 aggregators"},
        "use": ["export ROMIO_HINTS=romio-hints"],
        "gain": GAIN,
        "whole_gain": GAIN,
        "warnings": ["few launches"],
    }
    for name, sections in (
        ("tune-program", tune_program.sections(tuned, folder)),
        ("tune-collective-io", outcome(hints, folder)),
    ):
        pages[name] = folder / f"{name}.html"
        asked = Namespace(page=pages[name], json=False)
        tell_decision(asked, None, name, sections, "mpiexec ./app")
    return pages
