"""A cluster that is alive: running commands on its hosts, changing its links."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from cluster import network
from cluster.folders import ClusterError
from cluster.node import NAMESPACES
from cluster.plan import HEAD, Plan
from cluster.remote_shell import entering, node_process
from cluster.waiting import PATIENCE


@dataclass(frozen=True)
class Cluster:
    """A cluster that is alive.

    Attributes
    ----------
    folder
        Its hostfiles and what keeps it together.
    plan
        What it looks like.
    process
        The process outside that holds its namespaces and waits for the head.
    owned
        The same, if it is a child of this process. Its standard input is the cluster's lifeline:
        when that is closed, the cluster ends.
    """

    folder: Path
    plan: Plan
    process: int
    owned: subprocess.Popen[bytes] | None = None

    def hostfile(self, mpi: str) -> Path:
        """Path of the hostfile for ``mpich`` or ``openmpi``."""
        return self.folder / f"hostfile.{mpi}"

    def environ(self) -> dict[str, str]:
        """What a module file of this cluster would set."""
        values = {
            "PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}",
            # UCX would find shared memory between nodes, as they are on one machine.
            "UCX_TLS": "tcp,self",
            "OMPI_MCA_pml": "ob1",
            "OMPI_MCA_btl_tcp_if_include": "eth0",
        }
        slurm = self.folder / "slurm" / "slurm.conf"
        return {**values, "SLURM_CONF": str(slurm)} if slurm.exists() else values

    def entering(self, host: str = HEAD) -> list[str]:
        """Begin of a command that is to run on a host of the cluster."""
        # The head is one process further: its process namespace is the one of our child's.
        processes = f"--pid=/proc/{self.process}/ns/pid_for_children"
        target = ["--target", str(self.process)]
        tokens = ["nsenter", *target, processes, *NAMESPACES, "--"]
        if host != HEAD:
            tokens += entering(self.folder, host)
        return [*tokens, "env", f"--chdir={Path.cwd()}"]

    def run(
        self,
        *command: object,
        on: str = HEAD,
        timeout: float = PATIENCE,
        environ: Mapping[str, str] | None = None,
    ) -> subprocess.CompletedProcess[str]:
        """Run a command on a host to its end and return what it printed.

        If its time is up it is left behind, and ends with the cluster.
        """
        return subprocess.run(
            [*self.entering(on), *map(str, command)],
            env={**os.environ, **self.environ(), **(environ or {})},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )

    def start(self, *command: object, on: str = HEAD, log: Path) -> subprocess.Popen[bytes]:
        """Start a command that goes on; it ends with the cluster at the latest."""
        with log.open("wb") as output:
            return subprocess.Popen(
                [*self.entering(on), *map(str, command)],
                env={**os.environ, **self.environ()},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )

    def shape(self, node: str, rate: str, small: str = "") -> None:
        """Change the rate of a node's link, and that of small packets."""
        for command in network.shape(node, node_process(self.folder, node), rate, small):
            self._must(command)

    def cut(self, node: str) -> None:
        """Cut the link of a node."""
        self._must(network.cut(node))

    def _must(self, command: list[str]) -> None:
        answer = self.run(*command)
        if answer.returncode:
            raise ClusterError(answer.stderr.strip())
