"""SIGTERM and SIGHUP end a command as Ctrl-C does: what has to be tidied up is."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType
from typing import Final

__all__ = ["signals_interrupt"]

NUMBERS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextlib.contextmanager
def signals_interrupt() -> Iterator[None]:
    """Raise ``KeyboardInterrupt(number)`` at the first of the signals; ignore those after it.

    What is ignored already stays so: ``nohup`` means that, and a shell that starts a job in the
    background.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    interrupted = False

    def interrupt(number: int, frame: FrameType | None) -> None:
        nonlocal interrupted
        if not interrupted:
            interrupted = True
            raise KeyboardInterrupt(number)

    before = {number: signal.getsignal(number) for number in NUMBERS}
    taken = {n: old for n, old in before.items() if old not in (signal.SIG_IGN, None)}
    for number in taken:
        signal.signal(number, interrupt)
    try:
        yield
    finally:
        for number, old in taken.items():
            signal.signal(number, old)
