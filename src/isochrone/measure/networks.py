"""The switches of a cluster, as Slurm and InfiniBand tools write them.

Slurm's ``topology.conf`` and ``scontrol show topology``: one switch a line, with its nodes or the
switches below it. ``ibnetdiscover``: the ports of each switch, and what is connected to them.
"""

import re
from collections import deque
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from isochrone.base.errors import InputError
from isochrone.base.files import read_bytes
from isochrone.measure.allocation import expand_hosts

_SETTING = re.compile(r"(\w+)\s*=\s*(\S+)")
_SWITCH = re.compile(r'(Switch|Ca|Rt)\s+\d+\s+"([^"]{1,100})"(?:\s*#\s*"([^"]{0,200})")?.*')
_PORT = re.compile(r'\[\d+\](?:\([^)]*\))?\s+"([^"]{1,100})"\[\d+\].*')


@dataclass
class Network:
    """Nodes, switches, and the cables between switches.

    Attributes
    ----------
    nodes
        The first switch of each node, by its name.
    cables
        How many join two switches a < b.
    """

    nodes: dict[str, str] = field(default_factory=dict)
    cables: dict[tuple[str, str], int] = field(default_factory=dict)

    def join(self, a: str, b: str, cables: int = 1) -> None:
        """Add cables between two switches."""
        ends = _plain(min(a, b)), _plain(max(a, b))
        self.cables[ends] = self.cables.get(ends, 0) + cables

    @cached_property
    def _neighbors(self) -> dict[str, list[str]]:
        """The switches that cables join to each, in the order of their names."""
        neighbors: dict[str, list[str]] = {}
        for a, b in sorted([*self.cables, *((b, a) for a, b in self.cables)]):
            neighbors.setdefault(a, []).append(b)
        return neighbors

    def routes(self, start: str) -> dict[str, list[tuple[str, str]]]:
        """Return the cables of a shortest route from a switch to each other, fewest first."""
        routes: dict[str, list[tuple[str, str]]] = {start: []}
        waiting = deque([start])
        while waiting:
            switch = waiting.popleft()
            for other in self._neighbors.get(switch, ()):
                if other not in routes:
                    routes[other] = [*routes[switch], (min(switch, other), max(switch, other))]
                    waiting.append(other)
        return routes


def read_network(path: Path) -> Network:
    """Read the switches of a cluster.

    Raises
    ------
    InputError
        If the file cannot be read, is of another kind, or names no node.
    """
    text = read_bytes(path).decode("utf-8", errors="replace")
    if re.search(r"^\s*SwitchName\s*=", text, re.MULTILINE | re.IGNORECASE):
        network = _of_slurm(text, path)
    elif re.search(r'^(?:Switch|Ca)\s+\d+\s+"', text, re.MULTILINE):
        network = _of_infiniband(text)
    else:
        raise InputError(
            "the file has no switches",
            where=path,
            hint="it may be Slurm's topology.conf, or the output of 'scontrol show topology' or "
            "ibnetdiscover",
        )
    if not network.nodes:
        raise InputError("the file has no node behind a switch", where=path)
    return network


def _plain(name: str) -> str:
    """Return a name that SimGrid takes."""
    return re.sub(r"[^\w.-]", "_", name)


def _of_slurm(text: str, path: Path) -> Network:
    network, below, parents = Network(), {}, {}
    for number, line in enumerate(text.splitlines(), 1):
        where = f"{path}:{number}"
        settings = {key.lower(): value for key, value in _SETTING.findall(line.partition("#")[0])}
        name = settings.get("switchname")
        if name is None:
            continue
        if "switches" in settings:
            for child in expand_hosts(settings["switches"], where):
                parents[child] = name
        elif "nodes" in settings:
            hosts = expand_hosts(settings["nodes"], where)
            network.nodes |= dict.fromkeys(hosts, _plain(name))
            below[name] = len(hosts)
    for leaf, count in below.items():  # as many cables as nodes: none of them is a bottleneck
        child, steps = leaf, 0
        while (parent := parents.get(child)) is not None:
            network.join(child, parent, count)
            child, steps = parent, steps + 1
            if steps > len(parents):
                raise InputError(f"the switch '{child}' is below itself", where=path)
    return network


def _of_infiniband(text: str) -> Network:
    network, names, links = Network(), {}, []
    device = ""
    for line in text.splitlines():
        if head := _SWITCH.match(line):
            device = head[2]
            if head[1] == "Ca":  # "node1 HCA-1", "node1 mlx5_0"
                names[device] = (head[3] or device).split()[0]
        elif (port := _PORT.match(line)) and device:
            links.append((device, port[1]))
    for a, b in links:
        if a in names and b not in names:
            network.nodes.setdefault(_plain(names[a]), _plain(b))
        elif a not in names and b not in names and a < b:
            network.join(a, b)
    return network
