"""Core-to-core maps of real processors, which others have published; their hardware is known.

They lie outside of the checkout: in ``maps`` below the folder that $ISOCHRONE_FIELD names, a
NAME.csv each, and truth.json with the groups of each level, and whether the times show it.
"""

from __future__ import annotations

import json
import math
import os
import random as chances
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beds.map_readings import Case, cores_row, defect_row, grouping_of
from beds.mpis import missing
from made_up.latency_maps import Matrix, map_of
from made_up.processors import DEFECTS, Defect, deviations, with_defect


def field_folder(kind: str) -> Path:
    """Return the folder of real ``maps`` or ``collectives``; skip or fail the test without it."""
    named = os.environ.get("ISOCHRONE_FIELD")
    folder = Path(named or "") / kind
    if not named or not folder.is_dir():
        missing("field", f"ISOCHRONE_FIELD names no folder with {kind}")
    return folder


def field_cases(folder: Path, half: str | None = None) -> Iterator[Case]:
    """Read maps of real processors, or every second one: as it is, and with two defects."""
    truths = json.loads((folder / "truth.json").read_text())
    names = sorted(truths)
    for name in names if half is None else names["ab".index(half) :: 2]:
        times = _matrix(folder / f"{name}.csv")
        pairs = np.argwhere(np.triu(np.isfinite(times), 1))
        chance = chances.Random(name)
        rank = chance.choice(np.unique(pairs).tolist())
        pair = chance.choice(pairs.tolist())
        for defect, ranks in zip(DEFECTS, ([], [rank], pair), strict=True):
            yield _of_field(name, defect, ranks, times, truths[name])


def _of_field(
    name: str, defect: Defect, ranks: list[int], times: Matrix, truth: Mapping[str, Any]
) -> Case:
    size = len(times)
    hardware = [grouping_of(level["groups"]) for level in truth["levels"]]
    must = frozenset(
        groups for groups, level in zip(hardware, truth["levels"], strict=True) if level["visible"]
    )
    may = frozenset([*hardware, *(grouping_of(level["groups"]) for level in truth["may"])])
    chain = [_numbered(level["groups"], size) for level in truth["levels"]]
    beyond = deviations(times, chain, ranks) if ranks else math.inf
    return Case(
        f"{name}:{defect}",
        ("all", defect_row(defect, beyond), f"{cores_row(size)}, {defect}"),
        map_of(2e-3 * with_defect(times, ranks), ["n01"] * size),  # there and back, in µs
        frozenset({frozenset(ranks)}) if ranks else frozenset(),
        must,
        may,
        lambda part: frozenset(part.ranks),
        with_levels=defect == "nothing",
        deviations=beyond,
    )


def _numbered(groups: list[list[int]], size: int) -> NDArray[np.int64]:
    """Return the group of each core; one that is in none is alone."""
    found = np.arange(len(groups), len(groups) + size)
    for k, group in enumerate(groups):
        found[group] = k
    return found


def _matrix(path: Path) -> Matrix:
    """Read one-way latencies in ns: a lower triangle, or a square whose two ways are averaged."""
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    rows = [[cell.strip() for cell in line.split(",")] for line in lines]
    size = max(len(rows), *(len(row) for row in rows))
    one_way = np.full((size, size), np.nan)
    for i, row in enumerate(rows):
        for j, cell in enumerate(row):
            if cell and i != j:
                one_way[i, j] = float(cell)
    there, back = np.isfinite(one_way), np.isfinite(one_way.T)
    both = np.where(there & back, (one_way + one_way.T) / 2, one_way)
    return np.where(there, both, one_way.T)
