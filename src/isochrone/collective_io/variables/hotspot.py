"""A busy node: its messages, their bytes, and how busy the other nodes are.

A run of a hot spot says how many messages of which size a node had. Points at which other nodes
are busy, too, are described by formulas with bytes only.
"""

from isochrone.models.data.extension import Points, Variables

BYTES = ("ba", "bi", "bo")
"""Bytes of a node: within it, into it and out of it."""

NODE = ("pa", "in", "out", "b")
"""What these bytes follow from: messages of a node, and their size."""

_TO_MIB = 2.0**20


def filled(points: Points) -> Points:
    """Return points with the bytes of the node, which has ``in``, ``out`` and 2 ``pa`` messages."""
    b, pairs = points["b"], (points["in"] + points["out"]) / 2
    bytes_ = {"ba": 2 * points["pa"] * b, "bi": points["in"] * b, "bo": points["out"] * b}
    return {"pe": pairs, **points, **bytes_}


VARIABLES = Variables(
    subject="the messages of a busy node",
    command="isochrone predict collective-io",
    kind="hotspot",
    words={
        "pa": ("pairs of messages within a node", "pairs of messages within the node"),
        "pe": ("pairs of messages with other nodes", "pairs of messages with other nodes"),
        "in": ("messages from other nodes", "messages in"),
        "out": ("messages to other nodes", "messages out"),
        "ba": ("bytes within a node", "bytes within the node"),
        "bi": ("bytes from other nodes", "bytes in"),
        "bo": ("bytes to other nodes", "bytes out"),
        "busy": (
            "mean of the busier directions of all nodes, as a part of the largest",
            "how busy all nodes are",
        ),
    },
    counts=("pe", "pa", "out", "in"),
    bytes=BYTES,
    basis=NODE,
    filled=filled,
    unless_known={"busy": 0.0},
    selectors={"hot": "hot processes"},
    with_bytes=("shape", "ring"),
    costs={
        "pe": ("for each message into the node or out of it", 0.5),
        "max(in,out)": ("for each message of the busier direction", 1.0),
        "min(in,out)": ("for each message of the other direction", 1.0),
        "max(bi,bo)": ("for each MiB of the busier direction", _TO_MIB),
        "min(bi,bo)": ("for each MiB of the other direction", _TO_MIB),
        "busy*busy*max(bi,bo)": (
            "more for each MiB of the busier direction if all nodes are equally busy",
            _TO_MIB,
        ),
        "busy*busy*min(bi,bo)": (
            "more for each MiB of the other direction if all nodes are equally busy",
            _TO_MIB,
        ),
        "ba": ("for each MiB within the node", _TO_MIB),
        "pa": ("for each message within the node", 0.5),
    },
    measure="measure several sizes: measure hotspot --bytes 32KiB,256KiB,1MiB,2MiB",
)
