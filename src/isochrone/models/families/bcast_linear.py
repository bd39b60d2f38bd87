"""A broadcast to one rank after the other: the time is linear in the number of ranks."""

from isochrone.models.family import Family, Form

FAMILY = Family(
    formula=r"t(p,b) = (\tau + t_c\,p)\,b",
    source="Kühnemann, Rauber and Rünger, table 1: t_sb_lin",
    limitations=(
        "Do not use it for small messages, because it has no latency, or for many "
        "ranks, where libraries use trees."
    ),
    forms=(Form(("b", "p*b"), ("τ", "t_c")),),
    splits=("p", "b", "p*b"),
    operations=("bcast",),
)
