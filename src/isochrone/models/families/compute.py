"""Computation: a constant time per operation."""

from isochrone.models.formulas.family import Family, forms_of

FAMILY = Family(
    formula=r"t(n) = t_{op}\,n",
    source="Kühnemann, Rauber and Rünger, equations 1 and 2: t_op",
    limitations=(
        "If some working sets are larger than a cache, measure several of them, and "
        "several smaller ones."
    ),
    forms=forms_of("t_op*n"),
    splits=("n",),
    operations=("compute",),
)
