"""A node: the process that owns its namespaces. Started by the head through ``unshare``."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

from cluster.waiting import PATIENCE

NAMESPACES = ("--net", "--uts", "--ipc", "--mount")


def mount(*arguments: str | Path) -> None:
    """Mount something in the namespace of this process, where nobody else sees it."""
    subprocess.run(["mount", *map(str, arguments)], check=True, timeout=PATIENCE)


def own_shared_memory() -> None:
    """Get a /dev/shm of one's own: ranks of different nodes must not meet there."""
    mount("-t", "tmpfs", "-o", "size=2g", "shm", "/dev/shm")


def own_devices(folder: Path) -> None:
    """Show this node's network interfaces in /sys, and keep the control groups Slurm looks for."""
    folder.mkdir(parents=True)
    mount("--rbind", "/sys/fs/cgroup", folder)
    mount("-t", "sysfs", "sysfs", "/sys")
    mount("--move", folder, "/sys/fs/cgroup")


def main(folder: Path, name: str) -> None:
    """Become the node, say so, and stay until the cluster is ended."""
    socket.sethostname(name)
    own_shared_memory()
    own_devices(folder / "sys" / name)
    # Reno, because it is the one every kernel allows in a namespace without changing the machine's
    # settings. BBR, the default of some, takes three times as long for a megabyte on such links.
    Path("/proc/sys/net/ipv4/tcp_congestion_control").write_text("reno")
    note = folder / "nodes" / name
    note.with_suffix(".new").write_text(str(os.getpid()))
    note.with_suffix(".new").rename(note)
    signal.pause()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
