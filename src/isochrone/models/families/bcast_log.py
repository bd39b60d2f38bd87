"""Broadcast along a tree: logarithmic in the ranks."""

from isochrone.models.family import Family, Form

FAMILY = Family(
    formula=r"t(p,b) = (\tau + t_c \log_2 p)\,b",
    source=(
        "Kühnemann, Rauber and Rünger, *Performance Modeling of Two-phase Realizations of "
        "Communication Operations*, table 1: t_sb_log"
    ),
    limitations=(
        "Small messages, whose time does not vanish with their size; between powers of "
        "two, where the number of steps of a tree is rounded up."
    ),
    forms=(Form(("b", "log2(p)*b"), ("τ", "t_c")),),
    splits=("p", "b", "p*b"),
    operations=("bcast",),
)
