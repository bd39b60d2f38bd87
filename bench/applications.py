"""Applications on simulated machines: predicted against emulated, for many random descriptions.

python bench/applications.py [--count 40] [--seed 1] [--machine 'nodes:128 cores:1'] [--keep FOLDER]

Messages and collectives are measured on up to 64 ranks of a machine and fitted; descriptions are
drawn (topologies, flows, sizes, computation, ranks), emulated on the same machine, and predicted
from the models. Barton's four patterns and both variants of Jacobi come first. Printed is by how
much the predicted total time is off: on 16 to 64 ranks, and on 128, twice the most measured.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from isochrone import models
from isochrone.applications.description.lowering import program
from isochrone.applications.description.program import Launch, Program
from isochrone.applications.description.program_file import data
from isochrone.applications.description.reading import parse
from isochrone.applications.predict.applications import predict
from isochrone.base.units import format_seconds
from isochrone.collectives.predicted_grids import Machine
from isochrone.models import Model

ISOCHRONE = [sys.executable, "-m", "isochrone"]
MACHINES = ("nodes:128 cores:1", "nodes:32 cores:4", "nodes:32 cores:4 placement:cyclic")
MEASURED = (2, 4, 8, 16, 24, 32, 48, 64)
ASKED = (16, 24, 32, 48, 64)
BEYOND = 128
OPERATIONS = (
    "barrier",
    "bcast",
    "reduce",
    "allreduce",
    "gather",
    "scatter",
    "allgather",
    "alltoall",
)
SIZES = "8,64,512,2KiB,8KiB,16KiB,32KiB,64KiB,128KiB,512KiB"
TIMEOUT = 1800

MESSAGES = {
    "alone": ("--mode", "blocking"),
    "posted": ("--mode", "nonblocking", "--window", "64"),
    "blocking": ("--mode", "blocking", "--window", "64"),
    "both": ("--mode", "bidirectional"),
}
"""What is measured of messages, between nodes and within one."""

Document = dict[str, Any]


@dataclass
class Bed:
    """A simulated machine, and the models of it."""

    line: str
    folder: Path
    measured: Sequence[int] = MEASURED
    cores: int = field(init=False)
    platform: Path = field(init=False)

    def __post_init__(self) -> None:
        """Describe the machine."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self.platform = self.folder / "machine.xml"
        run([*ISOCHRONE, "platform", self.line, "-o", str(self.platform), "--force"])
        words = dict(word.split(":", 1) for word in self.line.split())
        self.cores = int(words.get("cores", 1))
        self.cyclic = words.get("placement") == "cyclic"
        self.nodes = int(words["nodes"])

    @property
    def machine(self) -> Machine:
        """Where its ranks are."""
        return Machine(self.nodes, self.cores, "cyclic" if self.cyclic else "block")

    def measure(self, name: str, ranks: int, *words: str) -> Path:
        """Measure, unless that was done before."""
        path = self.folder / f"{name}.jsonl"
        if not path.exists():
            run(
                [
                    *ISOCHRONE,
                    "measure",
                    *words,
                    "-n",
                    str(ranks),
                    "--quiet",
                    "--platform",
                    str(self.platform),
                    "-o",
                    str(path),
                ]
            )
        return path

    def models(self) -> list[Model]:
        """Measure messages and collectives, and fit them."""
        pairs = {"far": f"0-{self.cores if not self.cyclic else 1}"}
        if self.cores > 1:
            pairs["near"] = f"0-{1 if not self.cyclic else self.nodes}"
        found = [
            self.fitted(
                f"{name}-{where}",
                self.measure(
                    f"{name}-{where}",
                    BEYOND,
                    "point-to-point",
                    "--pairs",
                    pair,
                    *words,
                    "--bytes",
                    "auto:0:4MiB",
                    "--repeats",
                    "1",
                ),
            )
            for where, pair in pairs.items()
            for name, words in MESSAGES.items()
        ]
        runs = [
            self.measure(
                f"collective-{ranks}",
                ranks,
                "collective",
                "--op",
                ",".join(OPERATIONS),
                "--bytes",
                SIZES,
                "--repeats",
                "1",
                "--warmup",
                "1",
                "--sync",
                "window",
            )
            for ranks in self.measured
        ]
        return [*found, self.fitted("collective", *runs)]

    def fitted(self, name: str, *runs: Path) -> Model:
        """Fit runs, unless that was done before."""
        path = self.folder / f"{name}.model.json"
        if not path.exists():
            models.write(models.fit(list(runs)), path)
        return models.read(path)

    def emulated(self, name: str, asked: Program) -> tuple[float, float]:
        """Return the emulated wall time of the only application, and how long that took."""
        path = self.folder / f"{name}.program"
        if not path.exists() or path.read_bytes() != data(asked):
            path.write_bytes(data(asked))
            (self.folder / f"{name}.jsonl").unlink(missing_ok=True)
        begin = time.monotonic()
        out = self.measure(name, asked.ranks, "app", "--program", str(path))
        for line in out.read_text().splitlines():
            record = json.loads(line)
            if record["record"] == "wall":
                return float(record["seconds"]), time.monotonic() - begin
        raise RuntimeError(f"{out} holds no time")


