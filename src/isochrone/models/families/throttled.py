"""Messages in pairs of which only a batch is under way at a time."""

from isochrone.models.family import Family, Form

_BATCHES = (8, 16, 32)

FAMILY = Family(
    formula=(
        r"t(p,b) = \tau + \alpha\,p + \gamma \lceil (p - 1) / k \rceil + \beta\,p\,b, "
        r"\quad k = 8, 16 \;\text{or}\; 32"
    ),
    source=(
        "MPICH, alltoall of medium messages: isend and irecv in batches of "
        "MPIR_CVAR_ALLTOALL_THROTTLE (32) messages; Open MPI, linear_sync, batches of a parameter"
    ),
    limitations="Batches of other sizes: the fit sees smooth growth instead of steps.",
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
