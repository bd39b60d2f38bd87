"""Descriptions of victims and congestors on interleaved nodes, as GPCNet has them.

S. Chunduri, T. Groves, P. Mendygral et al., *GPCNeT: Designing a benchmark suite for inducing and
measuring contention in HPC networks*, SC 2019; numbers are those of `network_load_test.c`, version
1.2. Most nodes have a congestor, which repeats until the victim is done. Names are those of
GPCNet's tests, as `isochrone import` writes them.
"""

import random
from collections.abc import Sequence

from isochrone.base.record import Members
from isochrone.base.table import grouped

CONGESTOR_SHARE = 0.8
"""Fraction of the nodes that have a congestor (``CONGESTOR_NODE_FRAC``)."""

VICTIM_REPEATS = 5
CONGESTOR_ITERATIONS = 10
"""Of a congestor alone, which is never launched so; beside a victim it repeats."""

SHORT, LONG, WINDOW, CONGESTING = 8, 131072, 8, 4096
"""Bytes of a message of latency and allreduce, and of bandwidth; messages of bandwidth at a time
(``BW_OUTSTANDING``); bytes of a message of a congestor."""

VICTIMS = {"rr_two_sided_lat": 4000, "rr_two_sided_bw_sync": 400, "multiple_allreduce": 4000}
"""Iterations: enough for percentiles of 99.9 and, of bandwidth, of 99 of each rank."""

_EXCHANGES = {"two_sided_incast": "message", "put_incast": "put", "get_bcast": "get"}
"""Congestors with one rank at one end of all messages: how data move."""

CONGESTORS = ("alltoall", "bcast", *_EXCHANGES)


def victim_ranks(hosts: Sequence[str]) -> list[int]:
    """Return the ranks of the victim: all of every fifth node, of two at least.

    On fewer than four nodes it is every fifth rank, so that nodes have ranks of both.
    """
    nodes = list(grouped((host, rank) for rank, host in enumerate(hosts)).values())
    units = nodes if len(nodes) >= 4 else [[rank] for rank in range(len(hosts))]
    count = max(2, round(len(units) * (1 - CONGESTOR_SHARE)))
    chosen = [(2 * k + 1) * len(units) // (2 * count) for k in range(count)]
    return sorted(rank for k in chosen for rank in units[k])


def description(hosts: Sequence[str], victim: str, congestor: str) -> Members:
    """Describe a victim alone, and beside a congestor.

    Parameters
    ----------
    hosts
        Of each rank; at least four ranks.
    victim, congestor
        Names of `VICTIMS` and `CONGESTORS`.
    """
    on = victim_ranks(hosts)
    others = sorted({*range(len(hosts))} - {*on})
    return {
        "isochrone": "app/1",
        "repeats": VICTIM_REPEATS,
        "runs": [[victim], [victim, congestor]],
        "parameters": {
            "victim_bytes": SHORT if victim != "rr_two_sided_bw_sync" else LONG,
            "congestor_bytes": CONGESTING,
        },
        "apps": [
            {
                "name": victim,
                "ranks": len(on),
                "place": {"ranks": on},
                "iterations": VICTIMS[victim],
                "phases": _victim_phases(victim, [hosts[rank] for rank in on]),
            },
            {
                "name": congestor,
                "ranks": len(others),
                "place": {"ranks": others},
                "iterations": CONGESTOR_ITERATIONS,
                "background": True,
                "phases": [_congestor_phase(congestor, len(others))],
            },
        ],
    }


def _victim_phases(victim: str, hosts: Sequence[str]) -> list[Members]:
    """Return what the victim does in an iteration."""
    if victim == "multiple_allreduce":  # the first ranks of all nodes, the second ones …
        nodes = grouped((host, rank) for rank, host in enumerate(hosts)).values()
        longest = max(map(len, nodes)) if len(nodes) > 1 else 1
        groups = [[node[k] for node in nodes if k < len(node)] for k in range(longest)]
        groups = [group for group in groups if len(group) > 1] or [[*range(len(hosts))]]
        return [{"allreduce": {"bytes": "victim_bytes", "among": groups}}]
    ring = random.Random(1).sample(range(len(hosts)), len(hosts))
    edges = [[ring[k - 1], ring[k]] for k in range(len(ring) if len(ring) > 2 else 1)]
    window = WINDOW if victim == "rr_two_sided_bw_sync" else 1
    listed = [{"from": a, "to": b, "count": window} for a, b in edges]
    topology = {"edges": {"list": listed, "directed": False}}
    exchange = {"exchange": {"topology": topology, "bytes": "victim_bytes"}}
    return [exchange, {"barrier": None}] if window > 1 else [exchange]


def _congestor_phase(congestor: str, ranks: int) -> Members:
    """Return what the congestor does all the time."""
    if method := _EXCHANGES.get(congestor):
        ends = [[rank, 0] for rank in range(1, ranks)]
        edges = [pair[::-1] for pair in ends] if congestor == "get_bcast" else ends
        return {
            "exchange": {
                "topology": {"edges": edges},
                "flow": "stream",
                "method": method,
                "bytes": "congestor_bytes",
            }
        }
    return {congestor: {"bytes": "congestor_bytes"}}
