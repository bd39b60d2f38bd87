"""A tree or recursive doubling: the number of steps is the logarithm of the ranks, rounded."""

from isochrone.models.family import Family, Form

FAMILY = Family(
    formula=(
        r"t(p,b) = \tau_1 + \tau_2\,b + (\alpha + \beta\,b)\,s "
        r"\;\text{or}\; \tau + \alpha\,f + (\beta_1\,f + \beta_2\,f^2 + \beta_3\,s)\,b, "
        r"\quad s = \lceil\log_2 p\rceil,\; f = \lfloor\log_2 p\rfloor"
    ),
    source="Thakur, Rabenseifner and Gropp 2005: broadcast of short messages",
    limitations="Do not use it for long messages, which libraries split.",
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
