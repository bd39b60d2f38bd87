"""A tree between nodes in which all ranks of a node send and share its network port."""

from isochrone.models.formulas.family import Family, forms_of

FAMILY = Family(
    formula=(
        r"t(n,q,b) = \tau + (\alpha_1 + \beta_1\,b) \lceil\log_2 q\rceil "
        r"+ (\alpha_2 + \beta_2\,q\,b) \lceil\log_2 n\rceil"
    ),
    source=(
        "Gropp, Olson and Samfass 2016: injection bandwidth of a node, applied to each "
        "step of a tree"
    ),
    limitations=(
        "Do not use it if one rank of a node sends for all, or if a node has several ports."
    ),
    forms=forms_of(
        "τ + α_1*ceil(log2(ppn)) + α_2*ceil(log2(nodes)) + β_2*ceil(log2(nodes))*ppn*b",
        "τ + α_1*ceil(log2(ppn)) + α_2*ceil(log2(nodes)) + β_1*ceil(log2(ppn))*b"
        " + β_2*ceil(log2(nodes))*ppn*b",
    ),
    splits=("b", "nodes"),
    operations=("bcast", "reduce", "allreduce", "scan"),
)
