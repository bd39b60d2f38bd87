"""Machines described in a line, as SimGrid platforms with known times.

For example ``nodes:16 cores:4 switches:2`` is 16 nodes of 4 cores behind 2 switches that are joined
by a spine. Every pair of nodes gets an explicit route, a list of links; the time of a message is
the sum of their latencies plus its size over the smallest bandwidth. That is what SimGrid computes,
and what `Platform.one_way` computes, so that a measurement can be checked against a truth.

docs/what-if.md lists the keywords.
"""

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from math import prod
from pathlib import Path

from isochrone.base.errors import InputError
from isochrone.base.files import read_bytes
from isochrone.base.text import did_you_mean, printable, whole_number
from isochrone.base.units import Bytes, Seconds, parse_bytes, parse_seconds
from isochrone.measure.networks import read_network

MAX_PLATFORM_NODES = 1024
MPI_HEADER = 16
"""Bytes that SimGrid's MPI adds to a message."""

_KINDS = ("torus", "dragonfly", "network", "switches")
_KEYS = {
    "nodes",
    "cores",
    "switches",
    "pods",
    "network",
    "torus",
    "dragonfly",
    "latency",
    "trunk",
    "bandwidth",
    "loopback",
    "slow-node",
    "slow-pair",
    "slow-switch",
    "slow-link",
    "placement",
    "seed",
    "speed",
}


@dataclass
class Link:
    """A link: latency in seconds, bandwidth in bytes per second."""

    name: str
    latency: Seconds
    bandwidth: float


@dataclass
class Platform:
    """A machine.

    Attributes
    ----------
    description
        The line it was made from.
    nodes, cores
        Number of nodes, and of ranks a node.
    groups
        The true hierarchy: for each level beyond a node, the group of each node; empty where the
        machine has none, as a torus.
    links
        By name.
    routes
        Names of the links between nodes a < b.
    placement, seed
        How ranks are dealt out.
    speeds
        Of the cores of the nodes, in turn, in 10^9 operations per second.
    names
        Of the nodes.
    """

    description: str
    nodes: int
    cores: int
    groups: list[list[int]]
    links: dict[str, Link]
    routes: dict[tuple[int, int], list[str]]
    placement: str
    seed: int
    speeds: list[float]
    names: list[str]

    def node_of_rank(self) -> list[int]:
        """Node of each rank."""
        if self.placement == "cyclic":
            return [node for _ in range(self.cores) for node in range(self.nodes)]
        block = [node for node in range(self.nodes) for _ in range(self.cores)]
        if self.placement == "irregular":
            random.Random(self.seed).shuffle(block)
        return block

    def one_way(self, a: int, b: int, nbytes: Bytes) -> Seconds:
        """Time of a message between nodes a and b when nothing else is under way."""
        names = ["loopback"] if a == b else self.routes[min(a, b), max(a, b)]
        route = [self.links[name] for name in names]
        slowest = min(link.bandwidth for link in route)
        return sum(link.latency for link in route) + (nbytes + MPI_HEADER) / slowest

    def hosts(self) -> str:
        """Return the host file: the node of each rank, one per line."""
        return "".join(f"{self.names[node]}\n" for node in self.node_of_rank())

    def xml(self) -> str:
        """Return the platform file of SimGrid."""
        return "".join(line + "\n" for line in self._lines())

    def _lines(self) -> Iterator[str]:
        yield "<?xml version='1.0'?>"
        yield '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">'
        description = self.description.replace("--", "- -")  # the other ends a comment
        yield f"<!-- isochrone platform '{printable(description)}' -->"
        yield '<platform version="4.1">'
        yield '  <zone id="world" routing="Full">'
        for node in range(self.nodes):
            speed = self.speeds[node % len(self.speeds)]
            yield f'    <host id="{self.names[node]}" speed="{speed:g}Gf" core="{self.cores}"/>'
        for link in self.links.values():
            policy = ' sharing_policy="FATPIPE"' if link.name == "loopback" else ""
            yield (
                f'    <link id="{link.name}" latency="{link.latency:.12g}s" '
                f'bandwidth="{link.bandwidth:.12g}Bps"{policy}/>'
            )
        for name in self.names:
            ends = f'src="{name}" dst="{name}"'
            yield f'    <route {ends} symmetrical="NO"><link_ctn id="loopback"/></route>'
        for (a, b), names in self.routes.items():
            links = "".join(f'<link_ctn id="{name}"/>' for name in names)
            ends = f'src="{self.names[a]}" dst="{self.names[b]}"'
            yield f"    <route {ends}>{links}</route>"
        yield "  </zone>"
        yield "</platform>"


