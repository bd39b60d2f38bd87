"""A ring, or a root that serves one rank after the other: the time is linear in the ranks."""

from isochrone.models.formulas.family import Family, forms_of

FAMILY = Family(
    formula=r"t(p,b) = \tau_1 + \tau_2\,b + (\alpha + \beta\,b)\,p",
    source=(
        "Thakur, Rabenseifner and Gropp 2005: allgather as a ring, alltoall in pairs; "
        "Chen, Zhang, Zhang and Yuan 2005: neighbour exchange, p/2 steps if p is even"
    ),
    limitations="Do not use it for trees, whose time grows with the logarithm of the ranks.",
    forms=forms_of(
        "τ_1 + α*p",
        "τ_1 + α*p + τ_2*b + β*p*b",
    ),
    splits=("b", "p", "p*b"),
    operations=("gather", "scatter", "allgather", "alltoall"),
)
