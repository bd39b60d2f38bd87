"""A message passes a number of hops that grows with the side of a torus of three dimensions."""

from isochrone.models.family import Family, Form

FAMILY = Family(
    formula=r"t(p,b) = \tau_1 + \tau_2\,b + (\alpha + \beta\,b)\,\sqrt[3]{p}",
    source="Dally and Towles 2004, section 5.2: hops on a torus of three dimensions",
    limitations=(
        "Do not use it for other networks, nor where ranks do not fill a block of the torus."
    ),
    forms=(
        Form(("1", "cbrt(p)"), ("τ", "α")),
        Form(("1", "cbrt(p)", "cbrt(p)*b"), ("τ", "α", "β")),
        Form(("1", "cbrt(p)", "b", "cbrt(p)*b"), ("τ_1", "α", "τ_2", "β")),
    ),
    splits=("b", "p"),
)
