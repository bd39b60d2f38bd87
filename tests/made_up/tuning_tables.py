"""Tuning tables: some that can be applied, and some that must be refused by every reader."""

from __future__ import annotations

from typing import Any, Final

OPERATIONS: Final = (
    "bcast",
    "gather",
    "scatter",
    "reduce",
    "allreduce",
    "allgather",
    "alltoall",
    "reduce_scatter_block",
)


def rule(**other: Any) -> dict[str, Any]:
    """Return a rule as it is in a file, with other members where they are given."""
    points = [[1024, 2e-5, 1e-5], [4096, 4e-5, 3e-5]]
    known = {"op": "allgather", "ranks": 16, "bytes": [1024, 4096], "grid": "4x4", "points": points}
    return {**known, **other}


def document(*rules: dict[str, Any], **other: Any) -> dict[str, Any]:
    """Return a table as it is in a file, with other members where they are given."""
    known = {"record": "tuning", "format": 1, "mpi": "MPICH 5.0.2", "rules": list(rules)}
    return {**known, **other}


BAD: Final[list[tuple[object, str]]] = [
    ("", "not a tuning table"),
    ('{"record":"tuning","format":1', "not a tuning table"),
    ('{"record":"tuning","format":1,"mpi":"MPICH 5.0.2","rules":[]} {}', "not a tuning table"),
    ('{"record":"tuning","format":1,"mpi":"MPICH 5.0.2","rules":[],}', "not a tuning table"),
    ('{"record":"tuning","format":01,"mpi":"MPICH 5.0.2","rules":[]}', "not a tuning table"),
    ("[" * 100000, "not a tuning table"),
    ({"record": "model", "format": 1}, "not a tuning table"),
    (document(format=2), "newer"),
    (document(format="1"), "no valid 'format'"),
    (document(mpi="MPICH"), "no version"),
    (document(rule(op="scan")), "damaged"),
    (document(rule(ranks=0)), "damaged"),
    (document(rule(ranks=-16)), "damaged"),
    (document(rule(ranks=16.5)), "damaged"),
    (document(rule(grid="3x4")), "has 12 ranks, not 16"),
    (document(rule(grid="x")), "not a grid"),
    (document(rule(nodes=17)), "17 nodes"),
    (document(rule(nodes=0)), "damaged"),
    (document(rule(bytes=[2, 1])), "not a range"),
    (document(rule(bytes=[-1, 1])), "damaged"),
    (document(rule(bytes=[1])), "damaged"),
    (document(rule(bytes=[1, 2, 3])), "damaged"),
    (document(rule(points=[])), "damaged"),
    (document(rule(points=[[2, 1.0]])), "damaged"),
    (document(rule(points=[[2, 1.0, 1.0], [2, 1.0, 1.0]])), "not in ascending order"),
    (document(rule(points=[[2, 0.0, 1.0]])), "damaged"),
    (document({"op": "bcast"}), "damaged"),
    (document(rule(), rule(bytes=[4096, 5000])), "rules 0 and 1 overlap"),
    (document(rule(), rule(bytes=[2000, 2001], nodes=4)), "rules 0 and 1 overlap"),
    (document(rule(nodes=4), rule(bytes=[4000, 4001])), "rules 0 and 1 overlap"),
]
"""Content of a file, and words of what Python says of it."""

GOOD: Final = [
    document(),
    document(rule(), min_gain=0.05, made_from=[{"path": "größe"}], other=[[{}], None, True]),
    document(rule(nodes=2), rule(nodes=4, grid="nodes"), rule(ranks=17, grid="rows-of-5")),
    document(rule(nodes=None), *(rule(op=op, bytes=[0, 8]) for op in OPERATIONS)),
]
