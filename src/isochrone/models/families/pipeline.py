"""A long message is sent in chunks along a chain of ranks or a binary tree."""

from isochrone.models.formulas.family import Family, forms_of

FAMILY = Family(
    formula=(
        r"t(p,b) = \tau + \alpha\,d + \beta\,b, "
        r"\quad d = p \;\text{or}\; \lfloor\log_2(p - 1)\rfloor"
    ),
    source="Pješivac-Grbović, Angskun, Bosilca, Fagg, Gabriel and Dongarra 2007",
    limitations="Do not use it for messages shorter than one chunk.",
    forms=forms_of(
        "τ + α*p + β*b",
        "τ + α*floor(log2(p-1)) + β*b",
    ),
    splits=("b", "p"),
    operations=("bcast", "reduce"),
)
