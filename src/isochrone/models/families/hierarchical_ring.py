"""One rank after the other, or a ring: within a node and between nodes at a cost of its own."""

from isochrone.models.family import Family, Form

FAMILY = Family(
    formula=(
        r"t(n,q,b) = \tau_1 + \tau_2\,b + (\alpha_1 + \beta_1\,b)\,q + (\alpha_2 + \beta_2\,b)\,m, "
        r"\quad m = n \;\text{or}\; n\,q, \quad n = \text{nodes},\; q = \text{ppn}"
    ),
    source=(
        "Thakur, Rabenseifner and Gropp 2005, *Optimization of collective communication "
        "operations in MPICH*, International Journal of High Performance Computing Applications "
        "19, 49-66: allgather as a ring, alltoall in pairs. Between nodes (n - 1) messages of "
        "their leaders, as in Zhu, Goodell, Gropp and Thakur 2009, *Hierarchical collectives in "
        "MPICH2*, EuroPVM/MPI, or (n - 1) q of all ranks; (q - 1) within of equal cost"
    ),
    limitations="Trees, whose time grows with the logarithm of the ranks.",
    forms=tuple(
        Form(
            ("1", "ppn", between, "b", "ppn*b", f"{between}*b"),
            ("τ_1", "α_1", "α_2", "τ_2", "β_1", "β_2"),
        )
        for between in ("nodes", "nodes*ppn")
    ),
    splits=("b", "nodes"),
    operations=("gather", "scatter", "allgather", "alltoall"),
)
