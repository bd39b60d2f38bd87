"""Latency plus time per byte: the time of a single message."""

from isochrone.models.family import Family, Form

FAMILY = Family(
    formula=r"t(b) = \alpha + \beta\,b",
    source=(
        "Hockney 1994, *The communication challenge for MPP: Intel Paragon and Meiko "
        "CS-2*, Parallel Computing 20, 389-398"
    ),
    limitations=(
        "Sizes around a protocol switch, if too few of them were measured to find it; "
        "several messages at once."
    ),
    forms=(Form(("1", "b"), ("α", "β")),),
    splits=("b",),
    operations=("point-to-point",),
    costs=True,
)
