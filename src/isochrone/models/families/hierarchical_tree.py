"""A tree between nodes and a tree within each node, with different costs of a step."""

from isochrone.models.formulas.family import Family, forms_of

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
    forms=forms_of(
        "τ + α_1*ceil(log2(ppn)) + α_2*ceil(log2(nodes))",
        *(
            f"τ + α_1*{rounding}(log2(ppn)) + α_2*{rounding}(log2(nodes))"
            f" + β_1*{rounding}(log2(ppn))*b + β_2*{rounding}(log2(nodes))*b"
            for rounding in ("ceil", "floor")
        ),
        "τ + α_1*ceil(log2(ppn)) + α_2*ceil(log2(nodes)) + α_3*floor(log2(nodes))"
        " + β_1*ceil(log2(ppn))*b + β_2*ceil(log2(nodes))*b + β_3*floor(log2(nodes))*b",
    ),
    splits=("b", "nodes"),
    operations=("barrier", "bcast", "reduce", "allreduce", "scan"),
)
