"""Words that pages of several kinds share: intervals, ranks, hosts, titles."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from isochrone.base.text import printable
from isochrone.base.units import format_seconds
from isochrone.runfile.run import Run
from isochrone.runfile.samples import Times

__all__ = ["interval", "of_ranks", "on_ranks", "plural", "ranges", "with_host"]


def interval(times: Times) -> str:
    """Write the interval of a median, with one unit if both ends have the same."""
    if times.n < 2:
        return "–"
    low, high = format_seconds(times.low), format_seconds(times.high)
    number, _, unit = low.partition(" ")
    return f"{number} … {high}" if high.endswith(f" {unit}") else f"{low} … {high}"


def plural(count: int, noun: str) -> str:
    """Write a number of things: ``1 rank``, ``1,024 ranks``."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def ranges(ranks: Iterable[int]) -> str:
    """Write rank numbers as ranges: ``0-3,8``."""
    parts: list[list[int]] = []
    for rank in sorted(ranks):
        if parts and rank == parts[-1][1] + 1:
            parts[-1][1] = rank
        else:
            parts.append([rank, rank])
    return ",".join(f"{a}" if a == b else f"{a}-{b}" for a, b in parts)


def with_host(rank: int, host: str) -> str:
    """Name a rank and its host, as far as that is known: ``4 (n1)``."""
    return f"{rank} ({printable(host, 40)})" if host else str(rank)


def of_ranks(run: Run) -> str:
    """Say whose times they are: ``of 8 ranks on 2 nodes``."""
    nodes = _nodes(run)
    return f"of {plural(run.size, 'rank')}" + (f" on {nodes}" if nodes else "")


def on_ranks(run: Run) -> str:
    """Say where something ran: ``on 8 ranks, 2 nodes``."""
    return ", ".join(filter(None, (f"on {plural(run.size, 'rank')}", _nodes(run))))


def _nodes(run: Run) -> str:
    """Count the nodes; empty if they are not known."""
    hosts: Sequence[str] = [host for host in dict.fromkeys(run.hosts) if host]
    return plural(len(hosts), "node") if hosts else ""
