"""What a cluster is to look like, and the files that follow from it."""

from __future__ import annotations

import json
import re
import secrets
from dataclasses import asdict, dataclass, field
from pathlib import Path

HEAD = "head"
"""Name of the host that commands are started on, as on a cluster's login node."""

NETWORK = "10.88.0"
"""First bytes of all addresses. Each cluster has a network of its own, so all may use the same."""

MAX_NODES = 64
RATE = re.compile(r"\d+(\.\d+)?[kmg]?bit")
NAME = re.compile(r"[a-z][a-z0-9-]{0,30}")


@dataclass(frozen=True)
class Plan:
    """A cluster to make.

    Attributes
    ----------
    ranks
        Ranks of each node in its hostfiles; there are as many nodes as there are numbers.
    rate
        Of every link, as `tc` writes it (``200mbit``); empty: as fast as the machine is.
    rates
        Of single nodes' links, by the node's name.
    small
        Rate of every link for small packets with data, which then decides the time of messages of
        64 B; empty: no limit but that of all packets.
    name
        Unique on this machine.
    """

    ranks: tuple[int, ...]
    rate: str = ""
    rates: dict[str, str] = field(default_factory=dict)
    small: str = ""
    name: str = field(default_factory=lambda: f"c{secrets.token_hex(4)}")

    def __post_init__(self) -> None:
        if not 1 <= len(self.ranks) <= MAX_NODES or min(self.ranks) < 1:
            raise ValueError(f"1 to {MAX_NODES} nodes, each with a rank or more")
        if not NAME.fullmatch(self.name):
            raise ValueError(f"'{self.name}' is not a name of small letters, digits and dashes")
        for rate in filter(None, (self.rate, self.small, *self.rates.values())):
            if not RATE.fullmatch(rate):
                raise ValueError(f"'{rate}' is not a rate such as 200mbit")
        if strangers := self.rates.keys() - set(self.nodes):
            raise ValueError(f"there is no node {', '.join(sorted(strangers))}")

    @property
    def nodes(self) -> list[str]:
        """Host names: n1, n2, …"""
        return [f"n{number}" for number, _ in enumerate(self.ranks, start=1)]

    def rate_of(self, node: str) -> str:
        """Rate of the link of a node."""
        return self.rates.get(node, self.rate)

    def address(self, host: str) -> str:
        """IP address of a node or of the head."""
        last = 254 if host == HEAD else self.nodes.index(host) + 1
        return f"{NETWORK}.{last}"

    def hosts(self) -> str:
        """Contents of /etc/hosts."""
        names = (f"{self.address(host)} {host}\n" for host in (HEAD, *self.nodes))
        return "127.0.0.1 localhost\n" + "".join(names)

    def hostfile(self, form: str) -> str:
        """Hostfile of an MPI: ``{node}:{ranks}`` for MPICH."""
        pairs = zip(self.nodes, self.ranks, strict=True)
        return "".join(form.format(node=node, ranks=ranks) + "\n" for node, ranks in pairs)

    def write(self, folder: Path) -> None:
        """Write the plan, and all files that follow from it, into the cluster's folder."""
        (folder / "plan.json").write_text(json.dumps(asdict(self)))
        (folder / "hosts").write_text(self.hosts())
        (folder / "hostfile.mpich").write_text(self.hostfile("{node}:{ranks}"))
        (folder / "hostfile.openmpi").write_text(self.hostfile("{node} slots={ranks}"))

    @staticmethod
    def read(folder: Path) -> Plan:
        """Read it back."""
        values = json.loads((folder / "plan.json").read_text())
        return Plan(**{**values, "ranks": tuple(values["ranks"])})
