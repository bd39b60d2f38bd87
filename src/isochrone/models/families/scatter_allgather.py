"""Long messages split up: a scatter and an allgather, or a reduce-scatter and an allgather."""

from isochrone.models.family import Family, Form

FAMILY = Family(
    formula=r"t(p,b) = \tau + \alpha_1 \log_2 p + \alpha_2\,p + \beta\,b + \beta' b/p",
    source=(
        "Thakur, Rabenseifner and Gropp 2005, *Optimization of collective communication "
        "operations in MPICH*, International Journal of High Performance Computing Applications "
        "19, 49-66: broadcast (van de Geijn) and allreduce (Rabenseifner) of long messages; "
        "(p - 1)/p b, multiplied out"
    ),
    limitations=(
        "Short messages, for which libraries use trees; numbers of ranks that are not powers of "
        "two."
    ),
    forms=(
        Form(("1", "ceil(log2(p))", "b", "1/p*b"), ("τ", "α_1", "β", "β'")),
        Form(("1", "log2(p)", "p", "b", "1/p*b"), ("τ", "α_1", "α_2", "β", "β'")),
    ),
    splits=("b", "p"),
    operations=("bcast", "reduce", "allreduce", "reduce_scatter_block"),
)
