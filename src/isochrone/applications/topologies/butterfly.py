"""Rounds of exchanges between ranks that differ in one bit, lowest bit first."""

from isochrone.applications.description.topology import Edge, Graph, Options, Topology


def _make(options: Options) -> Graph:
    p = options.ranks
    if p & (p - 1):
        raise options.at.error(f"a butterfly cannot have {p} ranks", "use 2, 4, 8, 16 … ranks")
    rounds = p.bit_length() - 1
    return Graph(
        tuple(
            Edge(r, r ^ (1 << k), round=k)
            for k in range(rounds)
            for r in range(p)
            if not r & (1 << k)
        )
    )


TOPOLOGY = Topology(make=_make)
