"""Messages share links: the time grows as √p or as p√p."""

from isochrone.models.family import Family, Form

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
    forms=(
        Form(("1", "sqrt(p)", "sqrt(p)*b"), ("τ_1", "α", "β")),
        Form(("1", "sqrt(p)", "b", "sqrt(p)*b"), ("τ_1", "α", "τ_2", "β")),
        Form(("1", "p", "b", "p*sqrt(p)*b"), ("τ_1", "α", "τ_2", "β")),
        Form(("1", "p*sqrt(p)", "b", "p*sqrt(p)*b"), ("τ_1", "α", "τ_2", "β")),
    ),
    splits=("b", "p", "p*b"),
    operations=("alltoall", "allgather"),
)
