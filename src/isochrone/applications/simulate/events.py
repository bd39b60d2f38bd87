"""Virtual time: what happens when, and who waits for what."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Generator
from dataclasses import dataclass, field

EQUAL_MOMENTS = 1e-12
"""Moments this close to each other, as a part of the time so far, are one."""


@dataclass(eq=False, slots=True)
class Request:
    """Something that a rank may wait for; ``load`` is what a message carries."""

    done: bool = False
    load: float | None = None
    source: int = -1
    waiters: list[Run] = field(default_factory=list)


Run = Generator[float | Request, None, None]
"""A rank: it yields seconds to pass, or a request to wait for."""


class Clock:
    """Virtual time, in seconds from the start of the application.

    Attributes
    ----------
    now
        The moment.
    settle
        Is called before the time moves on; what happens at one moment is seen by it at once.
    """

    def __init__(self) -> None:
        self.now = 0.0
        self.settle: Callable[[], None] = lambda: None
        self._events: list[tuple[float, int, Callable[[], None]]] = []
        self._ready: deque[Run] = deque()
        self._count = 0

    def at(self, moment: float, call: Callable[[], None]) -> None:
        """Call something at a moment that is not over."""
        self._count += 1
        heapq.heappush(self._events, (moment, self._count, call))

    def start(self, run: Run) -> None:
        """Let a rank go on, at this moment."""
        self._ready.append(run)

    def finish(self, request: Request) -> None:
        """Say that a request is done, to all who wait for it."""
        request.done = True
        self._ready.extend(request.waiters)
        request.waiters = []

    def run(self, stop: Callable[[], bool]) -> bool:
        """Go on until ``stop`` says so, asked after each moment, or nothing is left to happen.

        Returns
        -------
        bool
            Whether it was stopped.
        """
        while True:
            while self._ready:
                self._advance(self._ready.popleft())
            later = not self._events or self._events[0][0] > self.now * (1 + EQUAL_MOMENTS)
            if later:
                self.settle()  # may add events
                if stop():
                    return True
                if not self._events:
                    return False
            moment, _, call = heapq.heappop(self._events)
            self.now = max(moment, self.now)
            call()

    def _advance(self, run: Run) -> None:
        """Let a rank run until it has to wait."""
        for wanted in run:
            if isinstance(wanted, Request):
                if not wanted.done:
                    wanted.waiters.append(run)
                    return
            elif wanted > 0:
                self.at(self.now + wanted, lambda: self._ready.append(run))
                return
