"""A tree of radix 3, 4 or 8: each step reaches so many times as many ranks."""

from isochrone.models.formulas.family import Family, forms_of

FAMILY = Family(
    formula=r"t(p,b) = \tau_1 + \tau_2\,b + (\alpha + \beta\,b)\,\lceil\log_k p\rceil",
    source="Bruck, Ho, Kipnis, Upfal and Weathersby 1997; k-nomial trees of MPICH and MVAPICH2",
    limitations=(
        "Its number of steps must have at least three values in the data. With two, a jump fits "
        "as well."
    ),
    forms=forms_of(
        *(
            formula
            for steps in (f"ceil(log{radix}(p))" for radix in (3, 4, 8))
            for formula in (
                f"τ + α*{steps}",
                f"τ + α*{steps} + β*{steps}*b",
                f"τ_1 + α*{steps} + τ_2*b + β*{steps}*b",
            )
        )
    ),
    splits=("b", "p"),
    operations=("barrier", "bcast", "reduce", "allreduce"),
    fewest_values=3,
)
