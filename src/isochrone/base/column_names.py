"""What a column of a table is, by its name: ``Avg Latency(us)`` is a mean time in µs.

A name is split into words at blanks, marks and capitals. Those of a unit and of a statistic are set
apart; the others must be, all of them, how one quantity is called. So ``Bandwidth (MB/s)`` or
``sync time`` is none.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from isochrone.base.units import unit_of

_COUNT = r"(?:total )?(?:#|n|no|nr|nb|num|number)(?: of)? ?"
_MANY = r"(?:mpi )?(?:ranks|procs|processes|processors|tasks|pes)"
_RANK = r"(?:mpi )?(?:rank|proc|process|processor|task|pe)"
_MESSAGE = r"(?:# )?(?:message|msg|buffer|buf|payload|data)? ?"
_LONG = r"(?:wall |wall clock |execution |exec |elapsed |run |completion )?"
_JOB_SIZE = rf"{_COUNT}{_RANK}|{_RANK} count|(?:comm|communicator|world) size"
_NAMES = {
    "p": rf"p|np|(?:{_COUNT})?{_MANY}|{_JOB_SIZE}",
    "ppn": rf"ppn|(?:{_COUNT})?{_MANY} per node",
    "nodes": rf"(?:{_COUNT})?nodes|{_COUNT}node|node count",
    "b": rf"b|{_MESSAGE}(?:size|len|length|n?bytes?)(?: in)?(?: bytes?| b)?",
    "seconds": rf"{_LONG}(?:time|latency|lat|t|duration|elapsed|runtime)",
    "op": r"(?:mpi )?(?:op|operation|collective|coll)(?: name)?|mpi (?:function|call|routine)",
}
"""How the words of a name are, by variable; those of a time may be its unit alone."""

_STATISTICS = {
    "avg": "mean",
    "average": "mean",
    "mean": "mean",
    "median": "median",
    "med": "median",
    "p50": "median",
    "min": "min",
    "minimum": "min",
    "max": "max",
    "maximum": "max",
}

PREFERRED = ("median", "mean", "", "max", "min")
"""Statistics of a time, the one to fit first; empty: none is named, as where OSU means the mean."""

_TIME_UNIT = re.compile(r"(m|milli|u|µ|micro|n|nano|)(?:s|secs?|seconds?)")
_PREFIXES = {"": ("s", 1.0), "m": ("ms", 1e-3), "u": ("µs", 1e-6), "n": ("ns", 1e-9)}

_SIZE_UNITS = {
    1000.0: "kB",
    1000.0**2: "MB",
    1000.0**3: "GB",
    1024.0: "KiB",
    1024.0**2: "MiB",
    1024.0**3: "GiB",
}

_CAPITALS = re.compile(r"(?<=[a-z])(?=[A-Z])(?!B\b)")
_WORD = re.compile(r"[a-zµ]+[0-9]*|[0-9]+|#")


@dataclass(frozen=True)
class ColumnName:
    """What a name says of its column.

    Attributes
    ----------
    variable
        ``p``, ``ppn``, ``nodes``, ``b``, ``seconds`` or ``op``.
    unit, factor
        The unit that is named, and how many seconds or bytes it is; empty and 1 if none is.
    statistic
        One of `PREFERRED`.
    latency
        Whether a time is called a latency.
    """

    variable: str
    unit: str = ""
    factor: float = 1.0
    statistic: str = ""
    latency: bool = False


def understood(name: str) -> ColumnName | None:
    """Return what a column is, by its name; None if that is not known."""
    plain = name.replace("\N{GREEK SMALL LETTER MU}", "µ")
    words = _WORD.findall(_CAPITALS.sub(" ", plain).lower())
    unit, factor, kind = _unit(words)
    words = words[: len(words) - bool(unit)]
    statistics = [_STATISTICS[word] for word in words if word in _STATISTICS]
    text = " ".join(word for word in words if word not in _STATISTICS)
    variable = next((key for key, how in _NAMES.items() if re.fullmatch(how, text)), "")
    if not text and kind == "time":
        variable = "seconds"
    wanted = {"seconds": "time", "b": "size"}.get(variable, "")
    if not variable or (unit and kind != wanted) or len(statistics) > (variable == "seconds"):
        return None
    return ColumnName(
        variable, unit, factor, "".join(statistics), latency="lat" in text and kind != "time"
    )


def _unit(words: Sequence[str]) -> tuple[str, float, str]:
    """Return the unit that is the last of some words, its factor, and of what it is."""
    last = words[-1] if words else ""
    if (time := _TIME_UNIT.fullmatch(last)) and (len(words) > 1 or len(last) > 1):
        prefix = time[1].replace("µ", "u")
        unit, factor = _PREFIXES["u" if prefix == "micro" else prefix[:1]]
        return unit, factor, "time"
    size = unit_of(last)
    if len(last) > 1 and size is not None and size[1] == "size":
        return _SIZE_UNITS[size[0]], size[0], "size"
    return "", 1.0, ""
