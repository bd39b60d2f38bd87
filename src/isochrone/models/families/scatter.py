"""A scatter: the root sends a block to each rank."""

from isochrone.models.formulas.family import Family, forms_of

FAMILY = Family(
    formula=r"t(p,b) = \tau_1 + (\tau_2 + t_c\,p)\,b",
    source=(
        "Kühnemann, Rauber and Rünger, table 1 (there with the names of t_sc and t_ga "
        "swapped) and table 4"
    ),
    limitations="Do not use it for trees, whose inner ranks forward blocks.",
    forms=forms_of("τ_1 + τ_2*b + t_c*p*b"),
    splits=("p*b", "p", "b"),
    operations=("scatter",),
)
