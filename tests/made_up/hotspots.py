"""Runs of the hot spot and of collective I/O (tile-io) made up from formulas."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from isochrone.runfile.run import Run
from made_up.sweeps import run_of

BYTES = 4 << 20


def saturating(pa: float, into: int, out: int) -> float:
    """Return a time with two segments, as on Tachyon I."""
    pe = (into + out) / 2
    return 0.0038 * pa + 0.0061 * pe + 0.0057 if pa < 2 else 0.0084 * pa + 0.0061 * pe + 0.0016


def duplex(pa: float, into: int, out: int) -> float:
    """Return a time in which the busier direction counts."""
    return 0.004 * pa + 0.0864 * max(into, out) + 0.0124 * min(into, out) + 0.0007


def hotspot(
    orders: Sequence[str] = ("intra-first",),
    *,
    intra: int = 7,
    inter: int = 7,
    repeats: int = 7,
    noise: float = 0.01,
    free: bool = False,
    complete: bool = True,
    hot: int = 1,
) -> Run:
    """Make a run of ``hotspot``: ``free`` points follow `duplex`, balanced ones `saturating`."""
    dice = np.random.default_rng(11)
    time = duplex if free else saturating
    rows: list[dict[str, Any]] = []
    for repeat in range(repeats):
        for order in orders:
            for a, i, o in _grid(intra, inter, free):
                seconds = time(a, i, o) * dice.lognormal(0, noise)
                rows.append(
                    {
                        "intra": 2 * a,
                        "in": i,
                        "out": o,
                        "pa": a,
                        "pe": (i + o) / 2,
                        "order": order,
                        "hot": hot,
                        "bytes": BYTES,
                        "repeat": repeat,
                        "seconds": float(seconds),
                    }
                )
    roles = [{"rank": 0, "role": "hot", "group": 0, "index": 0}]
    roles += [{"rank": k + 1, "role": "intra", "group": 0, "index": k} for k in range(3)]
    roles += [{"rank": 4 + 4 * k, "role": "inter", "group": 0, "index": k} for k in range(7)]
    why = ("the node has only enough ranks for 3 partners of each hot process", "too few nodes")
    missed = [{"intra": 8, "inter": k, "why": why[k % 2]} for k in range(5)]
    records = {"role": roles, "unreachable": missed, "sample": rows}
    return run_of(
        "hotspot",
        32,
        4,
        records,
        {"bytes": [BYTES]},
        "exchange of a point, slowest rank",
        complete=complete,
    )


SIZES = (32 << 10, 256 << 10, 1 << 20, 2 << 20)


def by_bytes(pa: float, into: int, out: int, size: int, busy: float) -> float:
    """Return a time of full-duplex links: bytes count, and more of them if partners are busy."""
    most, least = size * max(into, out), size * min(into, out)
    own = 2e-4 + 6e-5 * pa + 6e-10 * size * pa + 42e-9 * most + 2e-9 * least
    return own + busy**2 * (4e-9 * most + 15e-9 * least)


def sizes(
    time: Callable[[float, int, int, int, float], float] = by_bytes,
    *,
    nodes: int = 8,
    of: Sequence[int] = SIZES,
    noise: float = 0.01,
    repeats: int = 3,
    rings: bool = True,
) -> Run:
    """Make a run of ``hotspot`` with several sizes on a coarse grid, one partner on each node."""
    dice = np.random.default_rng(7)
    few = [(0, i, o) for i in (0, 1, 4, 7) for o in (0, 1, 4, 7) if i + o]
    few += [(1, 0, 0), (3, 0, 0), (3, 1, 1), (3, 4, 4), (3, 7, 7), (3, 7, 0), (3, 0, 7)]
    found = [("star", *one, 2 / nodes if max(one[1:]) else 0.0) for one in few]
    all_busy = [(0, i, o) for i in (1, 4, 7) for o in (0, 1, 4, 7) if o <= i]
    found += [("ring", *one, 1.0) for one in [*all_busy, (3, 7, 7), (3, 4, 4)] if rings]
    rows = [
        {
            "intra": 2 * a,
            "in": i,
            "out": o,
            "pa": a,
            "pe": (i + o) / 2,
            "shape": shape,
            "busy": busy,
            "order": "intra-first",
            "hot": 1,
            "bytes": size,
            "repeat": repeat,
            "seconds": float(time(a, i, o, size, busy) * dice.lognormal(0, noise)),
        }
        for repeat in range(repeats)
        for shape, a, i, o, busy in found
        for size in of
    ]
    return run_of(
        "hotspot", 16, 4, {"sample": rows}, {"bytes": list(of)}, "exchange of a point, slowest rank"
    )


def _grid(intra: int, inter: int, free: bool) -> Iterator[tuple[int, int, int]]:
    for a in range(intra + 1):
        for i in range(inter + 1):
            for o in range(inter + 1) if free else (i,):
                if a + i + o:
                    yield a, i, o


def tile_io(*, ranks: int = 8, repeats: int = 5, complete: bool = True, file: bool = True) -> Run:
    """Make a run of ``tile-io`` with a file and the exchange alone; node 1 is the hot spot."""
    size = ranks * (3 << 20)
    rows: list[dict[str, Any]] = []
    for repeat in range(repeats):
        for op, seconds in (("write", 0.02), ("read", 0.01)):
            common = {"op": op, "p": ranks, "bytes": size, "repeat": repeat}
            seconds *= 1 + 0.1 * repeat
            if file:
                rows.append(
                    {
                        **common,
                        "phase": "file",
                        "open": 0.004,
                        "seconds": seconds,
                        "close": 0.001,
                        "total": seconds + 0.005,
                    }
                )
            rows.append({**common, "phase": "exchange", "rounds": 2, "seconds": seconds / 4})
    nodes = [{"node": k, "intra": 4, "in": 2 + 4 * (k == 1), "out": 3} for k in range(ranks // 2)]
    served = [
        {"domain": k, "rank": 2 * r, "node": r, "source": "romio_aggregator_list"}
        for k, r in enumerate((3, 1, 0, 2))
    ]
    accessed = [{"op": "write", "rank": 2 * r, "node": r, "bytes": size // 4} for r in range(4)]
    hints = [{"key": "cb_nodes", "value": "4"}, {"key": "cb_config_list", "value": "n3,n1,*:1"}]
    records = {
        "sample": rows,
        "aggregator": served,
        "file-io": accessed,
        "hint": hints,
        "node": nodes,
    }
    options = {"file": "/scratch/f", "tile": "1024x1024", "element": 3, "phase": "all"}
    return run_of(
        "tile-io",
        ranks,
        2,
        records,
        options,
        "collective access or its exchange, slowest rank",
        complete=complete,
    )


def exchange(hosts: int = 4, ranks: int = 8) -> Run:
    """Make a run of ``tile-io`` that holds the messages of its nodes; node 1 has the most."""
    nodes = [{"node": k, "intra": 4, "in": 4, "out": 12 if k == 1 else 4} for k in range(hosts)]
    return run_of("tile-io", ranks, ranks // hosts, {"node": nodes}, {}, "")
