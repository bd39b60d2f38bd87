"""Alltoall in batches: each rank has at most k messages in flight."""

from isochrone.models.family import Family, Form

_BATCHES = (8, 16, 32)

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
    forms=tuple(
        form
        for k in _BATCHES
        for form in (
            Form(("1", f"batches{k}(p)", "p*b"), ("τ", "γ", "β")),
            Form(("1", "p", f"batches{k}(p)", "b", "p*b"), ("τ", "α", "γ", "τ_2", "β")),
        )
    ),
    splits=("b", "p", "p*b"),
    operations=("alltoall",),
)
