"""A tree that carries the blocks of all ranks: few steps, each with more blocks."""

from isochrone.models.formulas.family import Family, forms_of

FAMILY = Family(
    formula=(
        r"t(p,b) = \tau_1 + \alpha\,s + (\tau_2 + \beta\,p)\,b, \quad s = \lceil\log_2 p\rceil "
        r"\;\text{or}\; \log_2 p"
    ),
    source=(
        "Thakur, Rabenseifner and Gropp 2005: binomial gather and scatter, allgather "
        "by recursive doubling and by Bruck"
    ),
    limitations=(
        "Do not use it for rings, or for a root that serves one rank after the other: there "
        "the latency is linear in the ranks."
    ),
    forms=forms_of(
        "τ_1 + α*ceil(log2(p)) + β*p*b",
        "τ_1 + α*ceil(log2(p)) + τ_2*b + β*p*b",
        "τ_1 + α*log2(p) + τ_2*b + β*p*b",
    ),
    splits=("p*b", "b", "p"),
    operations=("gather", "scatter", "allgather"),
)
