"""Allreduce: a reduce and a broadcast of its result."""

from isochrone.models.family import Family

FAMILY = Family(
    formula=r"t(p,b) = t_{acc}(p,b) + t_{sb}(p,b)",
    source=(
        "Kühnemann, Rauber and Rünger, *Performance Modeling of Two-phase Realizations of "
        "Communication Operations*, table 1: t_macc. Added here: a latency, and a linear gather "
        "with a broadcast along a tree"
    ),
    limitations=(
        "Numbers of ranks that are all powers of two: the steps of reduce and of "
        "broadcast are collinear in a tree. Rings and recursive doubling."
    ),
    splits=("p", "b", "p*b"),
    operations=("allreduce",),
    sum_of=(("reduce", "bcast"), ("gather", "tree"), ("ring", "tree")),
)
