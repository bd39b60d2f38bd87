"""All commands that write a file, where it cannot be written.

A program of its own, ``python -m beds.written HOW FOLDER``: so that ``unshare --mount`` can give it
a disk that nobody else sees. It prints, for each command, how that ended and what became of the
files, as JSON.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from beds.command_line import run_here
from isochrone.runfile.file import write
from made_up.jobs import TACHYON
from made_up.latency_maps import latency_map
from made_up.sweeps import point_to_point

__all__ = ["HOWS", "commands"]

UNEVEN = ("--nodes", "4,4,2,2", "--tiles", "4x3", "--model", TACHYON)
OLD = b"what was there before\n"
ROOM = "128k"
RUN = "null.jsonl"
"""Written by the ranks as they measure: --force gives the old one up, and with it makes room."""


def commands(inputs: Path, to: Path) -> Iterator[tuple[list[object], list[str]]]:
    """Yield commands, and the names of the files that they write into a folder."""
    run, sweep = inputs / "map.jsonl", inputs / "sweep.jsonl"
    log = Path(__file__).parents[1] / "golden/mmpi/paper.log"
    yield ["report", run, "-o", to / "report.html", "--force"], ["report.html"]
    yield ["plot", run, "-o", to / "plot.png", "--force"], ["plot.png"]
    for name in ("csv", "npz", "matlab", "mmpi", "gnuplot", "simgrid"):
        yield ["export", run, "--to", name, "-o", to / f"x.{name}", "--force"], [f"x.{name}"]
    yield (
        ["import", log, "--from", "mmpi", "-o", to / "imported.jsonl", "--force"],
        ["imported.jsonl"],
    )
    yield ["fit", sweep, "--family", "hockney", "-o", to / "model.json", "--force"], ["model.json"]
    yield ["place", "nodes", *UNEVEN, "-o", to / "nodes", "--force"], ["nodes"]
    yield ["place", "aggregators", *UNEVEN, "-o", to / "hints", "--force"], ["hints"]
    yield (
        ["place", "orders", *UNEVEN, "--dry-run", "-o", to / "orders.json", "--force"],
        ["orders.json"],
    )
    yield ["check", run, "--hosts-out", to / "hosts"], ["hosts"]
    yield ["check", run, "--junit", to / "junit.xml"], ["junit.xml"]
    yield ["check", run, "--openmetrics", to / "check.prom"], ["check.prom"]
    yield ["history", inputs / "base", "-o", to / "history.html", "--force"], ["history.html"]
    yield ["platform", "nodes:2 cores:2", "-o", to / "p.xml", "--force"], ["p.xml"]
    yield ["baseline", "add", to, run], []
    yield (
        ["measure", "synthetic", "-n", "1", "-o", to / "null.jsonl", "--force", "--quiet"],
        ["null.jsonl"],
    )


def _full(to: Path) -> None:
    """A disk on which there is room for what is there, and no more."""
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={ROOM}", "none", to], check=True)


def _fill(to: Path) -> None:
    with (to / "filler").open("wb", buffering=0) as stream:
        try:
            while stream.write(bytes(4096)):
                pass
        except OSError:
            return


def _read_only(to: Path) -> None:
    subprocess.run(["mount", "-t", "tmpfs", "none", to], check=True)


def _no_more_writes(to: Path) -> None:
    subprocess.run(["mount", "-o", "remount,ro", to], check=True)


def _nothing(to: Path) -> None:
    pass


def _ordinary(file: Path) -> None:
    file.write_bytes(OLD)


def _device(file: Path) -> None:
    file.symlink_to("/dev/full")


HOWS: dict[str, tuple[Callable[[Path], None], Callable[[Path], None], Callable[[Path], None]]] = {
    "full": (_full, _ordinary, _fill),
    "read-only": (_read_only, _ordinary, _no_more_writes),
    "folder": (_nothing, Path.mkdir, _nothing),
    "fifo": (_nothing, os.mkfifo, _nothing),
    "device": (_nothing, _device, _nothing),
}
"""How it is made: the folder, a file in it, and what comes after."""


def _state(to: Path) -> dict[str, Any]:
    """What can be seen of the files of a folder."""
    return {
        path.name: (
            path.lstat().st_mode,
            path.lstat().st_size,
            path.read_bytes().hex() if path.is_file() and path.name != "filler" else "",
        )
        for path in sorted(to.iterdir())
    }


def main(how: str, folder: Path) -> None:
    """Try all commands."""
    prepare, make, finish = HOWS[how]
    inputs, to = folder / "in", folder / "out"
    for path in (inputs / "base", to):
        path.mkdir(parents=True)
    write(latency_map(["a"] * 2 + ["b"] * 2), inputs / "map.jsonl")
    write(point_to_point(), inputs / "sweep.jsonl")
    run_here("baseline", "add", inputs / "base", inputs / "map.jsonl")
    prepare(to)
    todo = list(commands(inputs, to))
    for _, names in todo:
        for name in names:
            if not (how == "full" and name == RUN):
                make(to / name)
    finish(to)
    for words, _ in todo:
        before = _state(to)
        answer = run_here(*words, cwd=inputs)
        print(
            json.dumps(
                {
                    "words": " ".join(map(str, words[:4])),
                    "code": answer.returncode,
                    "said": answer.stderr,
                    "same": _state(to) == before,
                }
            )
        )


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
