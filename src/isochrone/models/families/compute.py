"""Computation: a constant time per operation."""

from isochrone.models.family import Family, Form

FAMILY = Family(
    formula=r"t(n) = t_{op}\,n",
    source="Kühnemann, Rauber and Rünger, equations 1 and 2: t_op",
    limitations=(
        "If only some working sets fit into a cache, the fit needs several that fit and "
        "several that do not."
    ),
    forms=(Form(("n",), ("t_op",)),),
    splits=("n",),
    operations=("compute",),
)
