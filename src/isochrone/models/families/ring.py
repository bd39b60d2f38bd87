"""A ring, or one rank after the other, with a latency for each: linear in the number of ranks."""

from isochrone.models.family import Family, Form

FAMILY = Family(
    formula=r"t(p,b) = \tau_1 + \tau_2\,b + (\alpha + \beta\,b)\,p",
    source=(
        "Thakur, Rabenseifner and Gropp 2005, *Optimization of collective communication "
        "operations in MPICH*, International Journal of High Performance Computing Applications "
        "19, 49-66: allgather as a ring, alltoall in pairs; (p - 1) steps, multiplied out. Chen, "
        "Zhang, Zhang and Yuan 2005, *Performance evaluation of allgather algorithms on terascale "
        "Linux cluster with fast Ethernet*, HPC Asia: neighbour exchange, p/2 steps of even ranks"
    ),
    limitations=("Trees, whose time grows with the logarithm of the ranks."),
    forms=(
        Form(("1", "p"), ("τ_1", "α")),
        Form(("1", "p", "b", "p*b"), ("τ_1", "α", "τ_2", "β")),
    ),
    splits=("b", "p", "p*b"),
    operations=("gather", "scatter", "allgather", "alltoall"),
)
