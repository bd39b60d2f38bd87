"""Trees within and between nodes that carry the blocks of all ranks."""

from isochrone.models.family import Family, Form

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
    forms=tuple(
        Form(
            (
                "1",
                f"{rounding}(log2(ppn))",
                f"{rounding}(log2(nodes))",
                "b",
                "ppn*b",
                "nodes*ppn*b",
            ),
            ("τ_1", "α_1", "α_2", "τ_2", "β_1", "β_2"),
        )
        for rounding in ("ceil", "floor")
    ),
    splits=("nodes*ppn*b", "b", "nodes"),
    operations=("gather", "scatter", "allgather"),
)
