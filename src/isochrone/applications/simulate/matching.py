"""Who sends to whom: sends find their receives, in the order in which they were posted.

Messages are on their way: a latency, then a share of the ports that they need.

A port (of a rank, or of the node it is on) is shared evenly by the messages that are in it, as
packets of several messages take turns; a message moves on as fast as its most crowded port lets
it. One message alone takes exactly what was measured of one, and several in a row follow each
other by the measured gap.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Container
from dataclasses import dataclass, field
from math import inf

from isochrone.applications.predict.message_times import Cost
from isochrone.applications.simulate.events import EQUAL_MOMENTS, Clock, Request


@dataclass(eq=False, slots=True)
class _Flow:
    """A message in its ports: the part that is left, and how fast that becomes less."""

    needs: list[tuple[_Port, float]]
    end: Callable[[], None]
    left: float = 1.0
    rate: float = 0.0
    at: float = 0.0
    looked_at: float = inf


_Port = dict[_Flow, None]


class Network:
    """Ports of ranks and of nodes.

    Parameters
    ----------
    clock
        Virtual time.
    node_of
        Node of each rank.
    """

    def __init__(self, clock: Clock, node_of: list[int]) -> None:
        self._clock = clock
        self._node_of = node_of
        self._ranks_on = Counter(node_of)
        self._ports: dict[tuple[str, int], _Port] = defaultdict(dict)
        self._dirty: dict[int, _Port] = {}
        clock.settle = self._settle

    def send(self, source: int, target: int, cost: Cost, end: Callable[[], None]) -> None:
        """Let a message begin now, and call ``end`` when it is there."""
        needs = self._needs(source, target, cost)
        arrived = (lambda: self._enter(_Flow(needs, end))) if needs else end
        self._clock.at(self._clock.now + max(cost.alone - cost.gap, 0.0), arrived)

    def _needs(self, source: int, target: int, cost: Cost) -> list[tuple[_Port, float]]:
        """Return the ports of a message, and how long it would be in each alone."""
        ports = [
            (self._ports["rank out", source], cost.gap),
            (self._ports["rank in", target], cost.gap),
        ]
        source_node, target_node = self._node_of[source], self._node_of[target]
        if source_node != target_node:
            for way, node in ("out", source_node), ("in", target_node):
                if self._ranks_on[node] > 1:  # else the port of its rank is the same
                    ports.append((self._ports[way, node], cost.wire))
            if cost.both > 1:
                half = cost.wire * cost.both / 2
                ports += [
                    (self._ports["both", source_node], half),
                    (self._ports["both", target_node], half),
                ]
        return [(port, seconds) for port, seconds in ports if seconds > 0]

    def _enter(self, flow: _Flow) -> None:
        flow.at = self._clock.now
        for port, _ in flow.needs:
            port[flow] = None
            self._dirty[id(port)] = port

    def _settle(self) -> None:
        """Share all ports anew in which something changed."""
        if not self._dirty:
            return
        changed = {flow: None for port in self._dirty.values() for flow in port}
        self._dirty = {}
        now = self._clock.now
        for flow in changed:
            rate = 1.0 / max([len(port) * seconds for port, seconds in flow.needs])
            if rate == flow.rate:
                continue
            flow.left = max(flow.left - flow.rate * (now - flow.at), 0.0)
            flow.at, flow.rate = now, rate
            self._look_at(flow, now + flow.left / rate)

    def _look_at(self, flow: _Flow, moment: float) -> None:
        """See at a moment whether a message is there, unless it is looked at before anyway.

        A message that became slower is looked at too early, and then once more; that happens less
        often than messages get slower.
        """
        if moment >= flow.looked_at:
            return
        flow.looked_at = moment

        def look() -> None:
            if flow.looked_at != moment:
                return  # it became faster, and was looked at before
            flow.looked_at = inf
            left = flow.left / flow.rate - (moment - flow.at)
            if left > EQUAL_MOMENTS * moment:
                self._look_at(flow, moment + left)
            else:
                for port, _ in flow.needs:
                    del port[flow]
                    self._dirty[id(port)] = port
                flow.end()

        self._clock.at(moment, look)


@dataclass(eq=False, slots=True)
class _Message:
    """A message that was sent; ``request`` is of its sender."""

    source: int
    target: int
    tag: int
    cost: Cost
    load: float | None
    request: Request = field(default_factory=Request)
    receive: Request | None = None
    arrived: bool = False


class Matching:
    """Messages between ranks; only sends and receives of the same tag meet.

    Parameters
    ----------
    at_once
        Whether data of a send that does not wait move before their receive is posted. They do in
        MPI libraries; in SimGrid's simulation of one, a message begins when both are there.
    """

    def __init__(self, clock: Clock, network: Network, *, at_once: bool) -> None:
        self._clock = clock
        self._network = network
        self._at_once = at_once
        self._sent: dict[tuple[int, int, int], deque[_Message]] = defaultdict(deque)
        self._wanted: dict[tuple[int, int, int], deque[Request]] = defaultdict(deque)
        # in the order of sends
        self._unasked: dict[tuple[int, int], dict[_Message, None]] = defaultdict(dict)
        self._any: dict[tuple[int, int], tuple[Container[int], Request]] = {}

    def send(
        self, source: int, target: int, tag: int, cost: Cost, load: float | None = None
    ) -> tuple[Request, float]:
        """Begin to send.

        Returns
        -------
        tuple
            What is done when the sender may go on, and the seconds for which it is busy first.
        """
        message = _Message(source, target, tag, cost, load)
        queue = self._wanted[source, target, tag]
        sources, receive = self._any.get((target, tag), ((), None))
        if queue:
            receive = queue.popleft()
        elif source in sources:
            del self._any[target, tag]
        else:
            receive = None
        if receive is not None:
            self._match(message, receive)
        else:
            self._sent[source, target, tag].append(message)
            self._unasked[target, tag][message] = None
        if receive is not None or (self._at_once and not cost.waits):
            self._begin(message)
        if not cost.waits:
            message.request.done = True
        return message.request, max(cost.gap - cost.wire, 0.0)

    def receive(self, target: int, source: int, tag: int) -> Request:
        """Post a receive of one rank."""
        request = Request()
        queue = self._sent[source, target, tag]
        if queue:
            self._take(queue.popleft(), request)
        else:
            self._wanted[source, target, tag].append(request)
        return request

    def receive_any(self, target: int, sources: Container[int], tag: int) -> Request:
        """Post a receive of whichever of several ranks sent first."""
        request = Request()
        waiting = self._unasked[target, tag]
        first = next((message for message in waiting if message.source in sources), None)
        if first is not None:
            self._sent[first.source, target, tag].popleft()
            self._take(first, request)
        else:
            self._any[target, tag] = (sources, request)
        return request

    def _take(self, message: _Message, receive: Request) -> None:
        """Give a message that was sent before to a receive that is posted now."""
        del self._unasked[message.target, message.tag][message]
        self._match(message, receive)
        if message.arrived:
            self._clock.finish(receive)
        elif not self._at_once or message.cost.waits:
            self._begin(message)

    def _match(self, message: _Message, receive: Request) -> None:
        message.receive = receive
        receive.source, receive.load = message.source, message.load

    def _begin(self, message: _Message) -> None:
        def arrive() -> None:
            message.arrived = True
            if not message.request.done:
                self._clock.finish(message.request)
            if message.receive is not None:
                self._clock.finish(message.receive)

        self._network.send(message.source, message.target, message.cost, arrive)
