"""A reduction by one rank after the other or along a tree, whichever fits a segment better."""

from isochrone.models.formulas.family import Family, forms_of

FAMILY = Family(
    formula=r"t(p,b) = (\tau + t_c\,p)\,b \;\text{or}\; (\tau + t_c \lfloor\log_2(p-1)\rfloor)\,b",
    source="Kühnemann, Rauber and Rünger, tables 1 and 2",
    limitations="It has the limits of `reduce-linear` and `reduce-log`.",
    forms=forms_of(
        "τ*b + t_c*p*b",
        "τ*b + t_c*floor(log2(p-1))*b",
    ),
    splits=("p", "b", "p*b"),
    operations=("reduce",),
)
