"""Recognises files that are not run files by their beginning."""

import re
from pathlib import Path

from isochrone.base import registry
from isochrone.base.column_names import understood
from isochrone.base.errors import InputError, failing
from isochrone.base.files import check_ordinary
from isochrone.base.log_text import plain
from isochrone.base.table_text import decoded, table_of
from isochrone.runfile import importer as importers
from isochrone.runfile.table_notes import NOTES

_ENOUGH = 1 << 20
"""Bytes read to recognise a file: output of batch systems may precede a table."""

_PROBED_BYTES = 4096
"""Bytes that tell a run file from a table."""

_NOT_ONE = "the file is {}, not a run file"

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
        "rules of MPICH for its collective algorithms",
        re.compile(rb'\A\s*\{\s*"collective='),
        "MPICH reads it: MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE",
    ),
    (
        "a JSON document",
        re.compile(rb'\A\s*(\{\s*"(?!record)|\[(?:\s*[{\["\]]|[\d.,eE+\s-]*\]\s*\Z))'),
        "give the run files it was made from",
    ),
    (
        "a description of applications",
        re.compile(rb"\A(?:\s*#.*\n)*\s*isochrone:\s*app/"),
        "isochrone emulate, or isochrone predict app, takes it",
    ),
    (
        "a program",
        re.compile(rb"\A\x7fELF"),
        "isochrone record -- mpiexec -n 4 PROGRAM records it",
    ),
    (
        "a page or picture",
        re.compile(rb"\A\s*<(?:!doctype|html|svg)|\A\x89PNG|\A%PDF", re.IGNORECASE),
        "give the run files it was made from",
    ),
    (
        "a list of switches",
        re.compile(rb'^(?:SwitchName\s*=|Switch\s+\d+\s+"S-)', re.MULTILINE),
        "isochrone platform network:FILE reads it",
    ),
    (
        "a list of parts of a machine",
        re.compile(rb"<topology\b"),
        "isochrone platform cores:FILE reads it",
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
    begin = _read(path, _PROBED_BYTES).lstrip()
    if begin[:1] != b"{":
        begin = _read(path, _ENOUGH)
    elif b'"record"' in begin:
        return ""  # a run file, or a model
    if name := _by_signature(begin):
        return name
    whole = len(begin) < _ENOUGH
    for name in importers.names():
        recognises = importers.load(name).recognises
        if recognises and recognises(begin, whole):
            return name
    return ""


def _by_signature(begin: bytes) -> str:
    """Return the format of ``isochrone import`` whose signature is in a text; empty if none is."""
    for name in importers.names():
        signature = importers.load(name).signature
        if signature and signature.search(begin):
            return name
    return ""


def other_kind(path: Path) -> tuple[str, str]:
    """Return why a file is no run file, and how to use it; empty if it seems to be one."""
    begin = _read(path, _ENOUGH)
    if not begin.strip():
        return "", ""
    if is_of_extra_p(begin):
        return _NOT_ONE.format("of Extra-P"), "isochrone fit reads it"
    if name := _by_signature(begin):
        hint = f"convert it: isochrone import {path} --from {name}"
        return _NOT_ONE.format(importers.load(name).says), hint
    for description, pattern, hint in _OTHERS:
        if pattern.search(begin):
            return _NOT_ONE.format(description), hint
    if begin.lstrip()[:1] == b"{":
        return "", ""
    for name in registry.names("formats.traces"):
        trace = registry.load("formats.traces", name).TRACE
        if trace.signature and trace.signature.search(begin):
            hint = f"isochrone import --from {name} makes a description of the program"
            return _NOT_ONE.format(trace.says), hint
    if looks_like_a_table(path):
        return _NOT_ONE.format("a table"), _FIT_READS
    known = ", ".join(["run files", *importers.names()])
    return "not a known format", f"known are {known}; for a table: isochrone fit --map-columns"


def looks_like_a_table(path: Path) -> bool:
    """Look at the first lines: a table of measured times has a column of times, or is of Extra-P.

    Raises
    ------
    InputError
        If it cannot be read.
    """
    begin = _beginning(path)
    if "i" in NOTES.get().columns.values():  # the user says which columns are the ends of pairs
        return False
    if not begin or begin[:1] == b"{" or is_of_extra_p(begin):
        return is_of_extra_p(begin)
    if b"seconds" in begin.splitlines()[0]:
        return True
    if _by_signature(begin):
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
        return _read(path, _PROBED_BYTES).lstrip()


def _read(path: Path, count: int) -> bytes:
    with path.open("rb") as stream:
        return plain(stream.read(count))
