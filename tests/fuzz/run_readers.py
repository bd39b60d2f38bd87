"""Run files of every experiment, through every command that reads run files."""

from __future__ import annotations

from typing import Final

from fuzz.reader import Reader
from fuzz.seeds import SMALL, collective, map_of_sizes, messages, runs, small_map
from made_up import (
    emulations,
    grid_runs,
    hotspots,
    io_recordings,
    latency_maps,
    recordings,
    sweeps,
)

__all__ = ["RUN_READERS"]

SHOWN: Final = ("show {file}", "show {file} --json")
CSV: Final = "export {file} --to csv -o {out}"

ANY: Final = (
    "report {file} -o {out}",
    "check {file}",
    "check {file} --json --baseline {folder}",
    "check {file} --allow host=n1 --junit {out}-j --hosts-out {out}-h --openmetrics {out}-m",
    "check ok-map.jsonl --baseline {folder} --strict",
    "baseline add {out} {file}",
    "baseline list {folder}",
    "baseline list {folder} --json",
    "predict collective-io --model ok-nodes.json --hostfile {file} --rows",
)
"""What takes runs of any kind."""

KEPT: Final = (
    "history {folder} -o {out}",
    "baseline show {folder}",
    "baseline show {folder} --json",
    "plot {folder} --view history -o {out}.svg",
)
"""What takes runs over time."""

COMPARED: Final = (
    "compare {file} {file} --one-launch --json",
    "compare {folder} {folder} --fail-on slower:5%",
)


def _plots(*views: str) -> tuple[str, ...]:
    return tuple(f"plot {{file}} --view {view} -o {{out}}.svg" for view in views)


def _exports(*forms: str) -> tuple[str, ...]:
    return tuple(f"export {{file}} --to {form} -o {{out}}" for form in forms)


RUN_READERS: Final[dict[str, Reader]] = {
    "latency-map": Reader(
        "records",
        (
            *SHOWN,
            *ANY,
            *KEPT,
            *COMPARED,
            CSV,
            "show {folder} --pool",
            "show {file} --threshold 5%",
            "compare {file} ok-map.jsonl",
            "compare ok-map.jsonl {file}",
            *_exports("mmpi", "matlab", "npz", "parquet"),
            *_plots("heatmap", "levels", "surface --sort cost", "distribution"),
        ),
        runs(small_map, map_of_sizes, latency_maps.three_ranks),
        2,
    ),
    "sweep": Reader(
        "records",
        (
            *SHOWN,
            *ANY,
            *KEPT,
            *COMPARED,
            CSV,
            "fit {file}",
            "fit {file} --family hockney --explain --verbose -o {out}",
            "compare {file} ok-sweep.jsonl",
            "show {file} ok-sweep.jsonl --pool",
            "fit {file} ok-sweep.jsonl --family auto --rivals --robust",
            *_exports("osu", "gnuplot", "goal-loggops", "simgrid", "parquet"),
            *_plots(
                "time",
                "bandwidth",
                "distribution",
                "fit --family hockney",
                "deviation --family hockney",
            ),
        ),
        runs(messages, lambda: sweeps.bisection(ranks=4, sizes=SMALL[:3], repeats=4), collective),
        2,
    ),
    "grids": Reader(
        "records",
        (
            *SHOWN,
            *ANY,
            *KEPT,
            *COMPARED,
            "fit {file}",
            *_plots("grids"),
            "tune collectives {file}",
            "tune collectives {file} -o {out}",
        ),
        runs(lambda: grid_runs.grid_run(8, ("2x4",), ops=("bcast",), sizes=SMALL[1:3], repeats=3)),
    ),
    "hotspot": Reader(
        "records",
        (
            *SHOWN,
            *ANY,
            *KEPT,
            *COMPARED,
            CSV,
            "fit {file} --family hotspot",
            *_plots("plane"),
        ),
        runs(
            lambda: hotspots.hotspot(intra=2, inter=2, repeats=3),
            lambda: hotspots.sizes(repeats=2, of=(64, 4096), nodes=4),
        ),
    ),
    "tile-io": Reader(
        "records",
        (
            *SHOWN,
            *ANY,
            *KEPT,
            *COMPARED,
            *_plots("nodes"),
            "predict collective-io --model ok-nodes.json --nodes 2,2 --calls {file} --json",
            "place aggregators --model ok-nodes.json --nodes 4,4 --calls {file} --dry-run",
        ),
        runs(lambda: hotspots.tile_io(repeats=3), lambda: hotspots.exchange()),
    ),
    "emulation": Reader(
        "records",
        (
            *SHOWN,
            *ANY,
            *KEPT,
            CSV,
            *_plots("slowdown", "phases", "timeline"),
        ),
        runs(lambda: emulations.emulation(repeats=5)),
    ),
    "recording": Reader(
        "records",
        (
            *SHOWN,
            *ANY,
            "import {file} --from recording -o {out}",
            *_plots("matrix", "matrix --value seconds"),
        ),
        runs(lambda: recordings.halo_recording(2, 2, 10, ppn=2)),
    ),
    "io-recording": Reader(
        "records",
        (
            *SHOWN,
            *ANY,
            "predict collective-io --model ok-nodes.json --table {file} --nodes 2,2",
            "place aggregators --model ok-nodes.json --table {file} --dry-run --json",
            "place aggregators --model ok-nodes.json --table {file} --choose all --dry-run",
        ),
        runs(io_recordings.io_recording, lambda: io_recordings.io_recording(seen=False)),
    ),
}
