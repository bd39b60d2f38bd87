"""A reduction by one rank after the other: the time is linear in the number of ranks."""

from isochrone.models.formulas.family import Family, forms_of

FAMILY = Family(
    formula=r"t(p,b) = (\tau + t_c\,p)\,b",
    source="Kühnemann, Rauber and Rünger, table 1: t_acc_lin",
    limitations=(
        "Do not use it for small messages, because it has no latency, or for many "
        "ranks, where libraries use trees."
    ),
    forms=forms_of("τ*b + t_c*p*b"),
    splits=("p", "b", "p*b"),
    operations=("reduce",),
)
