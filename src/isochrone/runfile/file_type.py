"""Recognises files that are not run files by their beginning."""

import re
from pathlib import Path

from isochrone.base.column_names import understood
from isochrone.base.errors import InputError, failing
from isochrone.base.files import check_ordinary
from isochrone.base.log_text import plain
from isochrone.base.table_text import decoded, table_of

_ENOUGH = 1 << 16
"""Bytes read to recognise a file: output of batch systems may precede a table."""

_FEW = 4096
"""Bytes that tell a run file from a table."""

_IMPORTED = {
    "osu": ("the output of an OSU benchmark", re.compile(rb"^# OSU MPI", re.MULTILINE)),
    "imb": (
        "the output of the Intel MPI Benchmarks",
        re.compile(rb"Intel ?\(R\) MPI Benchmarks|^# MPI Thread Environment", re.MULTILINE),
    ),
    "nccl-tests": (
        "the output of nccl-tests",
        re.compile(rb"^# +size +count +type .*\btime +algbw +busbw\b", re.MULTILINE),
    ),
    "mmpi": ("a log of mmpi", re.compile(rb"^# Processors: +[0-9]+ MsgLen", re.MULTILINE)),
    "matlab": ("a MATLAB file", re.compile(rb"\AMATLAB [0-9.]+ MAT-file")),
    "npz": ("a NumPy file", re.compile(rb"\APK\x03\x04.{26}[\w-]+\.npy", re.DOTALL)),
    "csv": ("a table of pairs", re.compile(rb"\Ai,([^\n]*,)?j,")),
}
"""By format of ``isochrone import``: description, and pattern."""

_FIT_READS = "isochrone fit reads tables of times; --map-columns says what theirs are"

_OTHERS = (
    (
        "a model",
        re.compile(rb'\A\s*\{\s*"record"\s*:\s*"model"'),
        "isochrone predict --model, or isochrone plot RUN --model, takes it",
    ),
    (
        "orders that were compared",
        re.compile(rb'\A\s*\{\s*"record"\s*:\s*"orders"'),
        "isochrone plot draws them",
    ),
    (
        "a JSON document",
        re.compile(rb'\A\s*(\{\s*"(?!record)|\[)'),
        "give the run files it was made from",
    ),
    (
        "a table",
        re.compile(rb"\A[\w ]+([,;\t][\w ]+)+\r?\n"),
        _FIT_READS,
    ),
)


_EXTRA_P = re.compile(
    rb"\A(?:\xef\xbb\xbf)?(?:\s|#[^\n]*\n)*PARAMETER\s"
    rb"|\A\s*\{(?![^\n]*\"record\")[^\n]*\"params\"\s*:"
)


def import_format(path: Path) -> str:
    """Return the format of ``isochrone import`` of a file by its content; empty if it has none.

    Raises
    ------
    OSError
        If it cannot be read.
    """
    begin = _read(path, _ENOUGH)
    if begin.lstrip()[:1] == b"{":
        return ""  # a run file, or a model
    return next((name for name, (_, found) in _IMPORTED.items() if found.search(begin)), "")


def other_kind(path: Path) -> tuple[str, str]:
    """Return what a file is, and how to use it; empty if unknown."""
    begin = _read(path, _ENOUGH)
    if is_of_extra_p(begin):
        return "of Extra-P", "isochrone fit reads it"
    for name, (what, pattern) in _IMPORTED.items():
        if pattern.search(begin):
            return what, f"convert it: isochrone import {path} --from {name}"
    for what, pattern, hint in _OTHERS:
        if pattern.search(begin):
            return what, hint
    return ("a table", _FIT_READS) if looks_like_a_table(path) else ("", "")


def looks_like_a_table(path: Path) -> bool:
    """Look at the first lines: a table of measured times has a column of times, or is of Extra-P.

    Raises
    ------
    InputError
        If it cannot be read.
    """
    begin = _beginning(path)
    if not begin or begin[:1] == b"{" or is_of_extra_p(begin):
        return is_of_extra_p(begin)
    if b"seconds" in begin.splitlines()[0]:
        return True
    if any(found.search(begin) for _, found in _IMPORTED.values()):
        return False
    try:
        names = table_of(decoded(begin[: begin.rfind(b"\n") + 1], ""), "").names
    except InputError:
        return False
    return any((meant := understood(name)) and meant.variable == "seconds" for name in names)


def is_of_extra_p(begin: bytes) -> bool:
    """Look at the beginning of a file: whether it holds measurements in a format of Extra-P."""
    return _EXTRA_P.search(begin) is not None


def looks_like_a_run(path: Path) -> bool:
    """Look at the first line: a run file begins with a JSON object, a CSV with a name.

    Raises
    ------
    InputError
        If it cannot be read.
    """
    begin = _beginning(path)
    return begin[:1] == b"{" and not is_of_extra_p(begin)


def _beginning(path: Path) -> bytes:
    check_ordinary(path)
    with failing("the file cannot be read", path):
        return _read(path, _FEW).lstrip()


def _read(path: Path, count: int) -> bytes:
    with path.open("rb") as stream:
        return plain(stream.read(count))
