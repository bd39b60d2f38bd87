"""A platform for SimGrid: latency, bandwidth and factors of a measured machine.

Of a point-to-point run, whose times of a message become straight lines by size
(`isochrone.formats.protocol_lines`): SMPI multiplies the latency and the bandwidth of a link by
factors that depend on the size, and with those of the file a simulated message takes as long as a
measured one. The hosts are those of the run, behind one switch; the ranks are in a file next to it.

SimGrid's factors hold for all links alike. So one curve is met exactly, the one between nodes where
there is one; of messages within a node, latency and bandwidth of the loopback are those that come
nearest, and the file says how near that is. Speeds of processors are not measured: 1 Gflop/s.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from isochrone.base.files import write_text
from isochrone.base.text import printable
from isochrone.formats.exported_sweep import leaves_at_once, points_of, single_messages
from isochrone.formats.exporter import Exporter
from isochrone.formats.protocol_lines import Line, lines, scaled
from isochrone.runfile.run import Run
from isochrone.sweep.curves import Curve

MESSAGE_HEADER_BYTES = 16
"""Bytes that SimGrid's MPI adds to a message."""

_EXACT = (
    ("network/TCP-gamma", "0"),
    ("network/crosstraffic", "0"),
    ("smpi/wtime", "0"),
)
"""What SimGrid would add to the times by itself."""


@dataclass(frozen=True)
class _Machine:
    """A machine as measured by a run.

    Attributes
    ----------
    hosts
        Number of the host of each rank.
    exact
        The curve that is met, and its lines.
    inside
        Curve of messages within a node, if those between nodes were measured, too.
    loopback
        Latency and bandwidth within a node, and how far from them a median may be.
    others
        Number of curves that the file cannot hold.
    eager
        Bytes up to which a message leaves at once; None: no switch was seen.
    """

    hosts: tuple[int, ...]
    exact: Curve
    lines: tuple[Line, ...]
    inside: Curve | None
    loopback: tuple[float, float, float]
    others: int
    eager: int | None


def write(run: Run, path: Path, *, nbytes: int | None = None) -> list[str]:
    """Write a platform, and next to it the hosts of the ranks.

    Raises
    ------
    InputError
        If the run does not hold times of single messages of two ranks, or the file cannot be
        written.
    """
    machine = _machine(run, nbytes)
    write_text(path, "".join(f"{line}\n" for line in _platform(run, machine)))
    write_text(path.with_suffix(".hosts"), "".join(f"node-{host}\n" for host in machine.hosts))
    return _warnings(machine)


def _warnings(machine: _Machine) -> list[str]:
    """Return what the file cannot represent."""
    warnings = []
    if machine.inside is not None:
        warnings.append(
            "SimGrid has one set of factors for all links: it repeats the measured times of "
            f"{machine.exact.name}, and those of {machine.inside.name} "
            f"within {max(100 * machine.loopback[2], 1):.0f} %"
        )
    if machine.others:
        warnings.append(
            f"the file has one curve for all pairs of nodes (curves left out: {machine.others})"
        )
    return warnings


def _machine(run: Run, nbytes: int | None) -> _Machine:
    curves = single_messages(run, nbytes)
    nodes = {rank.rank: rank.node for rank in run.ranks}
    numbers = {node: k for k, node in enumerate(dict.fromkeys(nodes.values()))}
    hosts = tuple(numbers[nodes[rank]] if rank in nodes else rank for rank in range(run.size))
    between = [curve for curve in curves if len({hosts[rank] for rank in curve.key["pair"]}) > 1]
    inside = [curve for curve in curves if curve not in between]
    exact = (between or inside)[0]
    drawn = tuple(lines(*points_of(exact), MESSAGE_HEADER_BYTES))
    latency, bandwidth, off = drawn[0].latency, 1 / drawn[-1].per_byte, 0.0
    if between and inside:
        of_latency, of_bytes, off = scaled(drawn, *points_of(inside[0]), MESSAGE_HEADER_BYTES)
        latency, bandwidth = latency * of_latency, bandwidth / max(of_bytes, 1e-9)
    within = inside[0] if between and inside else None
    others = len(curves) - 1 - (within is not None)
    loopback = latency, bandwidth, off
    return _Machine(hosts, exact, drawn, within, loopback, others, leaves_at_once(exact))


