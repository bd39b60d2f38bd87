"""Alltoall in batches: each rank has at most k messages in flight."""

from isochrone.models.formulas.family import Family, forms_of

FAMILY = Family(
    formula=(
        r"t(p,b) = \tau + \tau_2\,b + \alpha\,p + \gamma \lceil (p - 1) / k \rceil + \beta\,p\,b, "
        r"\quad k = 8, 16 \;\text{or}\; 32"
    ),
    source=(
        "MPICH, alltoall of medium messages (`MPIR_CVAR_ALLTOALL_THROTTLE`, 32); Open "
        "MPI, `linear_sync`"
    ),
    limitations=(
        "Do not use it for other batch sizes: it would have its steps at wrong numbers of ranks."
    ),
    forms=forms_of(
        *(
            formula
            for batches in (f"batches{k}(p)" for k in (8, 16, 32))
            for formula in (
                f"τ + γ*{batches} + β*p*b",
                f"τ + α*p + γ*{batches} + τ_2*b + β*p*b",
            )
        )
    ),
    splits=("b", "p", "p*b"),
    operations=("alltoall",),
)
