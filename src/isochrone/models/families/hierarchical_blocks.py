"""Trees within and between nodes that carry the blocks of all ranks."""

from isochrone.models.formulas.family import Family, forms_of

FAMILY = Family(
    formula=(
        r"t(n,q,b) = \tau_1 + \alpha_1\,s(q) + \alpha_2\,s(n) "
        r"+ (\tau_2 + \beta_1\,q + \beta_2\,n\,q)\,b, "
        r"\quad s(v) = \lceil\log_2 v\rceil \;\text{or}\; \lfloor\log_2 v\rfloor"
    ),
    source=(
        "Thakur, Rabenseifner and Gropp 2005: gather, scatter and allgather of short "
        "messages; nodes as in Zhu, Goodell, Gropp and Thakur 2009"
    ),
    limitations=(
        "Do not use it for rings, or for a root that serves one rank after the other: there "
        "the latency is linear in the ranks."
    ),
    forms=forms_of(
        *(
            f"τ_1 + α_1*{steps}(log2(ppn)) + α_2*{steps}(log2(nodes)) + τ_2*b + β_1*ppn*b"
            " + β_2*nodes*ppn*b"
            for steps in ("ceil", "floor")
        )
    ),
    splits=("nodes*ppn*b", "b", "nodes"),
    operations=("gather", "scatter", "allgather"),
)
