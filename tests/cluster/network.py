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
        *(shape(node, pid, plan.rate_of(node), plan.small) if plan.rate_of(node) else []),
    ]


def shape(node: str, pid: int, rate: str, small: str = "") -> list[Command]:
    """Limit the rate of a node's link, in both directions.

    The queue holds what passes in 50 ms, so that TCP is slowed down and loses little. Of the burst
    sizes tried, 64 KiB gives the nominal time of 1 MiB within 1 % from 400 Mbit/s to 1 Gbit/s.

    With a rate for small packets, a round trip of a small message takes as long as its packet at
    this rate, which hides the noise of a busy machine. (Few kernels of containers have netem.)
    """
    ends = ([], node), (within(pid), "eth0")
    if small:
        return [[*to, *command] for to, device in ends for command in _by_size(device, rate, small)]
    limit = ["root", "tbf", "rate", rate, "burst", "64kb", "latency", "50ms"]
    return [[*to, "tc", "qdisc", "replace", "dev", device, *limit] for to, device in ends]


def _by_size(device: str, rate: str, small: str) -> list[Command]:
    """Limit packets of 64 to 255 bytes to one rate, others, such as bare ACKs, to another."""
    queue = f"tc qdisc replace dev {device} root"
    limit = f"tc class replace dev {device} parent 1: classid 1:{{}} htb rate {{}} burst {{}}"
    sort = f"tc filter replace dev {device} parent 1: protocol ip prio {{}} u32"
    below = " match u16 0 {} at 2 flowid 1:{}"  # the length of an IP packet
    return [
        command.split()
        for command in (
            f"{queue} pfifo",  # a queue with classes is not replaced by another one
            f"{queue} handle 1: htb default 2",
            limit.format(1, small, "100"),
            limit.format(2, rate, "64kb"),
            sort.format(1) + below.format("0xffc0", 2),
            sort.format(2) + below.format("0xff00", 1),
        )
    ]


def cut(node: str) -> Command:
    """Let nothing pass a node's link any more."""
    return ["ip", "link", "set", node, "down"]


def within(pid: int) -> Command:
    """Begin of a command that is to see the network of a process."""
    return ["nsenter", "--target", str(pid), "--net", "--"]
