"""Reduce by one rank after the other: linear in the ranks."""

from isochrone.models.family import Family, Form

FAMILY = Family(
    formula=r"t(p,b) = (\tau + t_c\,p)\,b",
    source=(
        "Kühnemann, Rauber and Rünger, *Performance Modeling of Two-phase Realizations of "
        "Communication Operations*, table 1: t_acc_lin"
    ),
    limitations="Small messages; trees, which real libraries use for many ranks.",
    forms=(Form(("b", "p*b"), ("τ", "t_c")),),
    splits=("p", "b", "p*b"),
    operations=("reduce",),
)
