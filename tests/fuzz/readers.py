"""Every kind of file that a command reads: an undamaged one, and the commands that read it."""

from __future__ import annotations

import contextlib
import itertools
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from beds.command_line import run_here
from isochrone.runfile.file import write
from isochrone.runfile.run import Run
from isochrone.workloads.traces.folding import Event
from made_up import (
    emulations,
    grid_runs,
    hotspots,
    io_recordings,
    latency_maps,
    recordings,
    sweeps,
    traces,
    tuning_tables,
)  # fmt: skip

__all__ = ["READERS", "Reader", "helpers", "seeds_of"]

ROOT: Final = Path(__file__).parents[2]
SMALL: Final = (1, 64, 4096, 65536, 262144)


@dataclass(frozen=True)
class Reader:
    """A kind of file.

    Attributes
    ----------
    kind
        What it is made of: a key of `mutations.MUTATIONS`.
    commands
        Command lines that read it as ``{file}``, or its content as ``{word}``, and write at most
        ``{out}``. Variables of the environment may come first.
    seeds
        Writes undamaged ones into a folder, and returns their names.
    beside
        Files of the folder of helpers that the command lines name.
    weight
        How often it is drawn beside the others.
    """

    kind: str
    commands: Sequence[str]
    seeds: Callable[[Path], Sequence[str]]
    beside: Sequence[str] = ()
    weight: float = 1.0


def seeds_of(name: str, folder: Path) -> list[bytes]:
    """Return what the undamaged files of a reader hold."""
    folder.mkdir(parents=True, exist_ok=True)
    return [(folder / one).read_bytes() for one in READERS[name].seeds(folder)]


