"""A start-up time and a time a byte: the time of one message."""

from isochrone.models.family import Family, Form

__all__ = ["FAMILY"]

FAMILY = Family(
    formula=r"t(b) = \alpha + \beta\,b",
    source=(
        "Hockney 1994, *The communication challenge for MPP: Intel Paragon and Meiko "
        "CS-2*, Parallel Computing 20, 389-398"
    ),
    fails=(
        "Sizes around a change of protocol, if too few of them were measured to find it; "
        "several messages at once."
    ),
    forms=(Form(("1", "b"), ("α", "β")),),
    splits=("b",),
    operations=("point-to-point",),
)
