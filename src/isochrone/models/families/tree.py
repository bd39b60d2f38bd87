"""A tree or recursive doubling: the number of steps is the logarithm of the ranks, rounded."""

from isochrone.models.formulas.family import Family, forms_of

FAMILY = Family(
    formula=(
        r"t(p,b) = \tau_1 + \tau_2\,b + (\alpha + \beta\,b)\,s "
        r"\;\text{or}\; \tau + \alpha\,f + (\beta_1\,f + \beta_2\,f^2 + \beta_3\,s)\,b, "
        r"\quad s = \lceil\log_2 p\rceil,\; f = \lfloor\log_2 p\rfloor"
    ),
    source="Thakur, Rabenseifner and Gropp 2005: broadcast of short messages",
    limitations="Do not use it for long messages, which libraries split.",
    forms=forms_of(
        "τ + α*ceil(log2(p))",
        "τ + α*ceil(log2(p)) + β*ceil(log2(p))*b",
        "τ_1 + α*ceil(log2(p)) + τ_2*b + β*ceil(log2(p))*b",
        "τ + α*floor(log2(p)) + β_1*floor(log2(p))*b + β_2*floor(log2(p))*floor(log2(p))*b",
        "τ + α*floor(log2(p)) + β_1*floor(log2(p))*b + β_2*floor(log2(p))*floor(log2(p))*b"
        " + β_3*ceil(log2(p))*b",
    ),
    splits=("b", "p"),
    operations=("barrier", "bcast", "reduce", "allreduce", "scan"),
)
