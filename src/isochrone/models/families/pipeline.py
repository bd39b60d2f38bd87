"""A long message is sent in chunks along a chain of ranks or a binary tree."""

from isochrone.models.family import Family, Form

FAMILY = Family(
    formula=(
        r"t(p,b) = \tau + \alpha\,d + \beta\,b, "
        r"\quad d = p \;\text{or}\; \lfloor\log_2(p - 1)\rfloor"
    ),
    source="Pješivac-Grbović, Angskun, Bosilca, Fagg, Gabriel and Dongarra 2007",
    limitations="Do not use it for messages shorter than one chunk.",
    forms=(
        Form(("1", "p", "b"), ("τ", "α", "β")),
        Form(("1", "floor(log2(p-1))", "b"), ("τ", "α", "β")),
    ),
    splits=("b", "p"),
    operations=("bcast", "reduce"),
)
