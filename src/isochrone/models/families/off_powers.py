"""Steps of whole powers of two, and one more for the ranks beyond."""

from __future__ import annotations

from isochrone.models.family import Family, Form

FAMILY = Family(
    formula=(
        r"t(p,b) = \tau_1 + \tau_2\,b + (\alpha_1 + \beta_1 b)\lfloor\log_2 p\rfloor "
        r"+ (\alpha_2 + \beta_2 b)\lceil\log_2 p\rceil"
    ),
    source=(
        "Thakur, Rabenseifner and Gropp 2005, *Optimization of collective communication operations "
        "in MPICH*, International Journal of High Performance Computing Applications 19, 49-66: "
        "allreduce by recursive doubling: ranks beyond a power of two wait for a step before and "
        "one after"
    ),
    limitations="Data that hold powers of two only: both numbers of steps are the same.",
    forms=(
        Form(
            ("1", "floor(log2(p))", "ceil(log2(p))", "ceil(log2(p))*b"),
            ("τ_1", "α_1", "α_2", "β_2"),
        ),
        Form(
            ("1", "floor(log2(p))", "ceil(log2(p))", "floor(log2(p))*b", "ceil(log2(p))*b"),
            ("τ_1", "α_1", "α_2", "β_1", "β_2"),
        ),
        Form(
            ("1", "floor(log2(p))", "ceil(log2(p))", "b", "floor(log2(p))*b", "ceil(log2(p))*b"),
            ("τ_1", "α_1", "α_2", "τ_2", "β_1", "β_2"),
        ),
    ),
    splits=("b", "p"),
    operations=("allreduce", "reduce", "scan", "reduce_scatter_block"),
)
