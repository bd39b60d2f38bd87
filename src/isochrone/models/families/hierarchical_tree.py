"""A tree between nodes and a tree within each node, with different costs of a step."""

from isochrone.models.family import Family, Form

FAMILY = Family(
    formula=(
        r"t(n,q,b) = \tau + (\alpha_1 + \beta_1\,b)\,s(q) + (\alpha_2 + \beta_2\,b)\,s(n), "
        r"\quad s(v) = \lceil\log_2 v\rceil \;\text{or}\; \lfloor\log_2 v\rfloor"
    ),
    source=(
        "Karonis, de Supinski, Foster, Gropp, Lusk and Bresnahan 2000; Zhu, Goodell, "
        "Gropp and Thakur 2009; Rabenseifner 2004: numbers of nodes that are not "
        "powers of two"
    ),
    limitations=(
        "Do not use it for long messages, which libraries split, or if several ranks "
        "of a node share its link (see `node-port`)."
    ),
    forms=(
        Form(("1", "ceil(log2(ppn))", "ceil(log2(nodes))"), ("τ", "α_1", "α_2")),
        *(
            Form(
                (
                    "1",
                    f"{rounding}(log2(ppn))",
                    f"{rounding}(log2(nodes))",
                    f"{rounding}(log2(ppn))*b",
                    f"{rounding}(log2(nodes))*b",
                ),
                ("τ", "α_1", "α_2", "β_1", "β_2"),
            )
            for rounding in ("ceil", "floor")
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
