"""Messages that share links: time grows with the square root of the ranks, or faster than p."""

from isochrone.models.family import Family, Form

FAMILY = Family(
    formula=(
        r"t(p,b) = \tau_1 + \tau_2\,b + \alpha\,h + \beta\,b\,g, "
        r"\quad g = \sqrt{p} \;\text{or}\; p\sqrt{p}, \quad h = g \;\text{or}\; p"
    ),
    source=(
        "The bisection of a square mesh of p nodes has √p links, so p messages through it take √p "
        "times as long, and p² take p√p: Dally and Towles 2004, *Principles and Practices of "
        "Interconnection Networks*, section 3.3"
    ),
    limitations="Networks of full bisection; few ranks, where no link is shared yet.",
    forms=(
        Form(("1", "sqrt(p)", "sqrt(p)*b"), ("τ_1", "α", "β")),
        Form(("1", "sqrt(p)", "b", "sqrt(p)*b"), ("τ_1", "α", "τ_2", "β")),
        Form(("1", "p", "b", "p*sqrt(p)*b"), ("τ_1", "α", "τ_2", "β")),
        Form(("1", "p*sqrt(p)", "b", "p*sqrt(p)*b"), ("τ_1", "α", "τ_2", "β")),
    ),
    splits=("b", "p", "p*b"),
    operations=("alltoall", "allgather"),
)
