"""Making, finding and ending clusters of Linux namespaces on one machine."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from cluster import remote_shell
from cluster.folders import CLUSTERS, ClusterError, claimed, folders, is_alive, remove_dead
from cluster.head import KEEP
from cluster.node import NAMESPACES
from cluster.plan import Plan
from cluster.running import Cluster
from cluster.waiting import PATIENCE, wait_for

TOOLS = ("ip", "tc", "mount", "nsenter", "unshare")
CAPABILITIES = {"CAP_NET_ADMIN": 12, "CAP_SYS_ADMIN": 21}


def obstacle() -> str:
    """Say why there can be no cluster on this machine; empty if there can."""
    absent = [tool for tool in TOOLS if shutil.which(tool) is None]
    if absent:
        return f"there is no {', '.join(absent)} (Debian: iproute2, util-linux)"
    status = Path("/proc/self/status").read_text()
    effective = int(status.partition("CapEff:")[2].split()[0], 16)
    lacking = [name for name, bit in CAPABILITIES.items() if not effective >> bit & 1]
    if os.geteuid() != 0 or lacking:
        return f"a cluster of namespaces needs root{' and '.join(['', *lacking])}"
    return ""


def make(plan: Plan, *, keep: bool = False) -> Cluster:
    """Make a cluster; it ends when this process does, unless it is to be kept.

    Raises
    ------
    ClusterError
        If that fails, or there is one of this name.
    """
    CLUSTERS.mkdir(mode=0o700, exist_ok=True)
    remove_dead()
    folder = CLUSTERS / plan.name
    with claimed(folder) as lock:
        plan.write(folder)
        remote_shell.install(folder)
        process = start_head(folder, lock)
        (folder / "process").write_text(str(process.pid))
        # Opened now: should the head fail, others may tidy its folder up at once.
        log = (folder / "head.log").open()
    made = Cluster(folder, plan, process.pid, process)
    try:
        with log:
            wait_until_ready(folder, process, log)
        if keep:
            assert process.stdin is not None
            process.stdin.write(KEEP)
            process.stdin.flush()
    except BaseException:
        end(made)
        raise
    return made


def start_head(folder: Path, lock: IO[str]) -> subprocess.Popen[bytes]:
    """Start the head in namespaces of its own; the lock is from now on its."""
    fresh = [*NAMESPACES, "--pid", "--fork", "--kill-child", "--mount-proc"]
    itself = [sys.executable, "-m", "cluster.head", str(folder)]
    with (folder / "head.log").open("wb") as log:
        return subprocess.Popen(
            ["unshare", *fresh, "--", *itself],
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])},
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=subprocess.STDOUT,
            pass_fds=[lock.fileno()],
            start_new_session=True,
        )


def wait_until_ready(folder: Path, process: subprocess.Popen[bytes], log: IO[str]) -> None:
    """Wait until the head has set everything up, or has failed."""

    def decided() -> bool:
        return (folder / "ready").exists() or process.poll() is not None

    wait_for(decided, f"cluster {folder.name}")
    if process.poll() is not None:
        raise ClusterError(log.read().strip() or "its head ended at once")


@contextlib.contextmanager
def cluster(plan: Plan) -> Iterator[Cluster]:
    """Have a cluster for a while."""
    made = make(plan)
    try:
        yield made
    finally:
        end(made)


def end(made: Cluster) -> None:
    """End everything in the cluster, wait until it is gone, and remove its folder."""
    children = Path(f"/proc/{made.process}/task/{made.process}/children")
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        # Its only child is the head. Killing that and not its parent lets the parent, which holds
        # the lock, wait until the kernel has ended the last process of the cluster.
        for child in children.read_text().split():
            os.kill(int(child), signal.SIGKILL)
    if made.owned is not None:
        made.owned.communicate(timeout=PATIENCE)
    wait_for(lambda: not is_alive(made.folder), f"the end of {made.plan.name}")
    remove_dead()


def find(name: str | None = None) -> Cluster:
    """Find a cluster by its name, or the only one there is."""
    alive = [folder for folder in folders() if is_alive(folder) and (folder / "process").exists()]
    wanted = [folder for folder in alive if name in (None, folder.name)]
    if len(wanted) != 1:
        names = ", ".join(folder.name for folder in alive) or "none"
        raise ClusterError(f"which cluster? there is {names}; give --name")
    folder = wanted[0]
    return Cluster(folder, Plan.read(folder), int((folder / "process").read_text()))
