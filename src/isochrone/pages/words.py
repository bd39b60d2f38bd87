"""Text that several kinds of results share: ranks, nodes, plurals, intervals, warnings."""

from collections.abc import Sequence
from typing import Protocol, TypeVar

from isochrone.base.errors import InputError
from isochrone.base.inference import Estimate
from isochrone.base.record import Members
from isochrone.base.text import printable
from isochrone.base.units import format_ratio, format_seconds
from isochrone.pages.page import Warnings
from isochrone.runfile.run import Run
from isochrone.runfile.samples import Times

MAX_WARNINGS = 20

EVEN = "~1"
"""Stands behind a ratio whose interval contains 1."""


def ranges(ranks: Sequence[int]) -> str:
    """Write rank numbers as ranges: ``0-3,8``."""
    spans: list[list[int]] = []
    for rank in sorted(ranks):
        if spans and rank == spans[-1][1] + 1:
            spans[-1][1] = rank
        else:
            spans.append([rank, rank])
    return ",".join(f"{a}" if a == b else f"{a}-{b}" for a, b in spans)


def plural(count: int, noun: str) -> str:
    """Write ``1 rank``, ``1,024 ranks``."""
    return f"{count:,} {noun}{'' if count == 1 else 'es' if noun.endswith('ss') else 's'}"


def left_out(total: int, listed: int, noun: str) -> str:
    """Say how many a table leaves out; empty if none."""
    hidden = total - listed
    return f"and {plural(hidden, noun)} (--json lists all)" if hidden > 0 else ""


def interval(times: Times) -> str:
    """Write the interval of a median, with one unit if both ends have the same."""
    return "–" if times.interval is None else between(*times.interval)


def between(minimum: float, maximum: float) -> str:
    """Write two times, with one unit if both have the same: ``1.16 … 1.22 µs``."""
    low, high = format_seconds(minimum), format_seconds(maximum)
    digits, _, unit = low.partition(" ")
    return f"{digits} … {high}" if high.endswith(f" {unit}") else f"{low} … {high}"


def ratio_of(ratio: Estimate | None) -> str:
    """Write a ratio with its interval, never without."""
    if ratio is None or not ratio.known:
        return "?"
    mark = "" if ratio.differs else f" {EVEN}"
    low, high = format_ratio(ratio.low), format_ratio(ratio.high)
    return f"{format_ratio(ratio.median)} ({low} … {high}){mark}"


class _Sized(Protocol):
    @property
    def bytes(self) -> int: ...


_Item = TypeVar("_Item", bound=_Sized)


def of_size(listed: Sequence[_Item], nbytes: int | None, nothing: str, where: str) -> list[_Item]:
    """Return what has the size the user names, or all if None.

    Raises
    ------
    InputError
        If there is none.
    """
    chosen = [item for item in listed if nbytes in (None, item.bytes)]
    if nbytes is not None and not chosen:
        sizes = ", ".join(map(str, sorted({item.bytes for item in listed})))
        raise InputError(nothing, where=where, hint=f"there are: {sizes}" if sizes else "")
    return chosen


def warnings_of(records: Sequence[Members]) -> Warnings:
    """Return the texts of warnings, each once; of very many, the first."""
    texts = [str(w.get("text") or w.get("code") or "a warning without a text") for w in records]
    texts = list(dict.fromkeys(texts))
    others = len(texts) - MAX_WARNINGS
    note = [f"and {others} more"] if others > 0 else []
    return Warnings((*texts[:MAX_WARNINGS], *note))


def with_hosts(ranks: int | str, hosts: Sequence[str]) -> str:
    """Add to ranks the hosts they are on, where known: ``2–6 (n0, n2)``."""
    names = ", ".join(printable(host, 40) for host in dict.fromkeys(hosts) if host)
    return f"{ranks} ({names})" if names else str(ranks)


def of_ranks(run: Run) -> str:
    """Return the size of a run: ``of 8 ranks on 2 nodes``."""
    nodes = _nodes(run)
    return f"of {plural(run.size, 'rank')}" + (f" on {nodes}" if nodes else "")


def on_ranks(run: Run) -> str:
    """Return where something ran: ``on 8 ranks, 2 nodes``."""
    return ", ".join(filter(None, (f"on {plural(run.size, 'rank')}", _nodes(run))))


def _nodes(run: Run) -> str:
    """Count the nodes; empty if they are not known."""
    nodes = len(set(run.hosts) - {""})
    return plural(nodes, "node") if nodes else ""
