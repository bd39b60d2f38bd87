"""The performance log of the mmpi program: one line per pair, mean and standard deviation in µs.

::

    # Testing Hostname: tg-login4
    # Processors: 4 MsgLen 64 Repeats: 100
    # ProcName1:rank   ProcName2:rank   AvgCommTime(usecs) StdDev
    nid00670 000   nid00670 000           0.00   0.00
    nid00670 000   nid00670 001          10.44   0.12

The times are whole round trips. A log holds one message size. A pair that was not measured has no
line; a standard deviation that is not known is written as 0.00, because the column must be filled.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from isochrone.base.files import whole_file
from isochrone.formats.exported_matrices import matrix_us, size_to_export
from isochrone.formats.exporter import Exporter
from isochrone.runfile.run import Run

_COLUMNS = "# ProcName1:rank   ProcName2:rank   AvgCommTime(usecs) StdDev\n"
_ROW = "%s %03d   %s %03d %14.2f %6.2f\n"
_UNKNOWN_HOST = "?"


def write(run: Run, path: Path, *, nbytes: int | None = None) -> None:
    """Write a latency map as a log of the mmpi program.

    Raises
    ------
    InputError
        If the run holds no pairs of this size, or the file cannot be written.
    """
    nbytes = size_to_export(run, nbytes)
    with whole_file(path) as stream:
        stream.writelines(line.encode() for line in _header(run, nbytes))
        stream.writelines(line.encode() for line in _rows(run, nbytes))


def _header(run: Run, nbytes: int) -> list[str]:
    """Write the three header lines; the repeats are left out where they are not known."""
    host = run.header.get("host")
    if not isinstance(host, str):
        host = run.hosts[0]
    repeats = _repeats(run, nbytes)
    counts = f"# Processors: {run.size} MsgLen {nbytes}"
    if repeats is not None:
        counts += f" Repeats: {repeats}"
    return [f"# Testing Hostname: {_word(host)}\n", f"{counts}\n", _COLUMNS]


def _rows(run: Run, nbytes: int) -> Iterator[str]:
    """Yield the rows in the order of the program: 0-0, 0-1, 0-2, …, 1-1, 1-2 and so on."""
    mean, stddev = matrix_us(run, "mean", nbytes), matrix_us(run, "stddev", nbytes)
    host_words = _words(run.hosts)
    hosts = [host_words[host] for host in run.hosts]
    for i in range(run.size):
        values = zip(mean[i, i:].tolist(), np.nan_to_num(stddev[i, i:]).tolist(), strict=True)
        for j, (average, deviation) in enumerate(values, start=i):
            if average == average:  # NaN: not measured
                yield _ROW % (hosts[i], i, hosts[j], j, average, deviation)


def _repeats(run: Run, nbytes: int) -> int | None:
    """Return how often each pair was measured, the minimum if it differs."""
    table = run.pairs()
    if "n" in table and table["n"].dtype.kind in "if":
        counts = table["n"][table["bytes"] == nbytes]
        counts = counts[np.isfinite(counts)]
        if len(counts):
            return int(counts.min())
    repeats = run.options.get("repeats")
    return repeats if isinstance(repeats, int) and repeats > 0 else None


def _words(hosts: Sequence[str]) -> dict[str, str]:
    """Give each host a unique word: equal ones are numbered."""
    host_words = {}
    used: dict[str, int] = {}
    # those that stay as they are come first
    for host in sorted(dict.fromkeys(hosts), key=lambda name: _word(name) != name):
        word = plain = _word(host)
        while word in used:
            used[plain] += 1
            word = f"{plain}_{used[plain]}"
        used[word] = 1
        host_words[host] = word
    return host_words


def _word(host: str) -> str:
    """Make a host name one word of the log: blanks part the columns, and # begins a comment."""
    word = "".join(c if c.isprintable() and c != " " else "_" for c in host)
    if word.startswith("#"):
        word = "_" + word[1:]
    return word or _UNKNOWN_HOST


EXPORTER = Exporter(suffix=".log", holds=("latency-map",), write=write, one_size=True)
