"""Waiting, never without an end."""

from __future__ import annotations

import time
from collections.abc import Callable

PATIENCE = 240.0
"""Seconds after which something hangs, however busy the machine is."""


def wait_for(happened: Callable[[], bool], what: str, *, seconds: float = PATIENCE) -> None:
    """Wait until something has happened.

    Raises
    ------
    TimeoutError
        If it has not happened in time.
    """
    deadline = time.monotonic() + seconds
    while not happened():
        if time.monotonic() > deadline:
            raise TimeoutError(f"{what}: not within {seconds:g} s")
        time.sleep(0.02)
