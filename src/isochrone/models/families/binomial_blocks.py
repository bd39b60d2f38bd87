"""A tree that carries the blocks of all ranks: few steps, each with more blocks."""

from isochrone.models.family import Family, Form

FAMILY = Family(
    formula=(
        r"t(p,b) = \tau_1 + \alpha\,s + (\tau_2 + \beta\,p)\,b, \quad s = \lceil\log_2 p\rceil "
        r"\;\text{or}\; \log_2 p"
    ),
    source=(
        "Thakur, Rabenseifner and Gropp 2005: binomial gather and scatter, allgather "
        "by recursive doubling and by Bruck"
    ),
    limitations=(
        "Do not use it for rings, or for a root that serves one rank after the other: there "
        "the latency is linear in the ranks."
    ),
    forms=(
        Form(("1", "ceil(log2(p))", "p*b"), ("τ_1", "α", "β")),
        Form(("1", "ceil(log2(p))", "b", "p*b"), ("τ_1", "α", "τ_2", "β")),
        Form(("1", "log2(p)", "b", "p*b"), ("τ_1", "α", "τ_2", "β")),
    ),
    splits=("p*b", "b", "p"),
    operations=("gather", "scatter", "allgather"),
)
