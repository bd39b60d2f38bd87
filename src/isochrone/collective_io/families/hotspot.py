"""A busy node: a cost per pair of messages within it and per pair with other nodes."""

from isochrone.models.family import Family, Form

FAMILY = Family(
    formula=r"T(p_a,p_e) = \alpha\,p_a + \beta\,p_e + \gamma",
    source=(
        "Cha, *cFireworks: a Tool for Measuring the Communication Costs in Collective "
        "I/O*, equation 1; split where the node is saturated (section IV A)"
    ),
    limitations=(
        "Nodes with more messages in than out or the reverse: then use `hotspot-directional`."
    ),
    forms=(Form(("pa", "pe", "1"), ("α", "β", "γ")),),
    splits=("pa",),
    operations=("hotspot",),
    min_values=2,
)