def run(words: list[str]) -> str:
    """Run a command to its end and return what it printed."""
    found = subprocess.run(words, capture_output=True, text=True, check=False, timeout=TIMEOUT)
    if found.returncode:
        raise RuntimeError(f"{' '.join(words)}: {found.stderr.strip()[-500:]}")
    return found.stdout


# --- descriptions ---------------------------------------------------------------------------------


def app(
    phases: Sequence[Document], ranks: int, iterations: int = 20, **parameters: Any
) -> Document:
    """Return the description of one application."""
    return {
        "isochrone": "app/1",
        "seed": 3,
        "runs": ["alone"],
        "repeats": 1,
        "parameters": parameters,
        "apps": [{"name": "app", "ranks": ranks, "iterations": iterations, "phases": list(phases)}],
    }


def named(ranks: int) -> Iterator[tuple[str, Document]]:
    """Yield Barton's four patterns and both variants of Jacobi."""
    exchange = {
        "client-server": {
            "bytes": 512,
            "reply": "4KiB",
            "compute": {"time": {"exponential": {"mean": "50us"}}},
        },
        "task-farm": {
            "bytes": "16KiB",
            "reply": "1KiB",
            "tasks": 4 * ranks,
            "compute": {"time": {"lognormal": {"median": "200us", "sigma": 0.8}}},
        },
        "token-ring": {
            "bytes": "1KiB",
            "compute": {"time": {"normal": {"mean": "20us", "stddev": "5us"}}},
        },
        "pipeline": {"bytes": "64KiB", "compute": "30us"},
    }
    for topology, more in exchange.items():
        yield topology, app([{"exchange": {"topology": topology, **more}}], ranks)
    jacobi = {"n": 4 * 1024, "t_op": "1.2ns"}
    yield (
        "jacobi rows",
        app([{"compute": "2*n**2/p * t_op"}, {"allgather": {"bytes": "8*n/p"}}], ranks, **jacobi),
    )
    yield (
        "jacobi columns",
        app(
            [
                {"compute": "2*n/p*(n-1) * t_op"},
                {"reduce": {"bytes": "8*n"}},
                {"bcast": {"bytes": "8*n"}},
            ],
            ranks,
            **jacobi,
        ),
    )


TOPOLOGIES = (
    "client-server",
    "task-farm",
    "token-ring",
    "pipeline",
    "halo-1",
    "halo-2",
    "halo-3",
    "all-to-all",
    "butterfly",
    "random-regular",
    "tree",
)


