"""Bruck's alltoall: few steps, each of which sends half of all blocks."""

from isochrone.models.formulas.family import Family, forms_of

FAMILY = Family(
    formula=(
        r"t(p,b) = \tau_1 + \tau_2\,p\,b + \alpha\,s + \beta\,p\,b\,l, "
        r"\quad s = \lceil\log_2 p\rceil \;\text{or}\; p\log_2 p, "
        r"\quad l = \log_2 p \;\text{or}\; \lceil\log_2 p\rceil"
    ),
    source="Thakur, Rabenseifner and Gropp 2005: alltoall of short messages (Bruck)",
    limitations="Do not use it for long messages, which libraries exchange in pairs.",
    forms=forms_of(
        "τ_1 + α*ceil(log2(p)) + β*log2(p)*p*b",
        "τ_1 + α*log2(p)*p + β*log2(p)*p*b",
        "τ_1 + α*ceil(log2(p)) + β*ceil(log2(p))*p*b",
        "τ_1 + α*ceil(log2(p)) + τ_2*p*b + β*log2(p)*p*b",
    ),
    splits=("b", "p*b", "p"),
    operations=("alltoall",),
)
