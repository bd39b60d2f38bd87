"""A tree or recursive doubling: a number of steps that grows with the logarithm of the ranks."""

from isochrone.models.family import Family, Form

FAMILY = Family(
    formula=r"t(p,b) = \tau + (\alpha + \beta\,b)\,s, \quad s = \lceil\log_2 p\rceil",
    source=(
        "Thakur, Rabenseifner and Gropp 2005, *Optimization of collective communication "
        "operations in MPICH*, International Journal of High Performance Computing Applications "
        "19, 49-66: broadcast of short messages; a barrier has no b. The forms with s² are for a "
        "root that sends all its messages at once: they share its link, so that the k-th step "
        "waits for k messages"
    ),
    limitations=("Long messages, which libraries split up."),
    forms=(
        Form(("1", "ceil(log2(p))"), ("τ", "α")),
        Form(("1", "ceil(log2(p))", "ceil(log2(p))*b"), ("τ", "α", "β")),
        Form(("1", "ceil(log2(p))", "b", "ceil(log2(p))*b"), ("τ_1", "α", "τ_2", "β")),
        Form(
            ("1", "floor(log2(p))", "floor(log2(p))*b", "floor(log2(p))*floor(log2(p))*b"),
            ("τ", "α", "β_1", "β_2"),
        ),
        Form(
            (
                "1",
                "floor(log2(p))",
                "floor(log2(p))*b",
                "floor(log2(p))*floor(log2(p))*b",
                "ceil(log2(p))*b",
            ),
            ("τ", "α", "β_1", "β_2", "β_3"),
        ),
    ),
    splits=("b", "p"),
    operations=("barrier", "bcast", "reduce", "allreduce", "scan"),
)
