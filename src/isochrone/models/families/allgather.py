"""Allgather: a gather, and a broadcast of all blocks together."""

from isochrone.models.family import Family, Form

FAMILY = Family(
    formula=r"t(p,b) = t_{ga}(p,b) + t_{sb}(p,\,p\,b)",
    source=(
        "Kühnemann, Rauber and Rünger, *Performance Modeling of Two-phase Realizations of "
        "Communication Operations*, table 1: t_mb"
    ),
    limitations="Rings and recursive doubling, which real libraries use for long messages.",
    forms=(
        Form(("1", "b", "p*b", "p*p*b"), ("τ_1", "τ_2", "t_c,ga + τ_sb", "t_c,sb")),
        Form(("1", "b", "p*b", "log2(p)*p*b"), ("τ_1", "τ_2", "t_c,ga + τ_sb", "t_c,sb")),
        Form(
            ("1", "p", "ceil(log2(p))", "b", "p*b", "ceil(log2(p))*p*b"),
            ("τ_1", "α_ga", "α_sb", "τ_2", "t_c,ga", "t_c,sb"),
        ),
    ),
    splits=("p", "p*b", "b"),
    operations=("allgather",),
)
