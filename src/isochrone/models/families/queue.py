"""A receive behind others that do not match: a time, one per entry of the queue, one per byte."""

from isochrone.models.formulas.family import Family, forms_of

FAMILY = Family(
    formula=r"t(q, b) = \alpha + \gamma\,q + \beta\,b",
    source="Underwood and Brightwell 2004: time over the length of the queue",
    limitations=(
        "Do not use it for libraries that find a message by a hash: there the time does not "
        "depend on the entries."
    ),
    forms=forms_of(
        "α + γ*entries + β*b",
        "α + γ*entries",
    ),
    splits=("entries",),
    operations=("posted", "wildcard", "unexpected"),
    costs=True,
)
