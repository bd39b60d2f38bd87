"""An allreduce as two operations: a reduction, then a broadcast of the result."""

from isochrone.models.formulas.family import Family

FAMILY = Family(
    formula=r"t(p,b) = t_{acc}(p,b) + t_{sb}(p,b)",
    source=(
        "Kühnemann, Rauber and Rünger, table 1: t_macc; here also with a latency, and "
        "as a linear gather with a broadcast along a tree"
    ),
    limitations=(
        "If all numbers of ranks are powers of two, the fit cannot separate the two "
        "operations. Do not use it for ring allreduce or recursive doubling."
    ),
    splits=("p", "b", "p*b"),
    operations=("allreduce",),
    sum_of=(("reduce", "bcast"), ("gather", "tree"), ("ring", "tree")),
)
