"""A broadcast along a tree: the time is logarithmic in the number of ranks."""

from isochrone.models.formulas.family import Family, forms_of

FAMILY = Family(
    formula=r"t(p,b) = (\tau + t_c \log_2 p)\,b",
    source="Kühnemann, Rauber and Rünger, table 1: t_sb_log",
    limitations=(
        "Do not use it for small messages, because it has no latency, or between "
        "powers of two, where the steps of a tree are rounded up."
    ),
    forms=forms_of("τ*b + t_c*log2(p)*b"),
    splits=("p", "b", "p*b"),
    operations=("bcast",),
)
