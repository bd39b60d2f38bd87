"""Computation: a constant time per operation."""

from isochrone.models.family import Family, Form

FAMILY = Family(
    formula=r"t(n) = t_{op}\,n",
    source="Kühnemann, Rauber and Rünger, equations 1 and 2: t_op",
    limitations=(
        "If working sets are on both sides of a cache size, it needs enough of them to "
        "find the breakpoint."
    ),
    forms=(Form(("n",), ("t_op",)),),
    splits=("n",),
    operations=("compute",),
)
