"""The head: first process of a cluster, which sets it up.

It is process 1 of a process namespace. When it ends, however it ends, the kernel ends whatever was
started in the cluster: nodes, ranks, daemons.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from pathlib import Path

from cluster import network
from cluster.node import NAMESPACES, mount, own_shared_memory
from cluster.plan import HEAD, Plan
from cluster.waiting import PATIENCE, wait_for

KEEP = b"k"
"""What the owner writes if the cluster shall stay when the owner ends."""


def main(folder: Path) -> None:
    """Set the cluster up, say so, and stay."""
    threading.Thread(target=end_with_the_owner, daemon=True).start()
    plan = Plan.read(folder)
    socket.sethostname(HEAD)
    own_shared_memory()
    mount("--bind", folder / "hosts", "/etc/hosts")
    run(network.switch(plan))
    (folder / "nodes").mkdir()
    for node in plan.nodes:
        start_node(folder, node)
    for node in plan.nodes:
        note = folder / "nodes" / node
        wait_for(note.exists, f"node {node}")
        run(network.cable(plan, node, int(note.read_text())))
    (folder / "ready").touch()
    # Process 1 inherits orphans; those that have ended stay in the process table until it looks.
    while True:
        os.wait()


def end_with_the_owner() -> None:
    """End the cluster when the owner's end of the pipe is closed, be it by SIGKILL."""
    if os.read(sys.stdin.fileno(), 1) != KEEP:
        os._exit(1)


def start_node(folder: Path, node: str) -> None:
    """Start the process that becomes a node."""
    itself = [sys.executable, "-m", "cluster.node", str(folder), node]
    subprocess.Popen(["unshare", *NAMESPACES, "--", *itself], stdin=subprocess.DEVNULL)


def run(commands: list[network.Command]) -> None:
    """Run commands one after the other; all have to succeed."""
    for command in commands:
        subprocess.run(command, check=True, timeout=PATIENCE)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
