"""What a file is that is no run file, as far as its beginning tells: users mix them up."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

__all__ = ["other_kind"]

_ENOUGH: Final = 4096
"""Bytes by which a file is known."""

_IMPORTED: Final = {
    "osu": ("the output of an OSU benchmark", re.compile(rb"^# OSU MPI", re.MULTILINE)),
    "imb": (
        "the output of the Intel MPI Benchmarks",
        re.compile(rb"Intel ?\(R\) MPI Benchmarks|^# MPI Thread Environment", re.MULTILINE),
    ),
    "mmpi": ("a log of mmpi", re.compile(rb"^# Processors: +[0-9]+ MsgLen", re.MULTILINE)),
    "matlab": ("a MATLAB file", re.compile(rb"\AMATLAB [0-9.]+ MAT-file")),
    "npz": ("a NumPy file", re.compile(rb"\APK\x03\x04.{26}[\w-]+\.npy", re.DOTALL)),
    "csv": ("a table of pairs", re.compile(rb"\A(\xef\xbb\xbf)?i,([^\n]*,)?j,")),
}
"""By format of ``isochrone import``: what the file is, and how that is seen."""

_OTHERS: Final = (
    (
        "a model",
        re.compile(rb'\A\s*\{\s*"record"\s*:\s*"model"'),
        "give it to isochrone plot, or to isochrone predict as --model",
    ),
    (
        "orders that were compared",
        re.compile(rb'\A\s*\{\s*"record"\s*:\s*"orders"'),
        "isochrone plot draws them",
    ),
    (
        "a table",
        re.compile(rb"\A(\xef\xbb\xbf)?[\w ]+(,[\w ]+)+\r?\n"),
        "isochrone fit reads tables of times",
    ),
)


def other_kind(path: Path) -> tuple[str, str]:
    """Say what a file is, and what to do with it; empty if that is not known."""
    with path.open("rb") as stream:
        begin = stream.read(_ENOUGH)
    for name, (what, pattern) in _IMPORTED.items():
        if pattern.search(begin):
            return what, f"isochrone import {path} --from {name} makes a run file of it"
    for what, pattern, hint in _OTHERS:
        if pattern.search(begin):
            return what, hint
    return "", ""