def parse(description: str) -> Platform:
    """Read a machine from one line of ``key:value`` words.

    Raises
    ------
    InputError
        If a word is unknown, or words cannot be combined.
    """
    words: dict[str, str] = {}
    for word in description.split():
        key, colon, value = word.partition(":")
        if not colon or key not in _KEYS:
            meant = did_you_mean(re.split("[:=]", word)[0], sorted(_KEYS))
            hint = f"{meant}write nodes:16; choose from {', '.join(sorted(_KEYS))}"
            raise InputError(f"unknown word '{word}'", hint=hint)
        if key in words:
            raise InputError(f"'{key}' is given twice")
        words[key] = value
    return _Builder(words).build(" ".join(description.split()))


class _Builder:
    """Builds a platform from its words: nodes, then links and routes, then what is slow."""

    def __init__(self, words: dict[str, str]) -> None:
        self.words = words
        self.latency = self.seconds("latency", 0.5e-6)
        self.trunk = self.seconds("trunk", 2 * self.latency)
        self.bandwidth = float(parse_bytes(words.get("bandwidth", "12.5GB")))
        if self.bandwidth <= 0:
            raise InputError("'bandwidth' must be above 0")
        self.cores = self.core_count()
        self.names: list[str] = []
        self.nodes = 0
        self.groups: list[list[int]] = []
        self.links: dict[str, Link] = {}
        self.routes: dict[tuple[int, int], list[str]] = {}
        self.switch_of: list[int] = []

    def build(self, description: str) -> Platform:
        kinds = [kind for kind in _KINDS if kind in self.words]
        if len(kinds) > 1:
            raise InputError(f"'{kinds[0]}' and '{kinds[1]}' cannot be combined")
        if kinds and kinds[0] != "switches" and {"nodes", "pods"} & set(self.words):
            raise InputError(f"'{kinds[0]}' defines the number of nodes: leave out 'nodes'")
        dealt = self.choice("placement", ("block", "cyclic", "irregular")), self.count("seed", 1)
        speeds = self.speeds()
        self.link("loopback", self.seconds("loopback", 0.2e-6), 4 * self.bandwidth)
        if "torus" in self.words:
            self.torus()
        elif "dragonfly" in self.words:
            self.dragonfly()
        elif "network" in self.words:
            self.network()
        else:
            self.tree()
        self.slow_node()
        self.slow_link()
        self.slow_switch()
        self.slow_pair()
        return Platform(
            description,
            self.nodes,
            self.cores,
            self.groups,
            self.links,
            self.routes,
            *dealt,
            speeds,
            self.names or [f"node-{node}" for node in range(self.nodes)],
        )

    # --- shapes ---------------------------------------------------------------------------------

    def add_nodes(self, nodes: int) -> None:
        if not 1 <= nodes <= MAX_PLATFORM_NODES:
            raise InputError(f"{nodes} nodes are outside the limits of 1 to {MAX_PLATFORM_NODES}")
        self.nodes = nodes
        for node in range(nodes):
            self.link(f"node-{node}-link", self.latency, self.bandwidth)

    def link(self, name: str, latency: Seconds, bandwidth: float) -> str:
        self.links.setdefault(name, Link(name, latency, bandwidth))
        return name

    def connect(self, a: int, b: int, between: list[str]) -> None:
        """Route from one node's link through what is between them to the other's."""
        self.routes[a, b] = [f"node-{a}-link", *between, f"node-{b}-link"]

    def pairs(self) -> Iterator[tuple[int, int]]:
        return combinations(range(self.nodes), 2)

    def tree(self) -> None:
        """One switch, or leaf switches below a spine, or pods of them below a core."""
        nodes = self.count("nodes", None)
        switches, pods = self.count("switches", 1), self.count("pods", 1)
        if nodes % switches or switches % pods:
            raise InputError("'nodes' must be a multiple of 'switches', and 'switches' of 'pods'")
        self.add_nodes(nodes)
        below = nodes // switches
        self.switch_of = [node // below for node in range(nodes)]
        pod_of = [switch // (switches // pods) for switch in range(switches)]
        if switches > 1:
            self.groups.append(self.switch_of)
        if 1 < pods < switches:
            self.groups.append([pod_of[switch] for switch in self.switch_of])
        for switch in range(switches):
            self.link(f"trunk-{switch}", self.trunk, below * self.bandwidth)
        for pod in range(pods):
            self.link(f"core-{pod}", 2 * self.trunk, nodes // pods * self.bandwidth)
        for a, b in self.pairs():
            s, t = self.switch_of[a], self.switch_of[b]
            p, q = pod_of[s], pod_of[t]
            between = [] if p == q else [f"core-{p}", f"core-{q}"]
            self.connect(a, b, [f"trunk-{s}", *between, f"trunk-{t}"] if s != t else [])

    def torus(self) -> None:
        """Route one dimension after the other, the shorter way round."""
        shape = self.shape("torus")
        self.add_nodes(prod(shape))
        for a, b in self.pairs():
            self.routes[a, b] = self.torus_route(a, b, shape)
        for node in range(self.nodes):  # a node has its hops, but no own link
            del self.links[f"node-{node}-link"]

    def torus_route(self, a: int, b: int, shape: list[int]) -> list[str]:
        route, node, stride = [], a, 1
        for length in shape:
            x, y = node // stride % length, b // stride % length
            forward = (y - x) % length <= (x - y) % length
            while x != y:
                step = (x + 1) % length if forward else (x - 1) % length
                next_node = node + (step - x) * stride
                low, high = min(node, next_node), max(node, next_node)
                route.append(self.link(f"hop-{low}-{high}", self.latency, self.bandwidth))
                node, x = next_node, step
            stride *= length
        return route

    def dragonfly(self) -> None:
        """Routers of a group are all joined; groups are joined by one link each."""
        shape = self.shape("dragonfly")
        if len(shape) != 3:
            raise InputError("'dragonfly' needs groups x routers x nodes, such as 4x3x2")
        groups, routers, below = shape
        self.add_nodes(groups * routers * below)
        self.switch_of = [node // below for node in range(self.nodes)]
        group_of = [router // routers for router in range(groups * routers)]
        self.groups = [self.switch_of, [group_of[router] for router in self.switch_of]]
        wide = below * self.bandwidth
        for a, b in self.pairs():
            s, t = self.switch_of[a], self.switch_of[b]
            between = []
            if s != t and group_of[s] == group_of[t]:
                between = [self.link(f"local-{s}-{t}", self.trunk, wide)]
            elif s != t:  # in, across and out: always three, so that a level has one time
                g, h = group_of[s], group_of[t]
                ways = {f"exit-{s}-{h}": 1, f"global-{g}-{h}": 2, f"exit-{t}-{g}": 1}
                between = [self.link(way, k * self.trunk, wide) for way, k in ways.items()]
            self.connect(a, b, between)

    def network(self) -> None:
        """Route through the fewest cables between the switches of a file."""
        network = read_network(Path(self.words["network"]))
        self.names = list(network.nodes)
        self.add_nodes(len(self.names))
        leaves = sorted(set(network.nodes.values()))
        number = {leaf: k for k, leaf in enumerate(leaves)}
        self.switch_of = [number[switch] for switch in network.nodes.values()]
        routes = {leaf: network.routes(leaf) for leaf in leaves}
        for a, b in self.pairs():
            s, t = (leaves[self.switch_of[node]] for node in (a, b))
            if t not in routes[s]:
                raise InputError(
                    f"no way leads from switch '{s}' to '{t}'", where=self.words["network"]
                )
            self.connect(
                a,
                b,
                [
                    self.link(f"cable-{x}-{y}", self.trunk, network.cables[x, y] * self.bandwidth)
                    for x, y in routes[s][t]
                ],
            )
        away = [[len(routes[s][t]) for t in leaves] for s in leaves]
        for hops in sorted({hops for row in away for hops in row})[:-1]:
            near = [tuple(k for k, count in enumerate(row) if count <= hops) for row in away]
            if all(near[k] == group for group in near for k in group):  # a level, as in a tree
                self.groups.append([near[switch][0] for switch in self.switch_of])

    # --- what is slow ---------------------------------------------------------------------------

    def slow_node(self) -> None:
        if "slow-node" in self.words:
            (node,), factor = self.slow("slow-node", self.nodes, 1)
            names = {f"node-{node}-link"} & set(self.links)
            for (a, b), route in self.routes.items():
                if not names and node in (a, b):  # a torus: the hops that begin or end here
                    names |= {n for n in route if str(node) in n.split("-")[1:]}
            for name in names:
                self.slow_down(name, factor)

    def slow_link(self) -> None:
        if "slow-link" in self.words:
            name, _, _ = self.words["slow-link"].partition("*")
            if name not in self.links:
                names = ", ".join(sorted(self.links)[:12])
                raise InputError(f"there is no link '{name}'", hint=f"there are: {names} …")
            self.slow_down(name, self.factor("slow-link"))

    def slow_down(self, name: str, factor: float) -> None:
        self.links[name].latency *= factor
        self.links[name].bandwidth /= factor

    def slow_switch(self) -> None:
        if "slow-switch" in self.words:
            (switch,), factor = self.slow("slow-switch", max(self.switch_of, default=-1) + 1, 1)
            name = self.link(f"switch-{switch}", (factor - 1) * self.trunk, 1e15)
            for (a, b), route in self.routes.items():
                if switch in (self.switch_of[a], self.switch_of[b]):
                    route.append(name)

    def slow_pair(self) -> None:
        if "slow-pair" in self.words:
            (a, b), factor = self.slow("slow-pair", self.nodes, 2)
            a, b = min(a, b), max(a, b)
            route = self.routes[a, b]
            route_latency = sum(self.links[name].latency for name in route)
            route.append(self.link(f"pair-{a}-{b}", (factor - 1) * route_latency, 1e15))

    def slow(self, key: str, limit: int, count: int) -> tuple[list[int], float]:
        """Read ``3*10`` or ``2-5*10``: which, and how many times slower."""
        which = self.words[key].partition("*")[0].split("-")
        numbers = [n for text in which if (n := whole_number(text)) is not None]
        if len(set(numbers)) != count or len(which) != count or max(numbers) >= limit:
            example = "2-5*10" if count == 2 else "3*10"
            raise InputError(
                f"'{key}:{self.words[key]}' does not exist on this machine",
                hint=f"write for example {key}:{example}, counted from 0",
            )
        return numbers, self.factor(key)

    def factor(self, key: str) -> float:
        """Read how many times slower; default: 10."""
        text = self.words[key].partition("*")[2] or "10"
        try:
            factor = float(text)
        except ValueError:
            factor = 0.0
        if not 1 <= factor < 1e6:
            raise InputError(f"'{key}' needs a factor of at least 1, not '{text}'")
        return factor

    # --- words ----------------------------------------------------------------------------------

    def count(self, key: str, default: int | None) -> int:
        text = self.words.get(key, "" if default is None else str(default))
        if not re.fullmatch("[0-9]{1,7}", text) or not 1 <= int(text) <= 1 << 20:
            raise InputError(
                f"'{key}' needs a whole number from 1", hint=f"write for example {key}:16"
            )
        return int(text)

    def core_count(self) -> int:
        """Return the cores of a node, which a file of hwloc may list."""
        name = self.words.get("cores", "")
        if not name.endswith(".xml"):
            return self.count("cores", 1)
        cores = len(re.findall(rb'<object\s[^>]*\btype="Core"', read_bytes(Path(name))))
        if not cores:
            raise InputError(
                "the file has no cores", where=name, hint="it is written by 'lstopo machine.xml'"
            )
        return cores

    def seconds(self, key: str, default: Seconds) -> Seconds:
        return parse_seconds(self.words[key]) if key in self.words else default

    def speeds(self) -> list[float]:
        text = self.words.get("speed", "1")
        if not re.fullmatch(r"[0-9]{0,6}\.?[0-9]{1,6}(,[0-9]{0,6}\.?[0-9]{1,6})*", text):
            raise InputError(f"'speed:{text}' is no list of speeds", hint="e.g. speed:1,1,0.5")
        speeds = [float(speed) for speed in text.split(",")]
        if min(speeds) <= 0:
            raise InputError("'speed' must be above 0")
        return speeds

    def shape(self, key: str) -> list[int]:
        lengths = [whole_number(length) or 0 for length in self.words[key].split("x")]
        if not all(1 <= length <= MAX_PLATFORM_NODES for length in lengths):
            raise InputError(f"'{key}:{self.words[key]}' is not a shape", hint=f"e.g. {key}:4x4x2")
        return lengths

    def choice(self, key: str, choices: tuple[str, ...]) -> str:
        value = self.words.get(key, choices[0])
        if value not in choices:
            raise InputError(f"'{key}' must be one of: {', '.join(choices)}")
        return value
