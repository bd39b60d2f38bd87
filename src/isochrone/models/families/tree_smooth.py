"""Steps that grow with the logarithm of the ranks, whole or not."""

from isochrone.models.family import Family, Form

FAMILY = Family(
    formula=(
        r"t(p,b) = \tau_1 + \tau_2\,b + (\alpha + \beta\,b)\,g, "
        r"\quad g = \log_2 p \;\text{or}\; (\log_2 p)^2"
    ),
    source=(
        "Thakur, Rabenseifner and Gropp 2005, *Optimization of collective communication operations "
        "in MPICH*, International Journal of High Performance Computing Applications 19, 49-66: "
        "recursive doubling and trees; many libraries overlap their steps, so that the time grows "
        "between powers of two, too"
    ),
    limitations=(
        "Plain trees between powers of two, whose number of steps is rounded up: then `tree`."
    ),
    forms=(
        Form(("1", "log2(p)"), ("τ", "α")),
        Form(("1", "log2(p)", "log2(p)*b"), ("τ", "α", "β")),
        Form(("1", "log2(p)*log2(p)", "log2(p)*log2(p)*b"), ("τ", "α", "β")),
        Form(("1", "log2(p)", "b", "log2(p)*b"), ("τ_1", "α", "τ_2", "β")),
    ),
    splits=("b", "p", "p*b"),
)
