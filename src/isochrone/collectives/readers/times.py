"""Exit times of the members of a collective operation, relative to its time.

A formula describes the last member to complete. Others may complete earlier: the root of a
broadcast, senders to a root, upper ranks of a tree. The program then continues earlier on these
ranks. Measured exit times are stored next to formulas.
"""

from collections.abc import Mapping

import numpy as np

from isochrone.base.arrays import Array, Floats
from isochrone.base.units import MAX_SECONDS
from isochrone.collectives.measured import Leaving
from isochrone.models.data.extension import Kept, SampleReader
from isochrone.runfile.run import Run

_SIMULTANEOUS_SHARE = 0.98
"""Members that leave no earlier than this part of the time leave together."""

MAX_MEMBERS = 64
"""Maximum number of stored members of an operation, evenly spaced."""

_TIME_DIGITS = 4


def leaving(_: Run, columns: Mapping[str, Array]) -> list[Leaving]:
    """Return median exit times of operations whose members do not exit together.

    Parameters
    ----------
    columns
        Of the samples that count: ``op``, ``p``, ``bytes``, ``times`` of the members, ``root`` (of
        the first member, where there is no such column), and ``group``, of runs with grids. Without
        ``times`` the result is empty.
    """
    if not {"op", "p", "bytes", "times"} <= set(columns):
        return []
    measured: dict[tuple[str, int, int, str], list[Floats]] = {}
    samples = len(columns["op"])
    defaults = {"root": np.zeros(samples, dtype=np.int64), "group": np.full(samples, "")}
    names = ("op", "p", "bytes", "times", "root", "group")
    rows = ({**defaults, **columns}[name].tolist() for name in names)
    for op, ranks, size, times, root, group in zip(*rows, strict=True):
        usable = (
            all(type(n) in (int, float) and abs(n) < 2**53 for n in (ranks, size, root))
            and isinstance(times, list)
            and len(times) == int(ranks) > 1
            and all(type(t) in (int, float) and 0 <= t <= MAX_SECONDS for t in times)
            and max(times) > 0
        )
        if not usable:
            continue
        from_root = np.roll(np.array(times, dtype=np.float64), -int(root))
        key = str(op), len(times), int(size), str(group)
        measured.setdefault(key, []).append(from_root / from_root.max())
    typical = {key: np.median(rows, axis=0) for key, rows in measured.items()}
    return [
        Leaving(
            op,
            ranks,
            size,
            np.round(
                fractions[np.arange(n := min(ranks, MAX_MEMBERS)) * ranks // n], _TIME_DIGITS
            ).tolist(),
            group,
        )
        for (op, ranks, size, group), fractions in typical.items()
        if fractions.min() < _SIMULTANEOUS_SHARE
    ]


READER = SampleReader({"leaving": Kept(Leaving, leaving)})
