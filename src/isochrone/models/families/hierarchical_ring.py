"""A ring, or one rank after the other: steps within and between nodes have different costs."""

from isochrone.models.formulas.family import Family, forms_of

FAMILY = Family(
    formula=(
        r"t(n,q,b) = \tau_1 + \tau_2\,b + (\alpha_1 + \beta_1\,b)\,q + (\alpha_2 + \beta_2\,b)\,m, "
        r"\quad m = n \;\text{or}\; n\,q"
    ),
    source=(
        "Thakur, Rabenseifner and Gropp 2005: allgather as a ring, alltoall in pairs; "
        "leaders of nodes as in Zhu, Goodell, Gropp and Thakur 2009"
    ),
    limitations="Do not use it for trees, whose time grows with the logarithm of the ranks.",
    forms=forms_of(
        *(
            f"τ_1 + α_1*ppn + α_2*{between} + τ_2*b + β_1*ppn*b + β_2*{between}*b"
            for between in ("nodes", "nodes*ppn")
        )
    ),
    splits=("b", "nodes"),
    operations=("gather", "scatter", "allgather", "alltoall"),
)
