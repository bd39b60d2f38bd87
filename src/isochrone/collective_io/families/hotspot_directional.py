"""A busy node with full-duplex links: the busier direction costs more."""

from isochrone.models.formulas.family import Family, Form

FAMILY = Family(
    formula=r"T = \alpha\,p_a + \beta_1 \max(i,o) + \beta_2 \min(i,o) + \gamma",
    source="`hotspot`, with messages in and out as separate variables",
    limitations=(
        "It needs data with different numbers of messages in and out: otherwise the "
        "two directions cannot be separated."
    ),
    forms=(Form(("pa", "max(in,out)", "min(in,out)", "1"), ("α", "β_1", "β_2", "γ")),),
    operations=("hotspot",),
    min_values=2,
)
