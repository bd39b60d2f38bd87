"""A long message is split: a scatter or a reduce-scatter, then an allgather of the parts."""

from isochrone.models.formulas.family import Family, forms_of

FAMILY = Family(
    formula=r"t(p,b) = \tau + \alpha_1 \log_2 p + \alpha_2\,p + \beta\,b + \beta' b/p",
    source=(
        "Thakur, Rabenseifner and Gropp 2005: broadcast (van de Geijn) and allreduce "
        "(Rabenseifner) of long messages"
    ),
    limitations=(
        "Do not use it for short messages, which libraries send along trees, or if the "
        "numbers of ranks are not powers of two."
    ),
    forms=forms_of(
        "τ + α_1*ceil(log2(p)) + β*b + β'*1/p*b",
        "τ + α_1*log2(p) + α_2*p + β*b + β'*1/p*b",
    ),
    splits=("b", "p"),
    operations=("bcast", "reduce", "allreduce", "reduce_scatter_block"),
)
