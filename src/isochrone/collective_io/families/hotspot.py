"""A busy node: messages within the node and with other nodes have different costs."""

from isochrone.models.formulas.family import Family, Form

FAMILY = Family(
    formula=r"T(p_a,p_e) = \alpha\,p_a + \beta\,p_e + \gamma",
    source=("Cha, cFireworks, equation 1; breakpoint where the node is saturated: section IV A"),
    limitations=(
        "If a node has unequal numbers of messages in and out, use `hotspot-directional`."
    ),
    forms=(Form(("pa", "pe", "1"), ("α", "β", "γ")),),
    splits=("pa",),
    operations=("hotspot",),
    min_values=2,
)
