"""A reduction by one rank after the other or along a tree, whichever fits a segment better."""

from isochrone.models.family import Family, Form

FAMILY = Family(
    formula=r"t(p,b) = (\tau + t_c\,p)\,b \;\text{or}\; (\tau + t_c \lfloor\log_2(p-1)\rfloor)\,b",
    source="Kühnemann, Rauber and Rünger, tables 1 and 2",
    limitations="It has the limits of `reduce-linear` and `reduce-log`.",
    forms=(
        Form(("b", "p*b"), ("τ", "t_c")),
        Form(("b", "floor(log2(p-1))*b"), ("τ", "t_c")),
    ),
    splits=("p", "b", "p*b"),
    operations=("reduce",),
)
