"""Trees within and between nodes that carry the blocks of all ranks: few steps, much to send."""

from isochrone.models.family import Family, Form

FAMILY = Family(
    formula=(
        r"t(n,q,b) = \tau_1 + \alpha_1\,s(q) + \alpha_2\,s(n) "
        r"+ (\tau_2 + \beta_1\,q + \beta_2\,n\,q)\,b, "
        r"\quad s(v) = \lceil\log_2 v\rceil \;\text{or}\; \lfloor\log_2 v\rfloor, "
        r"\quad n = \text{nodes},\; q = \text{ppn}"
    ),
    source=(
        "Thakur, Rabenseifner and Gropp 2005, *Optimization of collective communication "
        "operations in MPICH*, International Journal of High Performance Computing Applications "
        "19, 49-66: gather, scatter and allgather of short messages, p b bytes in log2(p) steps; "
        "here the steps and the bytes within a node and between nodes are separate, as in Zhu, "
        "Goodell, Gropp and Thakur 2009, *Hierarchical collectives in MPICH2*, EuroPVM/MPI"
    ),
    limitations=(
        "Rings, and algorithms in which the root serves one rank after the other: latency grows "
        "with the number of ranks."
    ),
    forms=tuple(
        Form(
            ("1", f"{whole}(log2(ppn))", f"{whole}(log2(nodes))", "b", "ppn*b", "nodes*ppn*b"),
            ("τ_1", "α_1", "α_2", "τ_2", "β_1", "β_2"),
        )
        for whole in ("ceil", "floor")
    ),
    splits=("nodes*ppn*b", "b", "nodes"),
    operations=("gather", "scatter", "allgather"),
)
