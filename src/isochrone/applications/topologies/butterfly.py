"""Rounds of exchanges between ranks that differ in one bit, lowest bit first.

All ranks, or groups of `size` ranks that are `stride` apart.
"""

from isochrone.applications.description.shapes import Given
from isochrone.applications.description.topology import Edge, Graph, Options, Topology


def _make(options: Options) -> Graph:
    p = options.ranks
    size = options.count("size", 1, p, p)
    stride = options.count("stride", 1, p, 1)
    for name, of in (("ranks", size), ("ranks from one to the next", stride)):
        if of & (of - 1):
            raise options.at.error(f"a butterfly cannot have {of} {name}", "use 2, 4, 8, 16 …")
    if p % (size * stride):
        raise options.at.error(f"{p} ranks are no groups of {size} that are {stride} apart")
    first, rounds = stride.bit_length() - 1, size.bit_length() - 1
    return Graph(
        tuple(
            Edge(r, r ^ (1 << bit), round=k)
            for k, bit in enumerate(range(first, first + rounds))
            for r in range(p)
            if not r & (1 << bit)
        )
    )


TOPOLOGY = Topology(make=_make, options={"size": Given, "stride": Given})
