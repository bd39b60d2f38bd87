"""Random descriptions of applications whose steps follow from them alone."""

from __future__ import annotations

from typing import Any

import numpy as np

SHAPES: dict[int, list[list[int]]] = {
    4: [[4], [2, 2]],
    6: [[6], [2, 3]],
    8: [[8], [2, 4], [2, 2, 2]],
    9: [[9], [3, 3]],
    12: [[12], [3, 4], [2, 2, 3]],
    16: [[16], [4, 4], [2, 2, 4]],
}

_ROOTED = ("bcast", "gather", "reduce", "scatter")
_OTHERS = ("allreduce", "allgather", "alltoall", "barrier")


def random_description(seed: int, iterations: int) -> dict[str, Any]:
    """Return a document of one application with one to six phases, one a communication at least."""
    dice = np.random.default_rng(seed)
    ranks = int(dice.choice(list(SHAPES)))
    makers = [_compute, _collective, _exchange]
    phases = [
        makers[int(dice.choice(3, p=[0.3, 0.2, 0.5]))](dice, ranks)
        for _ in range(int(dice.integers(1, 7)))
    ]
    if all("compute" in phase for phase in phases):
        phases.append({"barrier": {}})
    app = {"name": "x", "ranks": ranks, "iterations": iterations, "phases": phases}
    return {"isochrone": "app/1", "seed": seed, "apps": [app]}


def _time(dice: np.random.Generator) -> Any:
    us = float(dice.choice([20, 50, 100, 300, 1000]))
    choices = [
        f"{us}us",
        {"normal": {"mean": f"{us}us", "stddev": f"{us / 5}us"}},
        {"exponential": {"mean": f"{us}us"}},
        {"lognormal": {"median": f"{us}us", "sigma": 0.5}},
        {"gamma": {"shape": 4, "scale": f"{us / 4}us"}},
    ]
    return choices[int(dice.integers(len(choices)))]


def _compute(dice: np.random.Generator, ranks: int) -> dict[str, Any]:
    found: dict[str, Any] = {"time": _time(dice)}
    if dice.random() < 0.3:
        found["imbalance"] = {str(r): 3.0 for r in dice.choice(ranks, 2, replace=False)}
    return {"compute": found}


def _collective(dice: np.random.Generator, ranks: int) -> dict[str, Any]:
    op = str(dice.choice([*_ROOTED, *_OTHERS]))
    found: dict[str, Any] = {} if op == "barrier" else {"bytes": int(8 * dice.integers(1, 9000))}
    if op in _ROOTED:
        found["root"] = int(dice.integers(ranks))
    elif dice.random() < 0.3:
        found["among"] = [list(range(ranks // 2)), list(range(ranks // 2, ranks))]
    return {op: found}


def _exchange(dice: np.random.Generator, ranks: int) -> dict[str, Any]:
    shape = SHAPES[ranks][int(dice.integers(len(SHAPES[ranks])))]
    halo = {"halo": {"shape": shape, "periodic": bool(dice.random() < 0.5)}}
    pairs = [[a, b] for a in range(ranks) for b in range(ranks) if a != b]
    some = dice.choice(len(pairs), int(dice.integers(2, 2 * ranks)), replace=False)
    choices: list[Any] = [
        "pipeline",
        "token-ring",
        "client-server",
        "all-to-all",
        halo,
        {"edges": [pairs[k] for k in sorted(some)]},
        {"halo": {"shape": shape, "periodic": False}},
    ]
    chosen = int(dice.integers(len(choices)))
    found: dict[str, Any] = {"topology": choices[chosen], "bytes": int(dice.integers(1, 70000))}
    if chosen == len(choices) - 1:
        found["flow"] = "stream"
    if (chosen < 3 or "flow" in found) and dice.random() < 0.7:
        found["compute"] = {"time": _time(dice)}
    if found["topology"] == "client-server" and dice.random() < 0.5:
        found["reply"] = 2 * found["bytes"]
    return {"exchange": found}
