"""A long message in pieces, along a chain of ranks or a binary tree."""

from isochrone.models.family import Family, Form

FAMILY = Family(
    formula=(
        r"t(p,b) = \tau + \alpha\,d + \beta\,b, "
        r"\quad d = p \;\text{or}\; \lfloor\log_2(p - 1)\rfloor"
    ),
    source=(
        "Pješivac-Grbović, Angskun, Bosilca, Fagg, Gabriel and Dongarra 2007, *Performance "
        "analysis of MPI collective operations*, Cluster Computing 10, 127-143: segments of a "
        "fixed size follow each other, (depth + segments) steps of equal cost"
    ),
    limitations="Messages shorter than one piece.",
    forms=(
        Form(("1", "p", "b"), ("τ", "α", "β")),
        Form(("1", "floor(log2(p-1))", "b"), ("τ", "α", "β")),
    ),
    splits=("b", "p"),
    operations=("bcast", "reduce"),
)
