"""A tree between nodes and one within each: the steps of each have a cost of their own."""

from isochrone.models.family import Family, Form

FAMILY = Family(
    formula=(
        r"t(n,q,b) = \tau + (\alpha_1 + \beta_1\,b)\,s(q) + (\alpha_2 + \beta_2\,b)\,s(n), "
        r"\quad s(v) = \lceil\log_2 v\rceil \;\text{or}\; \lfloor\log_2 v\rfloor, "
        r"\quad n = \text{nodes},\; q = \text{ppn}"
    ),
    source=(
        "Karonis, de Supinski, Foster, Gropp, Lusk and Bresnahan 2000, *Exploiting hierarchy in "
        "parallel computer networks to optimize collective operation performance*, IPDPS; Zhu, "
        "Goodell, Gropp and Thakur 2009, *Hierarchical collectives in MPICH2*, EuroPVM/MPI: one "
        "rank of each node takes part in the tree between them. The last form has an additional "
        "step if the number of nodes is no power of two: Rabenseifner 2004, *Optimization of "
        "collective reduction operations*, ICCS"
    ),
    limitations=(
        "Long messages, which libraries split up; trees whose steps between nodes share the link "
        "of a node."
    ),
    forms=(
        Form(("1", "ceil(log2(ppn))", "ceil(log2(nodes))"), ("τ", "α_1", "α_2")),
        *(
            Form(
                (
                    "1",
                    f"{whole}(log2(ppn))",
                    f"{whole}(log2(nodes))",
                    f"{whole}(log2(ppn))*b",
                    f"{whole}(log2(nodes))*b",
                ),
                ("τ", "α_1", "α_2", "β_1", "β_2"),
            )
            for whole in ("ceil", "floor")
        ),
        Form(
            (
                "1",
                "ceil(log2(ppn))",
                "ceil(log2(nodes))",
                "floor(log2(nodes))",
                "ceil(log2(ppn))*b",
                "ceil(log2(nodes))*b",
                "floor(log2(nodes))*b",
            ),
            ("τ", "α_1", "α_2", "α_3", "β_1", "β_2", "β_3"),
        ),
    ),
    splits=("b", "nodes"),
    operations=("barrier", "bcast", "reduce", "allreduce", "scan"),
)
