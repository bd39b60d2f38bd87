"""An allgather as two operations: a gather, then a broadcast of all blocks."""

from isochrone.models.family import Family, Form

FAMILY = Family(
    formula=r"t(p,b) = t_{ga}(p,b) + t_{sb}(p,\,p\,b)",
    source="Kühnemann, Rauber and Rünger, table 1: t_mb; here also with a latency",
    limitations=(
        "Do not use it for rings and recursive doubling, which libraries use for long messages."
    ),
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
