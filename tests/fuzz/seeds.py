"""Undamaged files: those that are damaged, and those that stand beside a damaged one."""

from __future__ import annotations

import contextlib
import itertools
import tarfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from beds.command_line import run_here
from isochrone.applications.traces.trace import Event
from isochrone.runfile.file import write
from isochrone.runfile.run import Run
from made_up import grid_runs, hotspots, latency_maps, sweeps, traces

__all__ = [
    "SMALL",
    "archives",
    "collective",
    "copies",
    "exported",
    "helpers",
    "liballprof",
    "map_of_sizes",
    "messages",
    "models",
    "runs",
    "small_map",
    "table_of_times",
    "texts",
]

ROOT: Final = Path(__file__).parents[2]
SMALL: Final = (1, 64, 4096, 65536, 262144)
GRAPH: Final = """
isochrone: app/1
apps:
  - name: graph
    ranks: 3
    iterations: 2
    phases:
      - exchange: {topology: {graphml: input}, bytes: 8}
"""
APPLICATION: Final = """
isochrone: app/1
apps:
  - name: halo
    ranks: 4
    iterations: 2
    parameters: {edge: 4}
    phases:
      - exchange: {topology: {halo: {shape: [2, 2]}}, bytes: 8 * edge}
"""
HOSTS: Final = ["n1", "n1", "n2", "n2", "n3", "n3"]


def helpers(folder: Path) -> None:
    """Write the undamaged files that stand beside a damaged one."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "halo.yaml").write_bytes((ROOT / "examples/apps/halo.yaml").read_bytes())
    (folder / "ok-clic.json").write_bytes((ROOT / "examples/models/clic.json").read_bytes())
    (folder / "ok-graph.yaml").write_text(GRAPH)
    (folder / "ok-app.yaml").write_text(APPLICATION)
    (folder / "ok-own.csv").write_text("size,usec\n1,1\n2,1.1\n4,1.2\n8,1.4\n16,2\n")
    write(small_map(), folder / "ok-map.jsonl")
    write(sweeps.point_to_point(sizes=SMALL, repeats=5), folder / "ok-sweep.jsonl")
    write(hotspots.hotspot(intra=3, inter=3, repeats=3), folder / "ok-hotspot.jsonl")
    write(
        grid_runs.grid_run(8, ("2x4",), ops=("bcast",), sizes=SMALL[1:3], repeats=3),
        folder / "ok-grids.jsonl",
    )
    for night in range(3):
        write(
            latency_maps.latency_map(HOSTS, far=1e-5 * (1 + 0.01 * night)),
            folder / f"night-{night}.jsonl",
        )
    made(folder, "fit ok-hotspot.jsonl --family hotspot -o ok-nodes.json")
    made(folder, "fit ok-sweep.jsonl --family hockney -o ok-messages.json")


def made(folder: Path, line: str) -> None:
    answer = run_here(*line.split(), cwd=folder)
    assert answer.returncode == 0, f"{line}: {answer.stderr}"


def runs(*makers: Callable[[], Run]) -> Callable[[Path], list[str]]:
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


def texts(*texts: str) -> Callable[[Path], list[str]]:
    """Write texts."""

    def make(folder: Path) -> list[str]:
        names = [f"seed-{number}" for number in range(len(texts))]
        for name, text in zip(names, texts, strict=True):
            (folder / name).write_text(text)
        return names

    return make


def copies(*patterns: str) -> Callable[[Path], list[str]]:
    """Copy files of the repository."""

    def make(folder: Path) -> list[str]:
        found = sorted(itertools.chain.from_iterable(ROOT.glob(one) for one in patterns))
        assert found, f"there is nothing like {patterns}"
        for file in found:
            (folder / file.name).write_bytes(file.read_bytes())
        return [file.name for file in found]

    return make


def exported(form: str, maker: Callable[[], Run]) -> Callable[[Path], list[str]]:
    """Write a run as another program would."""

    def make(folder: Path) -> list[str]:
        runs(maker)(folder)
        made(folder, f"export seed-0.jsonl --to {form} -o exported --force")
        return ["exported"]

    return make


def small_map() -> Run:
    return latency_maps.latency_map(HOSTS, slow_hosts={"n3": 2.0})


def map_of_sizes() -> Run:
    return latency_maps.latency_map(["a", "b", "b"], nbytes=(64, 4096))


def messages() -> Run:
    return sweeps.point_to_point(sizes=SMALL, repeats=6, passes=3)


def collective() -> Run:
    return sweeps.collective(sizes=SMALL[:3], repeats=6, ranks=4)


def models(folder: Path) -> list[str]:
    helpers(folder)
    return [*copies("examples/models/*.json")(folder), "ok-nodes.json", "ok-messages.json"]


def liballprof(folder: Path) -> list[str]:
    events = [Event("allreduce", bytes=8, seconds=1e-5, gap=1e-3) for _ in range(3)]
    return [file.name for file in traces.liballprof(folder, [events])]


def dumpi(folder: Path) -> list[str]:
    events = [Event("allreduce", bytes=8, seconds=1e-5, gap=1e-3) for _ in range(3)]
    return [file.name for file in traces.dumpi(folder, [events])]


def table_of_times() -> str:
    rows = [f"bcast,{p},{b},{(p * 1e-6 + b * 1e-9):.3e}" for p in (2, 4, 8) for b in (8, 512, 4096)]
    return "op,p,b,seconds\n" + "\n".join(rows) + "\n"


def archives(folder: Path) -> list[str]:
    """Write an archive of OTF2 as one file; none if the package is not there."""
    if find_spec("otf2") is None:
        return []
    events = [Event("allreduce", bytes=8, seconds=1e-5, gap=1e-3) for _ in range(3)]
    anchor = traces.otf2_archive(folder, [events, events], [(0, 1)])
    with tarfile.open(folder / "archive.tar", "w") as tar:
        for path in sorted(anchor.parent.rglob("*")):
            if path.is_file():
                tar.add(path, str(path.relative_to(anchor.parent)))
    return ["archive.tar"]
