"""A tree whose steps overlap: the time grows smoothly with the logarithm of the ranks."""

from isochrone.models.formulas.family import Family, forms_of

FAMILY = Family(
    formula=(
        r"t(p,b) = \tau_1 + \tau_2\,b + (\alpha + \beta\,b)\,g, "
        r"\quad g = \log_2 p \;\text{or}\; (\log_2 p)^2"
    ),
    source="Thakur, Rabenseifner and Gropp 2005: trees and recursive doubling",
    limitations=(
        "If the time is the same at all numbers of ranks between two powers of two, use `tree`."
    ),
    forms=forms_of(
        "τ + α*log2(p)",
        "τ + α*log2(p) + β*log2(p)*b",
        "τ + α*log2(p)*log2(p) + β*log2(p)*log2(p)*b",
        "τ_1 + α*log2(p) + τ_2*b + β*log2(p)*b",
    ),
    splits=("b", "p", "p*b"),
)
