"""Computation: a constant time per operation."""

from isochrone.models.family import Family, Form

FAMILY = Family(
    formula=r"t(n) = t_{op}\,n",
    source="Kühnemann, Rauber and Rünger, equations 1 and 2: t_op",
    limitations=(
        "If some working sets fit into a cache and others do not, the fit needs several "
        "of each kind."
    ),
    forms=(Form(("n",), ("t_op",)),),
    splits=("n",),
    operations=("compute",),
)
