"""Computation: a constant time per operation."""

from isochrone.models.family import Family, Form

FAMILY = Family(
    formula=r"t(n) = t_{op}\,n",
    source=(
        "Kühnemann, Rauber and Rünger, *Performance Modeling of Two-phase Realizations of "
        "Communication Operations*, equations 1 and 2: t_op"
    ),
    limitations="Working sets on both sides of a cache size, if too few were measured to find it.",
    forms=(Form(("n",), ("t_op",)),),
    splits=("n",),
    operations=("compute",),
)
