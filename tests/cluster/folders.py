"""The folders of clusters: who has one, and whether it is still in use.

Each has a lock that its cluster holds while it lives, so that nobody has to guess from process
numbers, which are used again, whether it is alive.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import IO

# A folder that only root can write: from it, root learns which process to end.
CLUSTERS = Path("/run/isochrone-clusters")


class ClusterError(Exception):
    """A cluster could not be made, found or ended."""


@contextlib.contextmanager
def alone() -> Iterator[None]:
    """Keep other processes from making folders of clusters, and from removing them, meanwhile."""
    descriptor = os.open(CLUSTERS, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def claimed(folder: Path) -> Iterator[IO[str]]:
    """Make the folder of a cluster and hold its lock; whoever inherits the file holds it on."""
    with contextlib.ExitStack() as stack:
        with alone():
            try:
                folder.mkdir()
            except FileExistsError:
                raise ClusterError(f"there is a cluster '{folder.name}' already") from None
            lock = stack.enter_context((folder / "lock").open("w"))
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield lock


def is_alive(folder: Path) -> bool:
    """Tell whether a process holds the lock of a cluster."""
    try:
        with (folder / "lock").open() as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except FileNotFoundError:
        return False
    return False


def folders() -> list[Path]:
    """All folders of clusters, alive or dead."""
    return sorted(CLUSTERS.iterdir()) if CLUSTERS.is_dir() else []


def remove_dead() -> None:
    """Remove what clusters left whose process is dead."""
    if CLUSTERS.is_dir():
        with alone():
            for folder in folders():
                if not is_alive(folder):
                    shutil.rmtree(folder)