def _platform(run: Run, machine: _Machine) -> Iterator[str]:
    """Yield the lines of the platform file."""
    yield "<?xml version='1.0'?>"
    yield '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">'
    yield from (f"<!-- {_comment(text)} -->" for text in _comments(run, machine))
    yield '<platform version="4.1">'
    yield '  <config id="General">'
    for key, value in (*_factors(machine), *_EXACT):
        yield f'    <prop id="{key}" value="{value}"/>'
    yield "  </config>"
    max_cores = max(Counter(machine.hosts).values())
    latency, bandwidth = machine.lines[0].latency, 1 / machine.lines[-1].per_byte
    yield (
        f'  <cluster id="machine" prefix="node-" suffix="" radical="0-{max(machine.hosts)}" '
        f'speed="1Gf" core="{max_cores}" lat="{latency / 2:.12g}s" '
        f'bw="{bandwidth:.12g}Bps" loopback_lat="{machine.loopback[0]:.12g}s" '
        f'loopback_bw="{machine.loopback[1]:.12g}Bps"/>'
    )
    yield "</platform>"


def _factors(machine: _Machine) -> list[tuple[str, str]]:
    """Return factors of latency and bandwidth by size, and up to which size a send does not wait.

    A factor holds for messages larger than the size before it, header included.
    """
    first, last = machine.lines[0], machine.lines[-1]
    starts = [
        max(line.above + MESSAGE_HEADER_BYTES, 0) if line.above >= 0 else 0
        for line in machine.lines
    ]
    latency = [line.latency / first.latency for line in machine.lines]
    bandwidth = [last.per_byte / line.per_byte for line in machine.lines]
    properties = [
        ("smpi/lat-factor", _list(starts, latency)),
        ("smpi/bw-factor", _list(starts, bandwidth)),
    ]
    if machine.eager is not None:
        properties += [
            ("smpi/async-small-thresh", str(machine.eager)),
            ("smpi/send-is-detached-thresh", str(machine.eager)),
        ]
    return properties


def _list(starts: Sequence[int], factors: Sequence[float]) -> str:
    return ";".join(f"{start}:{factor:.9g}" for start, factor in zip(starts, factors, strict=True))


def _comments(run: Run, machine: _Machine) -> Iterator[str]:
    """Return what the file was made from, and what is not known."""
    off = max(line.off for line in machine.lines)
    yield f"Times of {run.origin} messages: {machine.exact.name} {run.library.library}".strip()
    within = max(100 * off, 0.01)
    yield f"Every measured median within {within:.2g} %, in {len(machine.lines)} lines"
    yield "smpirun takes the factors from here, isochrone measure, too; its own options override"
    if machine.inside is not None:
        yield (
            f"Within a node: {machine.inside.name}, every median within "
            f"{max(100 * machine.loopback[2], 0.01):.2g} %; the factors are those between nodes"
        )
    elif len(set(machine.hosts)) < len(machine.hosts):
        yield "The same within a node and between nodes: only one of them was measured"
    yield "Not measured: processor speeds, and bandwidth shared by concurrent messages"
    if machine.eager is not None:
        yield "Assumed: messages up to the first protocol switch are sent eagerly"


def _comment(text: str) -> str:
    """Return a text that ends no comment of XML; names of libraries come from elsewhere."""
    plain = printable(text, 300).replace("--", "- -").rstrip("-")
    return plain.replace("&", "and").replace("<", "(").replace(">", ")")


EXPORTER = Exporter(
    suffix=".xml",
    holds=("sweep",),
    write=write,
    beside=(".hosts",),
    of_pairs=True,
)