def drawn(dice: np.random.Generator, ranks: int) -> tuple[str, Document]:
    """Draw a description: one to three phases."""
    phases, words = [], []
    for _ in range(int(dice.integers(1, 4))):
        kind = dice.choice(["compute", "collective", "exchange", "exchange"])
        if kind == "compute":
            phases.append({"compute": {"time": _time(dice)}})
            words.append("compute")
        elif kind == "collective":
            op = str(dice.choice(OPERATIONS))
            of = {} if op == "barrier" else {"bytes": _size(dice, 8, 1 << 17) // 8 * 8}
            phases.append({op: of})
            words.append(f"{op} {of.get('bytes', '')}".strip())
        else:
            word, phase = _exchange(dice, ranks)
            phases.append({"exchange": phase})
            words.append(word)
    return ", ".join(words), app(phases, ranks)


def _exchange(dice: np.random.Generator, ranks: int) -> tuple[str, Document]:
    topology = str(dice.choice(TOPOLOGIES))
    size: Any = _size(dice, 1, 1 << 18)
    if dice.random() < 0.3:
        size = {"lognormal": {"median": size, "sigma": 0.5}}
    found: Document = {"topology": topology, "bytes": size}
    if topology.startswith("halo"):
        found["topology"] = {
            "halo": {
                "shape": _shape(ranks, int(topology[-1])),
                "periodic": bool(dice.random() < 0.5),
            }
        }
    if topology == "random-regular":
        found["topology"] = {"random-regular": {"degree": int(dice.integers(2, 6))}}
    if topology == "butterfly" and ranks & (ranks - 1):
        found["topology"] = topology = "token-ring"
    if topology == "task-farm":
        found["tasks"] = int(dice.integers(1, 5)) * ranks
    if topology in ("client-server", "task-farm"):
        found["reply"] = _size(dice, 1, 1 << 18)
    if topology in ("client-server", "task-farm", "token-ring", "pipeline") or dice.random() < 0.3:
        found["compute"] = {"time": _time(dice)}
    return f"{topology} {size if isinstance(size, int) else 'lognormal'}", found


def _time(dice: np.random.Generator) -> Any:
    """Draw computation: a constant, or a distribution, 1 us to 1 ms."""
    middle = f"{10 ** dice.uniform(0, 3):.3g}us"
    return [
        middle,
        {"exponential": {"mean": middle}},
        {"lognormal": {"median": middle, "sigma": float(f"{dice.uniform(0.1, 0.8):.2g}")}},
    ][int(dice.integers(3))]


def _size(dice: np.random.Generator, least: int, most: int) -> int:
    return int(np.exp(dice.uniform(np.log(least), np.log(most))))


def _shape(ranks: int, dimensions: int) -> list[int]:
    """Cut ranks into a box as even as possible."""
    shape, left = [], ranks
    for k in range(dimensions, 0, -1):
        near = [n for n in range(1, left + 1) if left % n == 0 and n <= left ** (1 / k) + 1e-9]
        shape.append(near[-1])
        left //= near[-1]
    return sorted(shape)


# --- the study ------------------------------------------------------------------------------------


def study(bed: Bed, count: int, seed: int, only: str = "") -> dict[str, list[float]]:
    """Print one table; return the errors, inside what was measured and beyond."""
    known = bed.models()
    dice = np.random.default_rng(seed)
    asked = [(p, name, document) for p in (16, 64, BEYOND) for name, document in named(p)]
    for _ in range(count):
        ranks = BEYOND if dice.random() < 0.1 else int(dice.choice(ASKED))
        asked.append((ranks, *drawn(dice, ranks)))
    errors: dict[str, list[float]] = {"inside": [], "beyond": []}
    print(f"\n{bed.line}")
    for k, (ranks, name, document) in enumerate(asked):
        if only and only not in f"{k} {name}":
            continue
        wanted = program(parse(document, "drawn"))
        wanted = Program(
            wanted.seed, wanted.values, wanted.applications, (Launch(0, (0,)),), wanted.placement
        )
        emulated, cost = bed.emulated(f"app-{k}", wanted)
        begin = time.monotonic()
        (found,) = predict(wanted, known, bed.machine)
        spent = time.monotonic() - begin
        error = found.seconds / emulated - 1
        errors["beyond" if ranks == BEYOND else "inside"].append(abs(error))
        held = "" if found.low <= emulated <= found.high else "  outside the interval"
        print(
            f"{k:4} {ranks:4} {100 * error:+7.2f} %  {format_seconds(emulated):>8} "
            f"({cost:.1f} s, {spent:.1f} s)  {name}{held}",
            flush=True,
        )
    return errors


def summary(words: str, errors: Sequence[float]) -> str:
    """Say how large errors are: median, nine of ten, worst."""
    if not errors:
        return f"{words}: none"
    middle, most = statistics.median(errors), max(errors)
    tenth = float(np.quantile(errors, 0.9))
    return (
        f"{words}: median {100 * middle:.2f} %, nine of ten below {100 * tenth:.2f} %, "
        f"worst {100 * most:.2f} % of {len(errors)}"
    )


def main() -> None:
    """Run the study on each machine."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=40, help="descriptions that are drawn")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--machine", action="append", help="as isochrone platform takes it")
    parser.add_argument("--only", default="", help="only those whose number or name holds this")
    parser.add_argument("--keep", type=Path, help="folder for runs and models, to be used again")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        for line in args.machine or MACHINES:
            name = "".join(c if c.isalnum() else "-" for c in line)
            errors = study(
                Bed(line, (args.keep or Path(scratch)) / name), args.count, args.seed, args.only
            )
            print(summary("16 to 64 ranks", errors["inside"]))
            print(summary("128 ranks, twice the most measured", errors["beyond"]))


if __name__ == "__main__":
    main()
