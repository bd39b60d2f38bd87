"""A matrix with a number for each pair: times, or bandwidths, of anyone's program.

Square, or a triangle; with or without the names of ranks in its first row and column; the cells
separated by commas, semicolons, tabs or blanks. The title above says the unit if it ends in one,
``(us)`` or ``(GB/s)``, as that of p2pBandwidthLatencyTest and nvbandwidth. mpiGraph writes MiB/s,
and hp2p MiB/s into its HTML page. Row i and column j are a message from i to j, unless the title
says ``<-``, or the name of the row ``from``.
"""

import re
from pathlib import Path

import numpy as np
from msgspec.structs import replace

from isochrone.base.log_text import plain
from isochrone.base.matrix_text import TextMatrix, matrices_in
from isochrone.base.table_text import decoded
from isochrone.base.text import listed, printable
from isochrone.base.units import parse_bytes
from isochrone.formats.imported_map import OF_RATES, Pairs, both_ways, default_bytes
from isochrone.formats.source import Source
from isochrone.runfile.importer import Importer
from isochrone.runfile.run import MAX_MATRIX_RANKS, Run
from isochrone.runfile.table_notes import NOTES, RATES, TIMES, TableNotes

_IN_TITLE = re.compile(r"[(\s]in ([\w/µ]+)|\(([\w/µ]+)\)")
_MPIGRAPH = re.compile(r"^ *START mpiGraph", re.MULTILINE)
_HP2P = re.compile(r"var hostlist = \s*\[([^\]]*)\].*?var bandwidth = \s*\[(.*?)\]\s*;", re.DOTALL)
_SIZE = re.compile(r"(?:^ *MsgSize\s+|var msg_size = \s*)(\d{1,15})\b", re.MULTILINE)
_SIZE_IN_TITLE = re.compile(r"\bof size (\d{1,9} ?[KMG]iB)\b")
_ONE_WAY = re.compile(r"P2P=\w+ Latency")
"""p2pBandwidthLatencyTest times copies from one GPU to the other."""

_PROCESS = re.compile(r"^ *Process (\d{1,7}) \(([^()\s]+)\): device \d", re.MULTILINE)
"""nvbandwidth on several nodes: rank and host."""

_BACKWARDS = re.compile(r"<-(?!>)|^Recv\b.*\bRecv$")
_ENDS = re.compile(r"(\w+)\(row\).* (\w+)\(column\)")
_LISTED = 6


def read(path: Path) -> Run:
    """Read a matrix of pairs as a latency map; `NOTES` says what the file does not.

    Raises
    ------
    InputError
        If it cannot be read, has no matrix, or its unit is not known.
    """
    source, notes = Source.open(path, "matrix"), NOTES.get()
    text = decoded(plain(source.data), str(path))
    matrix = _chosen(source, text, notes)
    in_title = _unit(text, matrix.title)
    unit = in_title or notes.unit
    if notes.unit and in_title not in ("", notes.unit):
        source.warn("unit-in-file", f"the file says {in_title}: --unit {notes.unit} is not used")
    if not unit:
        hint = "isochrone import and show take it: --unit ns, us, ms, s or GB/s"
        raise source.fail("the matrix does not say its unit", matrix.line, hint=hint)
    rate = unit in RATES
    size = _SIZE.search(text)
    titled = _SIZE_IN_TITLE.search(matrix.title)
    stated = parse_bytes(titled[1]) if titled else int(size[1]) if size else 0
    nbytes = stated or default_bytes(rate)
    one_way = rate or notes.one_way or _ONE_WAY.search(matrix.title) is not None
    if not one_way:
        source.warn(
            "round-trip-assumed",
            "the times are taken for round trips: if they are of one message, add --one-way",
        )
    values = matrix.values.T if _BACKWARDS.search(matrix.title) else matrix.values
    np.fill_diagonal(values, np.nan)
    i, j = np.nonzero(values > 0)
    negative = np.argwhere(values < 0)
    if len(negative):
        raise source.fail(
            f"the number of ranks {negative[0][0]} and {negative[0][1]} is negative", matrix.line
        )
    numbers = values[i, j]
    seconds = nbytes / (numbers * RATES[unit]) if rate else numbers * TIMES[unit]
    columns = {"i": i, "j": j, "bytes": np.full(len(i), nbytes), "mean": seconds}
    names = [re.sub(r":\d+$", "", name) for name in matrix.names if not name.isdecimal()]
    pairs = Pairs(
        len(values),
        dict(enumerate(names)) or {int(rank): host for rank, host in _PROCESS.findall(text)},
        both_ways(columns, one_way=one_way, rate=rate),
        extra=OF_RATES if rate else {},
    )
    return pairs.run(source)


def _chosen(source: Source, text: str, notes: TableNotes) -> TextMatrix:
    """Return the matrix that is wanted: that with the words, or the first that has a unit."""
    matrices = [*_of_hp2p(text), *filter(_of_alike, matrices_in(text))]
    if not matrices:
        raise source.fail("the file has no matrix", hint="it needs a row for each of its columns")
    titles = [printable(one.title, 100) for one in matrices]
    fitting = [one for one in matrices if notes.matrix.lower() in one.title.lower()]
    if not fitting:
        raise source.fail(
            f"no matrix has '{printable(notes.matrix, 60)}' in its title",
            hint=f"there are: {listed(titles, _LISTED)}",
        )
    chosen = next((one for one in fitting if _unit(text, one.title)), fitting[0])
    if len(fitting) > 1:
        others = [title for one, title in zip(matrices, titles, strict=True) if one is not chosen]
        source.warn(
            "several-matrices",
            f"read: '{printable(chosen.title, 100)}'; --matrix WORDS "
            f"chooses another: {listed(others, _LISTED)}",
        )
    if len(chosen.values) > MAX_MATRIX_RANKS:
        raise source.fail(f"a matrix of {len(chosen.values)} ranks is above {MAX_MATRIX_RANKS}")
    return chosen


def _unit(text: str, title: str) -> str:
    """Return the unit that a title names; empty if none."""
    if title == _HP2P_TITLE or (_MPIGRAPH.search(text) and title[:4] in ("Send", "Recv")):
        return "MiB/s"
    words = [word for pair in _IN_TITLE.findall(title) for word in pair if word]
    return next((word for word in words if word in TIMES or word in RATES), "")


_HP2P_TITLE = "Bandwidth of hp2p"


def _of_hp2p(text: str) -> list[TextMatrix]:
    """Read the matrix in the script of a page that hp2p wrote."""
    found = _HP2P.search(text) if "var hostlist" in text else None
    if not found:
        return []
    names = re.findall(r'"([^"]*)"', found[1])
    rows = "\n".join(
        row.replace(" ", "").rstrip(",") for row in re.findall(r"\[([^\]]*)\]", found[2] + "]")
    )
    return [
        replace(one, title=_HP2P_TITLE, names=tuple(names) if len({*names}) > 1 else ())
        for one in matrices_in(rows)
    ]


def _of_alike(matrix: TextMatrix) -> bool:
    """Whether rows and columns are alike: not CPUs and GPUs, as in some tests of nvbandwidth."""
    ends = _ENDS.search(matrix.title)
    return ends is None or ends[1] == ends[2]


def _recognises(begin: bytes, whole: bool) -> bool:
    if b"var hostlist" in begin and b"hp2p" in begin.lower():
        return True
    text = begin.decode("latin-1")
    complete_lines = text if whole else text[: text.rfind("\n") + 1]
    return any(map(_of_alike, matrices_in(complete_lines, whole=whole)))


IMPORTER = Importer(holds="latency-map", read=read, recognises=_recognises)
