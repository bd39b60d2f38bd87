"""A single message: a latency, and a time per byte."""

from isochrone.models.family import Family, Form

FAMILY = Family(
    formula=r"t(b) = \alpha + \beta\,b",
    source="Hockney 1994",
    limitations=(
        "Do not use it for several messages in flight. Near a protocol switch, it "
        "needs enough sizes on both sides to find the breakpoint."
    ),
    forms=(Form(("1", "b"), ("α", "β")),),
    splits=("b",),
    operations=("point-to-point",),
    costs=True,
)
