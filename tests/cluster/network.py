"""The network: one switch, one cable to each node. Returns commands; starts nothing.

The head has a network namespace of its own, and the switch is in there. So the machine's own
network never sees any of this, names and addresses of clusters cannot clash, and all of it is gone
when the last process of the cluster is.
"""

from __future__ import annotations

from cluster.plan import HEAD, Plan

Command = list[str]

SWITCH = "switch"


def switch(plan: Plan) -> list[Command]:
    """Make the switch, to which the head is connected, too."""
    return [
        ["ip", "link", "set", "lo", "up"],
        ["ip", "link", "add", SWITCH, "type", "bridge"],
        ["ip", "address", "add", f"{plan.address(HEAD)}/24", "dev", SWITCH],
        ["ip", "link", "set", SWITCH, "up"],
    ]


def cable(plan: Plan, node: str, pid: int) -> list[Command]:
    """Connect a node: the end at the switch is called like the node, the other eth0."""
    inside = within(pid)
    return [
        ["ip", "link", "add", node, "type", "veth", "peer", "name", "eth0", "netns", str(pid)],
        ["ip", "link", "set", node, "master", SWITCH, "up"],
        [*inside, "ip", "address", "add", f"{plan.address(node)}/24", "dev", "eth0"],
        [*inside, "ip", "link", "set", "eth0", "up"],
        [*inside, "ip", "link", "set", "lo", "up"],
        *(shape(node, pid, plan.rate_of(node)) if plan.rate_of(node) else []),
    ]


def shape(node: str, pid: int, rate: str) -> list[Command]:
    """Limit the rate of a node's link, in both directions.

    The queue holds what passes in 50 ms, so that TCP is slowed down and loses little. Of the burst
    sizes tried, 64 KiB gives the nominal time of 1 MiB within 1 % from 400 Mbit/s to 1 Gbit/s.
    """
    limit = ["root", "tbf", "rate", rate, "burst", "64kb", "latency", "50ms"]
    return [
        ["tc", "qdisc", "replace", "dev", node, *limit],
        [*within(pid), "tc", "qdisc", "replace", "dev", "eth0", *limit],
    ]


def within(pid: int) -> Command:
    """Begin of a command that is to see the network of a process."""
    return ["nsenter", "--target", str(pid), "--net", "--"]
