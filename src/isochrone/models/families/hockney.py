"""A single message: a latency, and a time per byte."""

from isochrone.models.formulas.family import Family, forms_of

FAMILY = Family(
    formula=r"t(b) = \alpha + \beta\,b",
    source="Hockney 1994",
    limitations=(
        "Do not use it for several messages in flight. Near a protocol switch, it "
        "needs enough sizes on both sides to find the breakpoint."
    ),
    forms=forms_of("α + β*b"),
    splits=("b",),
    operations=("point-to-point",),
    costs=True,
)
