"""A reduction along a tree: the number of steps is rounded down."""

from isochrone.models.formulas.family import Family, forms_of

FAMILY = Family(
    formula=r"t(p,b) = (\tau + t_c \lfloor\log_2(p-1)\rfloor)\,b",
    source="Kühnemann, Rauber and Rünger, table 1: t_acc_log",
    limitations=(
        "Do not use it for small messages, because it has no latency, or for long "
        "messages, which libraries reduce in parts (Rabenseifner)."
    ),
    forms=forms_of("τ*b + t_c*floor(log2(p-1))*b"),
    splits=("p", "b", "p*b"),
    operations=("reduce",),
)
