"""The time per message in a window of w messages."""

from isochrone.models.formulas.family import Family, forms_of

FAMILY = Family(
    formula=r"t(w,b) = g + \frac{2(L + 2o) - g}{w} + G\,b",
    source="Alexandrov, Ionescu, Schauer and Scheiman 1995; here b instead of b - 1",
    limitations=(
        "It needs data of at least two window sizes. The fit gives L + 2o, but not L and o."
    ),
    forms=forms_of("g + [2(L + 2o) - g]*1/w + G*b"),
    splits=("b",),
    operations=("point-to-point",),
    costs=True,
)
