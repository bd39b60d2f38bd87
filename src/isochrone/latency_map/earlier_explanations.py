"""Explanations found before: hypotheses for further maps of the same pairs, by one command."""

from collections.abc import Sequence

from isochrone.base.arrays import Floats, Ints
from isochrone.latency_map.explanation import Explanation, Part
from isochrone.latency_map.pairs import Times
from isochrone.latency_map.partitions import Partition

_Key = tuple[int, bytes, bytes, bytes, tuple[bytes, ...]]
Slowed = dict[Part, tuple[Ints, Floats]]


class Known:
    """The latest explanation of the maps that have the same pairs, and which pairs each part slows.

    A map of the same pairs is explained on the same hierarchy first, and the search is left out
    only if that leaves nothing to be found.
    """

    def __init__(self) -> None:
        self._found: dict[_Key, Explanation] = {}
        self._paying: dict[_Key, Slowed] = {}

    @staticmethod
    def _key(times: Times, recorded: Sequence[Partition]) -> _Key:
        return (
            times.units, times.i.tobytes(), times.j.tobytes(), times.root.tobytes(),
            tuple(p.tobytes() for p in recorded),
        )  # fmt: skip

    def slowed(self, times: Times, recorded: Sequence[Partition]) -> Slowed:
        """Return the pairs that each part slows, as far as known; to be added to."""
        return self._paying.setdefault(self._key(times, recorded), {})

    def of(self, times: Times, recorded: Sequence[Partition]) -> Explanation | None:
        """Return the latest explanation of a map of these pairs; None without one."""
        return self._found.get(self._key(times, recorded))

    def add(self, times: Times, recorded: Sequence[Partition], found: Explanation) -> None:
        """Remember the explanation of a map."""
        self._found[self._key(times, recorded)] = found
