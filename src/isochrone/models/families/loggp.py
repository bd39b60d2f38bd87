"""Messages in a window: gap, time per byte, and the latency of the last message and its reply."""

from isochrone.models.family import Family, Form

FAMILY = Family(
    formula=r"t(w,b) = g + \frac{2(L + 2o) - g}{w} + G\,b",
    source=(
        "Alexandrov, Ionescu, Schauer and Scheiman 1995, *LogGP: incorporating long messages into "
        "the LogP model*, SPAA '95: w messages take L + 2o + (w - 1) g + w G b and their empty "
        "answer L + 2o; here the time of all is divided by w, and b is written instead of b - 1"
    ),
    limitations=(
        "Data with a single window size: gap and latency are collinear. L and o are not separated."
    ),
    forms=(Form(("1", "1/w", "b"), ("g", "2(L + 2o) - g", "G")),),
    splits=("b",),
    operations=("point-to-point",),
    costs=True,
)
