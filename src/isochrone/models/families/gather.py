"""Gather: the root receives a block from each rank."""

from isochrone.models.family import Family, Form

FAMILY = Family(
    formula=r"t(p,b) = \tau_1 + (\tau_2 + t_c\,p)\,b",
    source=(
        "Kühnemann, Rauber and Rünger, *Performance Modeling of Two-phase Realizations of "
        "Communication Operations*, table 1 (names of t_sc and t_ga exchanged there) and "
        "table 4"
    ),
    limitations=(
        "Trees, whose inner ranks forward blocks; effects of memory or protocol beyond a "
        "total size at the root, if no breakpoint is allowed."
    ),
    forms=(Form(("1", "b", "p*b"), ("τ_1", "τ_2", "t_c")),),
    splits=("p*b", "p", "b"),
    operations=("gather",),
)
