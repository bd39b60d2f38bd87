"""What `ssh` is in a cluster: it enters the namespaces of a node.

MPICH and Open MPI start their ranks on other nodes with ``ssh [options] HOST WORD…``. In a cluster
the folder with this `ssh` comes first on the PATH, so they need not be told of it.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import NoReturn

from cluster.folders import ClusterError
from cluster.node import NAMESPACES

OPTIONS_WITH_VALUE = ("-F", "-i", "-l", "-o", "-p")

PROGRAM = """\
#!{python} -IS
import sys
sys.path.insert(0, {tests!r})
from cluster.remote_shell import main
main({folder!r}, sys.argv[1:])
"""


def install(folder: Path) -> None:
    """Put an `ssh` into the bin folder of a cluster."""
    program = folder / "bin" / "ssh"
    program.parent.mkdir()
    tests = str(Path(__file__).parents[1])
    text = PROGRAM.format(python=sys.executable, tests=tests, folder=str(folder))
    program.write_text(text)
    program.chmod(0o755)


def node_process(folder: Path, node: str) -> int:
    """Return the number that the process of a node has inside of the cluster."""
    try:
        return int((folder / "nodes" / node).read_text())
    except FileNotFoundError:
        raise ClusterError(f"there is no node {node}") from None


def entering(folder: Path, node: str) -> list[str]:
    """Begin of a command that is to run on a node; for processes of the cluster only."""
    return ["nsenter", "--target", str(node_process(folder, node)), *NAMESPACES, "--"]


def parse(words: list[str]) -> tuple[str, list[str]]:
    """Skip the options; return the host and the words of the command."""
    rest = list(words)
    while rest and rest[0].startswith("-"):
        del rest[: 2 if rest[0] in OPTIONS_WITH_VALUE else 1]
    host, *command = rest
    return host.rpartition("@")[2], command


def main(folder: str, words: list[str]) -> NoReturn:
    """Become the command on the node."""
    host, command = parse(words)
    # A shell reads the words there, joined by blanks: so does ssh, and the MPIs count on it.
    shell = ["/bin/sh", "-c", " ".join(command)]
    try:
        entered = [*entering(Path(folder), host), *shell]
    except ClusterError as error:
        sys.exit(f"ssh: {error}")
    os.execvp(entered[0], entered)
