"""The port of a node, which its ranks share: between nodes each step sends the bytes of all."""

from isochrone.models.family import Family, Form

FAMILY = Family(
    formula=(
        r"t(n,q,b) = \tau + (\alpha_1 + \beta_1\,b) \lceil\log_2 q\rceil "
        r"+ (\alpha_2 + \beta_2\,q\,b) \lceil\log_2 n\rceil, "
        r"\quad n = \text{nodes},\; q = \text{ppn}"
    ),
    source=(
        "Gropp, Olson and Samfass 2016, *Modeling MPI communication performance on SMP nodes: is "
        "it time to retire the ping pong test*, EuroMPI: the ranks of a node share its injection "
        "bandwidth; here in each step of a tree between nodes"
    ),
    limitations="Collectives in which one rank of a node sends for all; nodes with several ports.",
    forms=(
        Form(
            ("1", "ceil(log2(ppn))", "ceil(log2(nodes))", "ceil(log2(nodes))*ppn*b"),
            ("τ", "α_1", "α_2", "β_2"),
        ),
        Form(
            (
                "1", "ceil(log2(ppn))", "ceil(log2(nodes))", "ceil(log2(ppn))*b",
                "ceil(log2(nodes))*ppn*b",
            ),
            ("τ", "α_1", "α_2", "β_1", "β_2"),
        ),
    ),
    splits=("b", "nodes"),
    operations=("bcast", "reduce", "allreduce", "scan"),
)  # fmt: skip
