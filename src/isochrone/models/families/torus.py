"""A message passes a number of hops that grows with the side of a torus of three dimensions."""

from isochrone.models.formulas.family import Family, forms_of

FAMILY = Family(
    formula=r"t(p,b) = \tau_1 + \tau_2\,b + (\alpha + \beta\,b)\,\sqrt[3]{p}",
    source="Dally and Towles 2004, section 5.2: hops on a torus of three dimensions",
    limitations=(
        "Do not use it for other networks, nor where ranks do not fill a block of the torus."
    ),
    forms=forms_of(
        "τ + α*cbrt(p)",
        "τ + α*cbrt(p) + β*cbrt(p)*b",
        "τ_1 + α*cbrt(p) + τ_2*b + β*cbrt(p)*b",
    ),
    splits=("b", "p"),
)
