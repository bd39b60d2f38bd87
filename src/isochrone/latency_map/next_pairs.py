"""Which pairs to measure next, where a few pairs do not show which nodes are slow.

A slow pair has a slow end, or a slow link; a node with a pair that is not slow is healthy. This
decides about nodes whose slow pairs lead to healthy nodes. Of the others, pairs with a healthy node
would decide, as in group testing (Dorfman 1943, *The detection of defective members of large
populations*). Slow pairs of healthy nodes are another level, or a slow link: then nothing is said.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from isochrone.base.arrays import Bools
from isochrone.base.record import Record
from isochrone.base.text import listed, printable
from isochrone.latency_map.pairs import Times
from isochrone.latency_map.thresholds import (
    MAX_WARNED_NAMES,
    MIN_SUSPECT_PAIRS,
    OUTLIER_RATIO,
    THIRD,
)


class NextPairs(Record):
    """What a few pairs say, and which would say more.

    Attributes
    ----------
    suspects
        Nodes that are slow if links are not.
    pairs
        Pairs of nodes that decide about the others, if they are measured.
    """

    suspects: tuple[int, ...]
    pairs: tuple[tuple[int, int], ...]

    def in_words(self, names: Sequence[str]) -> str:
        """Say it with the names of the nodes."""
        clean = [printable(name, 40) for name in names]
        said = [
            f"{clean[k]} is suspect: its pairs with healthy nodes are slow"
            for k in self.suspects[:MAX_WARNED_NAMES]
        ]
        if self.pairs:
            wanted = [f"{clean[a]}–{clean[b]}" for a, b in self.pairs]
            said.append(
                f"to decide about the other slow pairs, measure {listed(wanted, MAX_WARNED_NAMES)}"
            )
        return "; ".join(said)


def next_pairs(times: Times) -> NextPairs | None:
    """Return what slow pairs of nodes say, if the pairs are of two kinds; else None."""
    slow = _slow(times)
    if slow is None:
        return None
    fast = np.bincount(np.concatenate([times.i[~slow], times.j[~slow]]), minlength=times.units)
    bad = np.bincount(np.concatenate([times.i[slow], times.j[slow]]), minlength=times.units)
    healthy = fast > 0
    if np.any(slow & healthy[times.i] & healthy[times.j]):
        return None
    witnesses = np.zeros(times.units, dtype=np.int64)  # slow pairs with a healthy node
    for one, other in ((times.i, times.j), (times.j, times.i)):
        witnesses += np.bincount(one[slow & healthy[other]], minlength=times.units)
    suspects = np.flatnonzero(~healthy & (witnesses >= MIN_SUSPECT_PAIRS))
    partner = int(np.lexsort((-fast, bad))[0])
    if not healthy[partner]:
        partner = int(np.argmax(fast))
    met = {*zip(times.i.tolist(), times.j.tolist(), strict=True)}
    wanted = []
    open_pairs = slow & ~np.isin(times.i, suspects) & ~np.isin(times.j, suspects)
    if len(suspects) + np.sum(open_pairs) > THIRD * np.sum(fast + bad > 0):
        return None
    for i, j in zip(times.i[open_pairs].tolist(), times.j[open_pairs].tolist(), strict=True):
        wanted += [tuple(sorted((end, partner))) for end in (i, j) if not healthy[end]]
    pairs = tuple((a, b) for a, b in dict.fromkeys(wanted) if (a, b) not in met and a != b)
    return NextPairs(tuple(suspects.tolist()), pairs) if pairs or len(suspects) else None


def _slow(times: Times) -> Bools | None:
    """Mark slow pairs, if a gap wider than `OUTLIER_RATIO`, and than each kind, divides all."""
    ordered = np.sort(times.seconds)
    gaps = ordered[1:] / ordered[:-1]
    if not len(gaps) or gaps.max() < OUTLIER_RATIO:
        return None
    at = int(np.argmax(gaps))
    widest = max(ordered[at] / ordered[0], ordered[-1] / ordered[at + 1])
    return None if widest > gaps[at] else np.asarray(times.seconds > ordered[at])
