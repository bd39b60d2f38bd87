"""A broadcast to one rank after the other or along a tree, whichever fits a segment better."""

from isochrone.models.formulas.family import Family, forms_of

FAMILY = Family(
    formula=r"t(p,b) = (\tau + t_c\,p)\,b \;\text{or}\; (\tau + t_c \log_2 p)\,b",
    source=(
        "Kühnemann, Rauber and Rünger, tables 1 and 2: LAM MPI is linear up to 4 ranks "
        "and a tree beyond"
    ),
    limitations="It has the limits of `bcast-linear` and `bcast-log`.",
    forms=forms_of(
        "τ*b + t_c*p*b",
        "τ*b + t_c*log2(p)*b",
    ),
    splits=("p", "b", "p*b"),
    operations=("bcast",),
)