def helpers(folder: Path) -> None:
    """Write the undamaged files that stand beside a damaged one."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "halo.yaml").write_bytes((ROOT / "examples/apps/halo.yaml").read_bytes())
    (folder / "ok-clic.json").write_bytes((ROOT / "examples/models/clic.json").read_bytes())
    write(_map(), folder / "ok-map.jsonl")
    write(sweeps.point_to_point(sizes=SMALL, repeats=5), folder / "ok-sweep.jsonl")
    write(hotspots.hotspot(intra=3, inter=3, repeats=3), folder / "ok-hotspot.jsonl")
    _made(folder, "fit ok-hotspot.jsonl --model hotspot -o ok-nodes.json")
    _made(folder, "fit ok-sweep.jsonl --model hockney -o ok-messages.json")


def _made(folder: Path, line: str) -> None:
    answer = run_here(*line.split(), cwd=folder)
    assert answer.returncode == 0, f"{line}: {answer.stderr}"


def _runs(*makers: Callable[[], Run]) -> Callable[[Path], list[str]]:
    """Write made-up runs."""

    def make(folder: Path) -> list[str]:
        names = []
        for number, maker in enumerate(makers):
            names.append(f"seed-{number}.jsonl")
            with contextlib.suppress(FileNotFoundError):
                (folder / names[-1]).unlink()
            write(maker(), folder / names[-1])
        return names

    return make


def _texts(*texts: str) -> Callable[[Path], list[str]]:
    """Write texts."""

    def make(folder: Path) -> list[str]:
        names = [f"seed-{number}" for number in range(len(texts))]
        for name, text in zip(names, texts, strict=True):
            (folder / name).write_text(text)
        return names

    return make


def _copies(*patterns: str) -> Callable[[Path], list[str]]:
    """Copy files of the repository."""

    def make(folder: Path) -> list[str]:
        found = sorted(itertools.chain.from_iterable(ROOT.glob(one) for one in patterns))
        assert found, f"there is nothing like {patterns}"
        for file in found:
            (folder / file.name).write_bytes(file.read_bytes())
        return [file.name for file in found]

    return make


def _exported(form: str, maker: Callable[[], Run]) -> Callable[[Path], list[str]]:
    """Write a run as another program would."""

    def make(folder: Path) -> list[str]:
        _runs(maker)(folder)
        _made(folder, f"export seed-0.jsonl --to {form} -o exported --force")
        return ["exported"]

    return make


def _map() -> Run:
    return latency_maps.latency_map(["n1", "n1", "n2", "n2", "n3", "n3"], slow_hosts={"n3": 2.0})


def _sizes() -> Run:
    return latency_maps.latency_map(["a", "b", "b"], nbytes=(64, 4096))


def _messages() -> Run:
    return sweeps.point_to_point(sizes=SMALL, repeats=6, passes=3)


def _collective() -> Run:
    return sweeps.collective(sizes=SMALL[:3], repeats=6, ranks=4)


def _models(folder: Path) -> list[str]:
    helpers(folder)
    return [*_copies("examples/models/*.json")(folder), "ok-nodes.json", "ok-messages.json"]


def _liballprof(folder: Path) -> list[str]:
    events = [Event("allreduce", bytes=8, seconds=1e-5, gap=1e-3) for _ in range(3)]
    return [file.name for file in traces.liballprof(folder, [events])]


def _table() -> str:
    rows = [f"bcast,{p},{b},{(p * 1e-6 + b * 1e-9):.3e}" for p in (2, 4, 8) for b in (8, 512, 4096)]
    return "op,p,b,seconds\n" + "\n".join(rows) + "\n"


def _word(command: str, *words: str) -> Reader:
    """Read a word of the command line like a file."""
    named = {word for word in command.split() if word.startswith("ok-") or word.endswith(".yaml")}
    return Reader("text", (command,), _texts(*words), sorted(named), 0.3)


PLACE: Final = "place nodes --model ok-nodes.json --rows --seconds 0.2"
SHOWN: Final = ("show {file}", "show {file} --json", "export {file} --to csv -o {out}")

READERS: Final[dict[str, Reader]] = {
    "latency-map": Reader(
        "records",
        (
            *SHOWN,
            "show {file} --least 5%",
            "compare {file} ok-map.jsonl",
            "compare ok-map.jsonl {file}",
            "export {file} --to mmpi -o {out}",
            "export {file} --to matlab -o {out}",
            "export {file} --to npz -o {out}",
        ),
        _runs(_map, _sizes, latency_maps.three_ranks),
        ("ok-map.jsonl",),
        2,
    ),
    "sweep": Reader(
        "records",
        (
            *SHOWN,
            "fit {file} --model hockney",
            "compare {file} ok-sweep.jsonl",
            "show {file} ok-sweep.jsonl --pool",
            "export {file} --to osu -o {out}",
            "export {file} --to gnuplot -o {out}",
        ),
        _runs(
            _messages, lambda: sweeps.bisection(ranks=4, sizes=SMALL[:3], repeats=4), _collective
        ),
        ("ok-sweep.jsonl",),
        2,
    ),
    "grids": Reader(
        "records",
        ("show {file}", "show {file} --json", "tune collectives {file}"),
        _runs(lambda: grid_runs.grid_run(8, ("2x4",), ops=("bcast",), sizes=SMALL[1:3], repeats=3)),
    ),
    "hotspot": Reader(
        "records",
        (*SHOWN, "fit {file} --model hotspot"),
        _runs(
            lambda: hotspots.hotspot(intra=2, inter=2, repeats=3),
            lambda: hotspots.sizes(repeats=2, of=(64, 4096), nodes=4),
        ),
    ),
    "tile-io": Reader(
        "records",
        SHOWN[:2],
        _runs(lambda: hotspots.tile_io(ranks=4, repeats=3), lambda: hotspots.exchange()),
    ),
    "emulation": Reader(
        "records",
        SHOWN,
        _runs(lambda: emulations.emulation(repeats=2)),
    ),
    "recording": Reader(
        "records",
        ("show {file}", "show {file} --json", "import {file} --from recording -o {out}"),
        _runs(lambda: recordings.halo_recording(2, 2, 10, ppn=2)),
    ),
    "io-recording": Reader(
        "records",
        (
            "show {file}",
            "show {file} --json",
            "predict collective-io --model ok-nodes.json --table {file} --nodes 2,2",
        ),
        _runs(io_recordings.io_recording, lambda: io_recordings.io_recording(seen=False)),
        ("ok-nodes.json",),
    ),
    "model": Reader(
        "tree",
        (
            "predict collective --model {file} --op bcast --ranks 8 --bytes 1KiB",
            "predict message --model {file} --bytes 1KiB",
            "predict collective --model {file} --op bcast --ranks 2,4 --bytes 8,1MiB",
            "predict collective-io --model {file} --nodes 2,2,1 --rows --json",
        ),
        _models,
        (),
        2,
    ),
    "fit-csv": Reader(
        "text",
        ("fit {file}", "fit {file} --model hockney --json"),
        _texts(
            _table(), "b,seconds\n" + "".join(f"{2**k},{1e-6 + 2**k * 1e-9}\n" for k in range(12))
        ),
        (),
        2,
    ),
    "mmpi": Reader(
        "text", ("import {file} --from mmpi -o {out}",), _copies("tests/golden/mmpi/[cpltm]*.log")
    ),
    "osu": Reader(
        "text", ("import {file} --from osu -o {out} --ranks 4",), _copies("tests/golden/osu/*.txt")
    ),
    "imb": Reader(
        "text", ("import {file} --from imb -o {out}",), _copies("tests/golden/imb/*.txt")
    ),
    "csv": Reader("text", ("import {file} --from csv -o {out}",), _exported("csv", _map)),
    "npz": Reader("zip", ("import {file} --from npz -o {out}",), _exported("npz", _map)),
    "matlab": Reader(
        "binary", ("import {file} --from matlab -o {out}",), _exported("matlab", _map)
    ),
    "liballprof": Reader("text", ("import {file} --from liballprof -o {out}",), _liballprof),
    "host-file": Reader(
        "text",
        (
            "predict collective-io --model ok-nodes.json --hostfile {file} --rows",
            f"{PLACE} --hostfile {{file}} --json",
            f"{PLACE} --hostfile {{file}} --to hydra -o {{out}}",
        ),
        _texts("n1:4\nn2:2\nn3:1\n", "n1 slots=2\nn2 slots=2\n# x\n", "n1\nn1\nn2\n"),
        ("ok-nodes.json",),
    ),
    "access-table": Reader(
        "text",
        ("predict collective-io --model ok-nodes.json --table {file} --nodes 2,2",),
        _texts(
            "rank offset length\n0 0 100\n1 100 100\n2 200 100\n3 300 100\n",
            "0,0,64,4,256\n1,64,64,4,256\n2,128,64,4,256\n3,192,64,4,256\n",
        ),
        ("ok-nodes.json",),
    ),
    "application": Reader(
        "text",
        (
            "predict app {file} --model ok-messages.json",
            "export {file} --to goal -o {out} --set p=4 --iterations 1",
            "export {file} --to simgrid-ti -o {out} --speed 1e9 --set p=4 --iterations 1",
        ),
        _copies("examples/apps/*.yaml", "examples/jacobi/row.yaml"),
        ("ok-messages.json",),
        2,
    ),
    "orders": Reader(
        "tree",
        ("plot {file} --view orders -o {out}.svg",),
        _copies("examples/collective-io/orders.json"),
        (),
        0.3,
    ),
    "tuning-table": Reader(
        "tree",
        ("run --tuning {file} -- no-such-launcher",),
        _texts(
            json.dumps(tuning_tables.document(tuning_tables.rule())),
            json.dumps(tuning_tables.document(tuning_tables.rule(op="bcast", ranks=8, grid="2x4"))),
        ),
    ),
    "nodes": _word(
        "predict collective-io --model ok-nodes.json --rows --nodes {word}", "2,2,1", "4"
    ),
    "slurm-nodes": _word(
        "SLURM_JOB_NODELIST={word} SLURM_JOB_ID=7 SLURM_JOB_CPUS_PER_NODE=2(x2) "
        "predict collective-io --model ok-nodes.json --rows --slurm",
        "n[1-2]",
        "m2,n1",
        "a[01-02]",
    ),
    "slurm-tasks": _word(
        "SLURM_JOB_NODELIST=n[1-3] SLURM_JOB_ID=7 SLURM_JOB_CPUS_PER_NODE={word} "
        "predict collective-io --model ok-nodes.json --rows --slurm",
        "2(x3)",
        "2,1(x2)",
        "4,2,1",
    ),
    "sizes": _word(
        "predict message --model ok-messages.json --bytes {word}", "64,1KiB", "1:1MiB:x2"
    ),
    "tiles": _word(
        "predict collective-io --model ok-nodes.json --nodes 2,2 --tiles {word}", "2x2", "4x1"
    ),
    "hints": _word(
        "predict collective-io --model ok-nodes.json --nodes 2,2 --rows --cb-config-list {word}",
        "*:1",
        "n1:2,n2",
        "*:*",
    ),
    "grid": _word(
        "predict collective --model ok-clic.json --op bcast --ranks 8 --bytes 64KiB --grid {word}",
        "2x4",
        "best",
        "nodes",
    ),
    "platform": _word(
        "platform {word} -o {out}", "nodes:4 cores:2 slow-node:1*10", "dragonfly:2x2x2"
    ),
    "settings": _word(
        "export halo.yaml --to goal -o {out} --set p=8 --iterations 1 --set {word}",
        "edge=4",
        "variables=2",
    ),
    "select": _word(
        "predict collective-io --model ok-nodes.json --nodes 2,2 --rows --select {word}", "hot=1"
    ),
    "fail-on": _word(
        "compare ok-map.jsonl ok-map.jsonl --fail-on {word}", "slower:5%", "faster:10%"
    ),
}
"""Every kind of file, and every option whose value is a little language, by name."""
