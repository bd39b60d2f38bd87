"""Exchanges of a description worked out: their graph, sizes and times, then their flow.

A flow says when the messages of an exchange are sent, as steps of ranks.

Each rank does its steps in order and waits where they say so; whatever else the phases of an
application are, a flow ends if all of its ranks begin it, even if no message is buffered:

request
    Each neighbour of the root sends to it, which computes and answers.
farm
    The root computes for each task and hands it out to a neighbour, which computes and returns a
    result.
token
    A message goes along a closed walk over all edges; who has it computes.
stream
    Each rank receives from all before it, computes, and sends to all after it.
exchange
    Everyone sends to its neighbours, and receives from them, at once; computes meanwhile.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from functools import cache, partial
from itertools import pairwise

import networkx as nx

from isochrone.applications.description import topology
from isochrone.applications.description.phases import ExchangeSpec
from isochrone.applications.description.program import (
    Compute,
    Farm,
    Irecv,
    Isend,
    Mode,
    Recv,
    Send,
    Serve,
    Step,
    Wait,
    Work,
)
from isochrone.applications.description.quantities import count, seconds, size
from isochrone.applications.description.resolved import Resolved
from isochrone.applications.description.topology import Edge, Graph
from isochrone.base.table import grouped

Steps = dict[int, list[Step]]
"""Steps of each rank that has any."""

_Kind = Callable[[int, int, int], Step]
"""Of a message: makes the step from its phase, the other rank, and its size."""

Flow = tuple[Steps, list[int]]
"""Steps, and the ranks at which they begin."""


class Exchange:
    """An exchange, worked out as far as no flow is concerned.

    Attributes
    ----------
    phase
        Its index.
    graph
        Who sends to whom.
    common, reply
        Indices of the lists of sizes: of messages (None: not given), and of replies and results.
    time, schedule
        Indices of the lists of times, and of factors that are used in turn; None: there are none.
    factors
        By rank.
    mode
        Of computation.
    """

    def __init__(self, spec: ExchangeSpec, phase: int, app: Resolved, graph: Graph) -> None:
        self.spec = spec
        self.phase = phase
        self.app = app
        self.graph = graph
        self.common = None if spec.bytes is None else app.spread(spec.bytes, size)
        if spec.reply is not None:
            self.reply = app.spread(spec.reply, size)
        else:
            self.reply = self.sizes(graph.edges[0]) if graph.edges else 0
        self.time = None if spec.compute is None else app.times(spec.compute)
        self.factors = app.factors(spec.compute, phase)
        self.mode: Mode = spec.compute.mode if spec.compute else "cpu"
        self.schedule = app.schedule(spec.compute)

    def sizes(self, edge: Edge) -> int:
        """Return the index of the list of sizes of messages along an edge."""
        if edge.bytes is not None:
            return self.app.values([float(edge.bytes)])
        if self.common is None:
            raise self.spec.at.key("bytes").error("the message size is missing")
        return self.common

    @property
    def messages(self) -> tuple[Edge, ...]:
        """The edges, each as often as a message goes along it."""
        return tuple(edge for edge in self.graph.edges for _ in range(edge.times))

    def compute(self, rank: int) -> list[Step]:
        """Return the computation of a rank."""
        if self.time is None:
            return []
        return [Compute(self.phase, self.time, self.factors[rank], self.mode, self.schedule)]


def _star(exchange: Exchange) -> Flow:
    """Return the steps of requests or of a farm: one rank is on all edges, which are alike."""
    graph, at = exchange.graph, exchange.spec.at.key("flow")
    first = graph.edges[0]
    common = set.intersection(*({edge.source, edge.target} for edge in graph.edges))
    if not common:
        raise at.error("the graph is not a star: no rank is on all edges", "try flow: exchange")
    if any((edge.bytes, edge.times) != (first.bytes, 1) for edge in graph.edges):
        raise at.error("this flow sends one message of each kind, of the same size, on each edge")
    root = graph.root if graph.root in common else min(common)
    others = tuple(sorted({edge.source + edge.target - root for edge in graph.edges}))
    phase, size, reply = exchange.phase, exchange.sizes(first), exchange.reply
    factors, mode, app = exchange.factors, exchange.mode, exchange.app
    if exchange.spec.tasks is None:
        time = app.times(exchange.spec.compute, factors[root])
        steps: Steps = {r: [Send(phase, root, size), Recv(phase, root, reply)] for r in others}
        steps[root] = [Serve(phase, others, size, reply, time, mode)]
    else:
        time = app.times(exchange.spec.compute)
        steps = {r: [Work(phase, root, size, reply, time, factors[r], mode)] for r in others}
        tasks = count(exchange.spec.tasks, app.scope, 1, MAX_TASKS)
        dispatch = exchange.spec.dispatch
        dispatch_time = app.values([0.0]) if dispatch is None else app.spread(dispatch, seconds)
        steps[root] = [Farm(phase, others, tasks, size, reply, dispatch_time, mode)]
    return steps, [root]


def _token(exchange: Exchange) -> Flow:
    phase, graph, edges = exchange.phase, exchange.graph, exchange.messages
    walk = [*edges]  # each begins where the one before ends
    if any(a.target != b.source for a, b in pairwise([*edges, edges[0]])):
        multi = nx.MultiDiGraph() if graph.directed else nx.MultiGraph()
        for edge in edges:
            multi.add_edge(edge.source, edge.target, bytes=edge.bytes)
        if not nx.is_eulerian(multi):
            raise exchange.spec.at.key("flow").error(
                "a token cannot use each edge once and return to its start", "try flow: exchange"
            )
        start = min(multi.nodes) if graph.root is None else graph.root
        circuit = nx.eulerian_circuit(multi, source=start, keys=True)
        walk = [Edge(a, b, multi.edges[a, b, key]["bytes"]) for a, b, key in circuit]
    steps: Steps = defaultdict(list)
    for edge in walk:
        steps[edge.source] += exchange.compute(edge.source)
        steps[edge.source].append(Send(phase, edge.target, exchange.sizes(edge)))
        steps[edge.target].append(Recv(phase, edge.source, exchange.sizes(edge)))
    return dict(steps), [walk[0].source]


def _stream(exchange: Exchange, *, one_by_one: bool) -> Flow:
    edges = exchange.messages
    if not exchange.graph.directed:  # from the lower to the higher rank: a wavefront
        edges = tuple(edge if edge.source < edge.target else _turned(edge) for edge in edges)
    graph = nx.DiGraph((edge.source, edge.target) for edge in edges)
    if not nx.is_directed_acyclic_graph(graph):
        cycle = [a for a, _ in nx.find_cycle(graph)]
        ranks = " → ".join(map(str, [*cycle[:6], *(["…"] if len(cycle) > 6 else []), cycle[0]]))
        raise exchange.spec.at.key("flow").error(
            f"a stream in a cycle waits for itself: ranks {ranks}", "try flow: token or exchange"
        )
    incoming, outgoing = _by(edges, "target"), _by(edges, "source")
    steps: Steps = defaultdict(list)
    for rank in sorted({*incoming, *outgoing}):
        first = incoming.get(rank, [])
        for together in [[edge] for edge in first] if one_by_one else [first]:
            steps[rank] += _all(exchange, together, Recv, Irecv, "source")
        steps[rank] += exchange.compute(rank)
        steps[rank] += _all(exchange, outgoing.get(rank, ()), Send, Isend, "target")
    return steps, [rank for rank in steps if rank not in incoming]


def _all(
    exchange: Exchange, edges: Iterable[Edge], blocking: _Kind, begun: _Kind, end: str
) -> list[Step]:
    """Return how a rank sends or receives all messages of some edges, whose other end is named."""
    steps = [(getattr(edge, end), exchange.sizes(edge)) for edge in edges]
    if len(steps) == 1:
        return [blocking(exchange.phase, *steps[0])]
    if not steps:
        return []
    return [*(begun(exchange.phase, *step) for step in steps), Wait(exchange.phase)]


def _exchange(exchange: Exchange) -> Flow:
    phase = exchange.phase
    edges = exchange.messages
    if not exchange.graph.directed:
        edges += tuple(_turned(edge) for edge in edges)
    ranks = sorted({rank for edge in edges for rank in (edge.source, edge.target)})
    steps: Steps = {rank: [] for rank in ranks}
    make = cache(lambda kind, *values: kind(*values))  # what several ranks do is one object
    for round_number, of_round in sorted(_by(edges, "round").items()):
        incoming, outgoing = _by(of_round, "target"), _by(of_round, "source")
        for rank in sorted({*incoming, *outgoing}):
            first, last = incoming.get(rank, ()), outgoing.get(rank, ())
            steps[rank] += [make(Irecv, phase, e.source, exchange.sizes(e)) for e in first]
            steps[rank] += [make(Isend, phase, e.target, exchange.sizes(e)) for e in last]
            if round_number == edges[0].round:
                steps[rank] += exchange.compute(rank)
            steps[rank].append(make(Wait, phase))
    targets = {edge.target for edge in edges}
    return steps, [rank for rank in ranks if rank not in targets] or ranks[:1]


def _turned(edge: Edge) -> Edge:
    return Edge(edge.target, edge.source, *edge[2:])


def _by(edges: Iterable[Edge], end: str) -> dict[int, list[Edge]]:
    """Return edges by their source, target or round."""
    return grouped((getattr(edge, end), edge) for edge in edges)


_FLOWS: Mapping[str, Callable[[Exchange], Flow]] = {
    "request": _star,
    "farm": _star,
    "token": _token,
    "stream": partial(_stream, one_by_one=False),
    "sweep": partial(_stream, one_by_one=True),
    "exchange": _exchange,
}


_ONLY_OF = {
    "tasks": ("tasks", ("farm",)),
    "dispatch": ("master", ("farm",)),
    "reply": ("replies", ("request", "farm")),
}
"""Options of some flows only: what the other flows lack."""

MAX_TASKS = 2**20 - 1
"""Of a farm: draws number tasks up to this."""


def exchange(spec: ExchangeSpec, phase: int, app: Resolved) -> Steps:
    """Return the steps of the ranks in an exchange; a starter is the rank after the others.

    Raises
    ------
    InputError
        With the path of what cannot be worked out.
    """
    name = spec.flow or topology.load(spec.topology.name).flow
    for option, (word, flows) in _ONLY_OF.items():
        if getattr(spec, option) is not None and name not in flows:
            raise spec.at.key(option).error(
                f"the flow {name} has no {word}", f"a flow that has: {' or '.join(flows)}"
            )
    if spec.tasks is None and name == "farm":
        raise spec.at.key("tasks").error(
            "the number of tasks is missing", "give the tasks of an iteration"
        )
    if spec.compute is not None and spec.compute.schedule and name in ("request", "farm"):
        raise spec.compute.at.key("schedule").error(f"the flow {name} has no schedule")
    written = spec.topology
    graph = written.graph(app.p, app.scope, app.seed + app.index, app.folder)
    app.check_steps(sum(edge.times for edge in graph.edges), written.at)
    context = Exchange(spec, phase, app, graph)
    if graph.edges:
        steps, begin = _FLOWS[name](context)
    elif name in ("request", "farm"):
        raise spec.at.key("topology").error("the exchange has only one rank")
    else:
        steps, begin = {rank: context.compute(rank) for rank in range(app.p)}, [0]
    if spec.outside:
        starter_at = spec.at.key("starter").key("outside")
        targets = [app.rank(target) for target in spec.targets] or begin
        for k, target in enumerate(targets):
            if target in targets[:k]:
                raise starter_at.item(k).error(f"rank {target} is listed twice")
            length = context.sizes(Edge(app.p, target))
            steps.setdefault(app.p, []).append(Send(phase, target, length))
            steps.setdefault(target, []).insert(0, Recv(phase, app.p, length))
    return steps
