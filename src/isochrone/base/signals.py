"""Temporary handlers of the signals that end this process."""

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextlib.contextmanager
def taken_by(handler: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    """Install a handler of the signals that end this process, if this is the main thread.

    Ignored signals stay ignored, as under ``nohup`` and in background jobs of a shell.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handlers = {signum: signal.getsignal(signum) for signum in ENDING}
    replaced = {n: old for n, old in handlers.items() if old not in (signal.SIG_IGN, None)}
    for signum in replaced:
        signal.signal(signum, handler)
    try:
        yield
    finally:
        for signum, old in replaced.items():
            signal.signal(signum, old)
