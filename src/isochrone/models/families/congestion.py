"""Messages share links: the time grows as √p or as p√p."""

from isochrone.models.formulas.family import Family, forms_of

FAMILY = Family(
    formula=(
        r"t(p,b) = \tau_1 + \tau_2\,b + \alpha\,h + \beta\,b\,g, "
        r"\quad g = \sqrt{p} \;\text{or}\; p\sqrt{p}, \quad h = g \;\text{or}\; p"
    ),
    source="Dally and Towles 2004, section 3.3: bisection of a square mesh",
    limitations=(
        "Do not use it for networks of full bisection bandwidth, or for few ranks that "
        "do not share links yet."
    ),
    forms=forms_of(
        "τ_1 + α*sqrt(p) + β*sqrt(p)*b",
        "τ_1 + α*sqrt(p) + τ_2*b + β*sqrt(p)*b",
        "τ_1 + α*p + τ_2*b + β*p*sqrt(p)*b",
        "τ_1 + α*p*sqrt(p) + τ_2*b + β*p*sqrt(p)*b",
    ),
    splits=("b", "p", "p*b"),
    operations=("alltoall", "allgather"),
)
