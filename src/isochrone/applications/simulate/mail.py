"""Who sends to whom: sends find their receives, in the order in which they were posted."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Container

from isochrone.applications.predict.message_times import Cost
from isochrone.applications.simulate.events import Clock, Request
from isochrone.applications.simulate.network import Network

__all__ = ["Mail"]


class _Message:
    """A message that was sent; ``request`` is of its sender."""

    __slots__ = ("arrived", "cost", "load", "receive", "request", "source", "tag", "target")

    def __init__(self, source: int, target: int, tag: int, cost: Cost, load: float | None):
        self.source = source
        self.target = target
        self.tag = tag
        self.cost = cost
        self.load = load
        self.request = Request()
        self.receive: Request | None = None
        self.arrived = False


class Mail:
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
        self._sent: dict[tuple[int, int, int], deque[_Message]] = {}
        self._wanted: dict[tuple[int, int, int], deque[Request]] = {}
        self._unasked: dict[tuple[int, int], dict[_Message, None]] = {}  # in the order of sends
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
        receive = self._receive_for(source, target, tag)
        if receive is not None:
            self._match(message, receive)
        else:
            self._sent.setdefault((source, target, tag), deque()).append(message)
            self._unasked.setdefault((target, tag), {})[message] = None
        if receive is not None or (self._at_once and not cost.waits):
            self._begin(message)
        if not cost.waits:
            message.request.done = True
        return message.request, max(cost.gap - cost.wire, 0.0)

    def receive(self, target: int, source: int, tag: int) -> Request:
        """Post a receive of one rank."""
        request = Request()
        queue = self._sent.get((source, target, tag))
        if queue:
            self._take(queue.popleft(), request)
        else:
            self._wanted.setdefault((source, target, tag), deque()).append(request)
        return request

    def receive_any(self, target: int, sources: Container[int], tag: int) -> Request:
        """Post a receive of whichever of several ranks sent first."""
        request = Request()
        waiting = self._unasked.get((target, tag), {})
        first = next((message for message in waiting if message.source in sources), None)
        if first is not None:
            self._sent[first.source, target, tag].popleft()
            self._take(first, request)
        else:
            self._any[target, tag] = (sources, request)
        return request

    def _receive_for(self, source: int, target: int, tag: int) -> Request | None:
        queue = self._wanted.get((source, target, tag))
        if queue:
            return queue.popleft()
        sources, request = self._any.get((target, tag), ((), None))
        if source in sources:
            del self._any[target, tag]
            return request
        return None

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
        self._network.send(message.source, message.target, message.cost, self._arrival(message))

    def _arrival(self, message: _Message) -> Callable[[], None]:
        def arrive() -> None:
            message.arrived = True
            if not message.request.done:
                self._clock.finish(message.request)
            if message.receive is not None:
                self._clock.finish(message.receive)

        return arrive
