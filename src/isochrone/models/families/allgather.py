"""An allgather as two operations: a gather, then a broadcast of all blocks."""

from isochrone.models.formulas.family import Family, forms_of

FAMILY = Family(
    formula=r"t(p,b) = t_{ga}(p,b) + t_{sb}(p,\,p\,b)",
    source="Kühnemann, Rauber and Rünger, table 1: t_mb; here also with a latency",
    limitations=(
        "Do not use it for rings and recursive doubling, which libraries use for long messages."
    ),
    forms=forms_of(
        "τ_1 + τ_2*b + [t_c,ga + τ_sb]*p*b + t_c,sb*p*p*b",
        "τ_1 + τ_2*b + [t_c,ga + τ_sb]*p*b + t_c,sb*log2(p)*p*b",
        "τ_1 + α_ga*p + α_sb*ceil(log2(p)) + τ_2*b + t_c,ga*p*b + t_c,sb*ceil(log2(p))*p*b",
    ),
    splits=("p", "p*b", "b"),
    operations=("allgather",),
)
