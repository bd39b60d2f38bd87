"""Messages on their way: a latency, then a share of the ports that they need.

A port (of a rank, or of the node it is on) is shared evenly by the messages that are in it, as
packets of several messages take turns; a message moves on as fast as its most crowded port lets
it. One message alone takes exactly what was measured of one, and several in a row follow each
other by the measured gap.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable

from isochrone.applications.predict.message_times import Cost
from isochrone.applications.simulate.events import SAME, Clock

__all__ = ["Network"]


class _Flow:
    """A message in its ports: the part that is left, and how fast that becomes less."""

    __slots__ = ("at", "end", "left", "looked_at", "needs", "rate")

    def __init__(self, needs: list[tuple[dict[_Flow, None], float]], end: Callable[[], None]):
        self.needs = needs
        self.end = end
        self.left = 1.0
        self.rate = 0.0
        self.at = 0.0
        self.looked_at = math.inf


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
        ranks = Counter(node_of)
        self._shared = {node: ranks[node] > 1 for node in ranks}  # else its rank's port says it
        self._ports: dict[tuple[str, int], _Port] = {}
        self._dirty: dict[int, _Port] = {}
        clock.settle = self._settle

    def send(self, source: int, target: int, cost: Cost, end: Callable[[], None]) -> None:
        """Let a message begin now, and call ``end`` when it is there."""
        needs = self._needs(source, target, cost)
        arrived = (lambda: self._enter(_Flow(needs, end))) if needs else end
        self._clock.at(self._clock.now + max(cost.alone - cost.gap, 0.0), arrived)

    def _needs(self, source: int, target: int, cost: Cost) -> list[tuple[_Port, float]]:
        """Return the ports of a message, and how long it would be in each alone."""
        found = [
            (self._port("rank out", source), cost.gap),
            (self._port("rank in", target), cost.gap),
        ]
        here, there = self._node_of[source], self._node_of[target]
        if here != there:
            if self._shared[here]:
                found.append((self._port("out", here), cost.wire))
            if self._shared[there]:
                found.append((self._port("in", there), cost.wire))
            if cost.both > 1:
                half = cost.wire * cost.both / 2
                found += [(self._port("both", here), half), (self._port("both", there), half)]
        return [(port, seconds) for port, seconds in found if seconds > 0]

    def _port(self, kind: str, number: int) -> _Port:
        return self._ports.setdefault((kind, number), {})

    def _enter(self, flow: _Flow) -> None:
        flow.at = self._clock.now
        for port, _ in flow.needs:
            port[flow] = None
            self._dirty[id(port)] = port

    def _leave(self, flow: _Flow) -> None:
        for port, _ in flow.needs:
            del port[flow]
            self._dirty[id(port)] = port
        flow.end()

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
            flow.looked_at = math.inf
            left = flow.left / flow.rate - (moment - flow.at)
            if left > SAME * moment:
                self._look_at(flow, moment + left)
            else:
                self._leave(flow)

        self._clock.at(moment, look)
