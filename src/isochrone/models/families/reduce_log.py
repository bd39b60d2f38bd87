"""Reduce along a tree: a whole number of steps."""

from isochrone.models.family import Family, Form

FAMILY = Family(
    formula=r"t(p,b) = (\tau + t_c \lfloor\log_2(p-1)\rfloor)\,b",
    source=(
        "Kühnemann, Rauber and Rünger, *Performance Modeling of Two-phase Realizations of "
        "Communication Operations*, table 1: t_acc_log"
    ),
    limitations=(
        "Small messages; algorithms for long messages that scatter and gather (Rabenseifner)."
    ),
    forms=(Form(("b", "floor(log2(p-1))*b"), ("τ", "t_c")),),
    splits=("p", "b", "p*b"),
    operations=("reduce",),
)
