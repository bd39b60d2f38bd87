"""Exchanges of a description worked out: their graph, sizes and times, then their flow."""

from __future__ import annotations

from typing import Final

from isochrone.applications.description import flows, topology
from isochrone.applications.description.description import ExchangeSpec
from isochrone.applications.description.flows import Exchange, Steps
from isochrone.applications.description.program import Recv, Send
from isochrone.applications.description.quantities import count, size
from isochrone.applications.description.topology import Edge, Graph, Options
from isochrone.applications.description.worked_out import Worked

__all__ = ["MAX_TASKS", "exchange"]

MAX_TASKS: Final = 2**20 - 1
"""Of a farm: draws number tasks up to this."""


def exchange(spec: ExchangeSpec, phase: int, app: Worked) -> Steps:
    """Return the steps of the ranks in an exchange; a starter is the rank after the others.

    Raises
    ------
    InputError
        With the path of what cannot be worked out.
    """
    kind = topology.load(spec.topology.name)
    name = spec.flow or kind.flow
    _check_keys(spec, name)
    graph = kind.make(_options(spec, app))
    app.check_steps(sum(edge.count for edge in graph.edges), spec.topology.at)
    asked = _exchange(spec, phase, app, graph)
    steps, begin = flows.flow(name, asked)
    if spec.outside:
        _start(spec, asked, app, steps, begin)
    return steps


def _check_keys(spec: ExchangeSpec, flow: str) -> None:
    """Refuse what this flow does not have, and ask for what it needs."""
    if spec.tasks is not None and flow != "farm":
        raise spec.at.key("tasks").error(f"the flow {flow} has no tasks", "only farm has")
    if spec.tasks is None and flow == "farm":
        raise spec.at.key("tasks").error("missing", "how many tasks are there in an iteration?")
    if spec.reply is not None and flow not in ("request", "farm"):
        raise spec.at.key("reply").error(f"the flow {flow} has no replies")


def _options(spec: ExchangeSpec, app: Worked) -> Options:
    return Options(
        ranks=app.p,
        written=spec.topology.options,
        scope=app.scope,
        seed=app.seed + app.index,
        at=spec.topology.at,
        folder=app.folder,
        short=spec.topology.short,
    )


def _exchange(spec: ExchangeSpec, phase: int, app: Worked, graph: Graph) -> Exchange:
    """Return an exchange with its lists of values."""
    common = None if spec.bytes is None else app.spread(spec.bytes, size)

    def sizes(edge: Edge) -> int:
        if edge.bytes is not None:
            return app.values([float(edge.bytes)])
        if common is None:
            raise spec.at.key("bytes").error("missing")
        return common

    def times(factor: float) -> int:
        return app.times(spec.compute, factor)

    if spec.reply is not None:
        reply = app.spread(spec.reply, size)
    else:
        reply = sizes(graph.edges[0]) if graph.edges else 0
    return Exchange(
        phase=phase,
        graph=graph,
        sizes=sizes,
        reply=reply,
        times=times,
        time=None if spec.compute is None else times(1.0),
        factors=app.factors(spec.compute, phase),
        mode=spec.compute.mode if spec.compute else "cpu",
        tasks=count(spec.tasks, app.scope, 1, MAX_TASKS) if spec.tasks else 0,
        at=spec.at,
    )


def _start(
    spec: ExchangeSpec, asked: Exchange, app: Worked, steps: Steps, begin: list[int]
) -> None:
    """Let a rank of its own send the first messages."""
    place = spec.at.key("starter").key("outside")
    targets = [app.rank(target) for target in spec.targets] or begin
    for k, target in enumerate(targets):
        if target in targets[:k]:
            raise place.item(k).error(f"rank {target} is there twice")

        length = asked.sizes(Edge(app.p, target))
        steps.setdefault(app.p, []).append(Send(asked.phase, target, length))
        steps.setdefault(target, []).insert(0, Recv(asked.phase, app.p, length))
