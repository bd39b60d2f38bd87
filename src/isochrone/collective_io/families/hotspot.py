"""A busy node: messages within the node have one cost, those with other nodes another."""

from isochrone.models.family import Family, Form

FAMILY = Family(
    formula=r"T(p_a,p_e) = \alpha\,p_a + \beta\,p_e + \gamma",
    source=("Cha, cFireworks, equation 1; breakpoint where the node is saturated: section IV A"),
    limitations=(
        "If a node has more messages in than out, or the reverse, use `hotspot-directional`."
    ),
    forms=(Form(("pa", "pe", "1"), ("α", "β", "γ")),),
    splits=("pa",),
    operations=("hotspot",),
    min_values=2,
)
