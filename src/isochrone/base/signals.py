"""Signals that ask this process to end, taken by somebody for a while."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Final

ENDING: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextlib.contextmanager
def taken_by(handler: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    """Let a handler take the signals that end this process, if this is the main thread.

    What is ignored already stays so: ``nohup`` means that, and a shell that starts a job in the
    background.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in ENDING}
    taken = {n: old for n, old in before.items() if old not in (signal.SIG_IGN, None)}
    for number in taken:
        signal.signal(number, handler)
    try:
        yield
    finally:
        for number, old in taken.items():
            signal.signal(number, old)
