"""Where ranks are, on both sides: the same place has the same number, whatever the rank.

A machine is compared with itself also where the ranks were dealt out otherwise, block before and
cyclic after. A place is a host and the how-manieth rank on it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from isochrone.base.text import printable
from isochrone.runfile.run import Rank, Run

__all__ = ["Places", "places_of"]


@dataclass(frozen=True)
class Places:
    """The places that all runs have.

    Attributes
    ----------
    of_rank
        For each run the place of each rank; -1 for one whose place another run lacks.
    hosts
        Host of each place; empty strings where hosts are not recorded. They come from elsewhere.
    names
        Each place for a person: ``3`` where ranks are matched by number, else ``n5:1``.
    rank
        The rank of the first run that is there.
    by_rank
        Whether rank numbers were matched, because they mean the same or nothing else is known.
    note
        What the user should know about it; empty if there is nothing.
    """

    of_rank: list[NDArray[np.int64]]
    hosts: list[str]
    names: list[str]
    rank: list[int]
    by_rank: bool
    note: str


def places_of(runs: Sequence[Run]) -> Places:
    """Match the ranks of runs that have the same number of them."""
    hosts = [run.hosts for run in runs]
    if not all(all(names) for names in hosts):
        return _by_rank(runs, "the hosts are not recorded: ranks are matched by their numbers")
    if all(names == hosts[0] for names in hosts):
        return _by_rank(runs, "", hosts[0])
    counts = [Counter(names) for names in hosts]
    room = {host: min(count[host] for count in counts) for host in counts[0]}
    if not any(room.values()):
        return _by_rank(runs, "no host is in all runs: ranks are matched by their numbers")
    return _by_host(runs, {host: number for host, number in room.items() if number})


def _by_rank(runs: Sequence[Run], note: str, hosts: list[str] | None = None) -> Places:
    size = runs[0].size
    numbers = list(range(size))
    ranks = [np.arange(size) for _ in runs]
    return Places(ranks, hosts or [""] * size, list(map(str, numbers)), numbers, True, note)


def _by_host(runs: Sequence[Run], room: dict[str, int]) -> Places:
    ordered = [_on_hosts(run) for run in runs]
    for host in room:
        if not _same_processors([one[host] for one in ordered]):
            for one in ordered:
                one[host].sort(key=lambda r: r.rank)
    seats = [(host, k) for host, number in room.items() for k in range(number)]
    of_rank = []
    for run, one in zip(runs, ordered, strict=True):
        places = np.full(run.size, -1)
        for place, (host, k) in enumerate(seats):
            places[one[host][k].rank] = place
        of_rank.append(places)
    note = "the ranks are placed differently: they are matched by host, and by their order on it"
    missing = {r.host for run in runs for r in run.ranks} - room.keys()
    if missing or any((places < 0).any() for places in of_rank):
        shown = ", ".join(printable(host, 40) for host in sorted(missing)[:5])
        note += "; what not all runs have is left out" + (f": {shown}" if shown else "")
    return Places(
        of_rank, [host for host, _ in seats], [f"{host}:{k}" for host, k in seats],
        [ordered[0][host][k].rank for host, k in seats], False, note,
    )  # fmt: skip


def _on_hosts(run: Run) -> dict[str, list[Rank]]:
    """Return the ranks of each host in the order of their processors."""
    found: dict[str, list[Rank]] = defaultdict(list)
    for rank in sorted(run.ranks, key=_processor):
        found[rank.host].append(rank)
    return found


def _processor(rank: Rank) -> tuple[int, int, int, int]:
    return rank.package, rank.numa, rank.core, rank.cpu


def _same_processors(sides: Sequence[list[Rank]]) -> bool:
    """Tell whether the ranks of a host have processors of their own, the same in all runs."""
    found = [[_processor(rank) for rank in ranks] for ranks in sides]
    first = found[0]
    return len(set(first)) == len(first) and all(one == first for one in found)
