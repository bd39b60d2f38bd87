"""What was found, in words: the sentences a person reads first."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final

from isochrone.base.units import format_bytes, format_seconds
from isochrone.runfile.run import Run

__all__ = [
    "describe_date",
    "describe_levels",
    "describe_placement",
    "describe_ranks",
    "title_of",
]

_ORIGIN: Final = {"made up": "made-up", "simulated": "simulated"}
_TITLES: Final = {
    "null": "latency map", "point-to-point": "point-to-point sweep",
    "bisection": "bisection sweep", "collective": "sweep of collectives",
    "hotspot": "hot spot", "tile-io": "collective I/O of tiles",
}  # fmt: skip
_INNER: Final = {
    "package": "on the same processor",
    "numa": "in the same NUMA domain",
}
_BEYOND: Final = {
    "package": "on the same node but on different processors",
    "numa": "on the same node but in different NUMA domains",
    "group": "on the same node but further apart",
}


def title_of(run: Run) -> str:
    """Return the title of a run: what was measured, where."""
    what = _TITLES.get(run.experiment, run.experiment.replace("-", " "))
    what = f"{_ORIGIN.get(run.origin, '')} {what}".strip()
    what = what[:1].upper() + what[1:]
    hosts = set(run.hosts) - {""}
    nodes = f" on {_plural(len(hosts), 'node')}" if hosts else ""
    join = "on" if run.experiment in ("collective", "hotspot", "tile-io") else "of"
    nodes = nodes.replace(" on ", ", ") if join == "on" else nodes
    return f"{what} {join} {_plural(run.size, 'rank')}{nodes}"


def describe_date(text: object) -> str:
    """Write the date of a run file as people do; leave alone what is no such date."""
    try:
        date = datetime.fromisoformat(str(text)).astimezone(UTC)
    except (ValueError, OverflowError):
        return str(text or "")
    return f"{date.day} {date:%B %Y, %H:%M} UTC"


def describe_levels(levels: Sequence[dict[str, Any]], hosts: Sequence[str]) -> list[dict[str, Any]]:
    """Say of each level which ranks it is about, how long it takes, and against the closest."""
    rows: list[dict[str, Any]] = []
    first = next((level["median"] for level in levels if level["pairs"]), None)
    for k, level in enumerate(levels):
        if not level["pairs"]:
            continue
        median = level["median"]
        ratio = median / first if rows and first else None
        rows.append({
            "level": level["level"],
            "where": _where(levels, k, hosts),
            "round_trip": format_seconds(median),
            "one_way": format_seconds(median / 2),
            "ratio": _ratio(ratio) if ratio else "",
            "pairs": level["pairs"],
            "groups": _groups(level["groups"]),
        })  # fmt: skip
    return rows


def describe_placement(placement: dict[str, Any], hosts: Sequence[str]) -> str:
    """Say how the ranks were dealt out to the nodes."""
    counts = placement["ranks_per_node"]
    if not all(hosts):
        return "Where the ranks ran was not recorded."
    if len(counts) == 1:
        return f"All {counts[0]} ranks ran on one node, {hosts[0]}."
    if max(counts) == 1:
        return f"Each of the {len(counts)} ranks ran on a node of its own."
    low, high = min(counts), max(counts)
    each = f"{low} on each" if low == high else f"between {low} and {high} on one"
    how = {
        "block": "The ranks fill one node after the other",
        "cyclic": "The ranks are dealt out to the nodes in turn",
    }.get(placement["kind"], "The ranks are spread over the nodes in no regular order")
    return f"{how}: {len(counts)} nodes, {each} ({placement['kind']} placement)."


def describe_ranks(ranks: Sequence[int]) -> str:
    """Write rank numbers briefly: ``0–3, 8``."""
    parts: list[list[int]] = []
    for rank in sorted(ranks):
        if parts and rank == parts[-1][1] + 1:
            parts[-1][1] = rank
        else:
            parts.append([rank, rank])
    return ", ".join(f"{a}" if a == b else f"{a}–{b}" for a, b in parts)


def describe_slow(part: dict[str, Any], hosts: Sequence[str]) -> dict[str, str]:
    """Name a slow part, with the ratio and the evidence."""
    ranks = part.get("ranks", [])
    names = {
        "node": f"Node {part['who']}",
        "rank": str(part["who"])[:1].upper() + str(part["who"])[1:],
        "switch": f"The switch of {part['who']}",
    }
    name = names.get(part["kind"], f"{str(part['kind']).capitalize()} {part['who']}")
    if part["kind"] == "pair" and len(ranks) == 2 and all(hosts):
        a, b = ranks
        name = f"The link between rank {a} ({hosts[a]}) and rank {b} ({hosts[b]})"
    evidence = str(part.get("evidence", ""))
    return {
        "name": name, "ratio": _ratio(part["ratio"]),
        "evidence": evidence[:1].upper() + evidence[1:],
    }  # fmt: skip


def describe_sizes(sizes: Sequence[int]) -> str:
    """List message sizes: ``64 B, 1 KiB and 4 MiB``."""
    texts = [format_bytes(size) for size in sizes]
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}"


def _where(levels: Sequence[dict[str, Any]], k: int, hosts: Sequence[str]) -> str:
    """Say which ranks are this far apart and no closer."""
    name, groups = levels[k]["name"], levels[k]["groups"]
    closer = next((level for level in reversed(levels[:k]) if level["pairs"]), None)
    if name in _INNER:
        return _INNER[name]
    if name == "node":
        return _BEYOND.get(closer["name"], "on the same node") if closer else "on the same node"
    if not all(hosts):
        return "in the same group" if len(groups) > 1 else "farthest from each other"
    spans = [len({hosts[rank] for rank in group}) for group in groups]
    if max(spans) == 1:
        return "in the same part of a node"
    wide_before = closer is not None and any(
        len({hosts[rank] for rank in group}) > 1 for group in closer["groups"]
    )
    if len(groups) == 1:
        return "in different groups of nodes" if wide_before else "on different nodes"
    return "on different nodes of one group, perhaps behind one switch"


def _groups(groups: Sequence[Sequence[int]]) -> str:
    if len(groups) == 1:
        return "all ranks"
    if len(groups) <= 6 and all(len(describe_ranks(g)) <= 16 for g in groups):
        return " | ".join(describe_ranks(group) for group in groups)
    sizes = sorted({len(group) for group in groups})
    each = f"{sizes[0]}" if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]}"
    return f"{len(groups)} groups of {each}"


def _ratio(ratio: float) -> str:
    return f"{ratio:.0f}×" if ratio >= 100 else f"{ratio:.2g}×" if ratio >= 10 else f"{ratio:.1f}×"


def _plural(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
