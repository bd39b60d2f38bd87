"""A busy node on full-duplex links: the busier direction dominates."""

from isochrone.models.family import Family, Form

FAMILY = Family(
    formula=r"T = \alpha\,p_a + \beta_1 \max(i,o) + \beta_2 \min(i,o) + \gamma",
    source="`hotspot` with the messages in (i) and out (o) of a full-duplex network as separate "
    "variables",
    limitations=(
        "Data with as many messages in as out everywhere: the two directions are collinear."
    ),
    forms=(Form(("pa", "max(in,out)", "min(in,out)", "1"), ("α", "β_1", "β_2", "γ")),),
    operations=("hotspot",),
    min_values=2,
)
