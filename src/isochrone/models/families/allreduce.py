"""Allreduce: a reduce and a broadcast of its result."""

from isochrone.models.family import Family, Form

__all__ = ["FAMILY"]

FAMILY = Family(
    formula=r"t(p,b) = t_{acc}(p,b) + t_{sb}(p,b)",
    source=(
        "Kühnemann, Rauber and Rünger, *Performance Modeling of Two-phase Realizations of "
        "Communication Operations*, table 1: t_macc. The "
        "last two forms have a start-up: a linear reduce, and a broadcast as in `tree`"
    ),
    limitations=(
        "Numbers of ranks that are all powers of two: the steps of reduce and of "
        "broadcast are collinear in a tree. Rings and recursive doubling."
    ),
    forms=(
        Form(("b", "p*b"), ("τ", "t_c")),
        Form(("b", "floor(log2(p-1))*b", "log2(p)*b"), ("τ", "t_c,acc", "t_c,sb")),
        Form(
            ("1", "ceil(log2(p))", "b", "p*b", "ceil(log2(p))*b"),
            ("τ", "α_sb", "τ_acc", "t_c,acc", "t_c,sb"),
        ),
        Form(
            (
                "1",
                "floor(log2(p))",
                "b",
                "p*b",
                "floor(log2(p))*b",
                "floor(log2(p))*floor(log2(p))*b",
                "ceil(log2(p))*b",
            ),
            ("τ", "α_sb", "τ_acc", "t_c,acc", "β_1", "β_2", "β_3"),
        ),
    ),
    splits=("p", "b", "p*b"),
    operations=("allreduce",),
)
