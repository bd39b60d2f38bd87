"""Lines of source code of a program's calls, from the debug information of its files."""

import re
import shutil
from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path, PurePath

from isochrone.base.errors import MeasurementError
from isochrone.measure.subprocesses import answer

DEBUG_TIMEOUT = 20.0
"""Seconds that the debug information of one file may take to read."""

_LINE = re.compile(r"(?P<file>.+):(?P<line>[0-9]+)( \(discriminator [0-9]+\))?")


def source_lines(sites: Sequence[tuple[str, int]], recorded: str) -> list[str]:
    """Return ``file.c:42`` of each site; the function, or the place in the file if that is all.

    Parameters
    ----------
    sites
        Files of machine code and offsets in them.
    recorded
        When they were found there, as in a run file. A file that was changed since says nothing.
    """
    texts = [f"{PurePath(path).name}+{offset:#x}" for path, offset in sites]
    by_file: dict[str, list[int]] = defaultdict(list)
    for k, (path, _) in enumerate(sites):
        by_file[path].append(k)
    for path, indices in by_file.items():
        if _is_unchanged(Path(path), recorded):
            lines = _lines(path, [sites[k][1] for k in indices])
            for k, line in zip(indices, lines, strict=False):
                texts[k] = line or texts[k]
    return texts


def _is_unchanged(path: Path, recorded: str) -> bool:
    try:
        began = datetime.fromisoformat(recorded).timestamp()
        resolution = 1.0  # second: as exactly as the moment of the recording is known
        return path.is_absolute() and path.is_file() and path.stat().st_mtime < began + resolution
    except (OSError, ValueError):
        return False


def _lines(path: str, offsets: Sequence[int]) -> list[str]:
    """Return lines of code, or functions, or nothing where neither is known."""
    tool = shutil.which("addr2line")
    if tool is None:
        return []
    command = [tool, "-f", "-C", "-e", path, *map(hex, offsets)]
    try:
        output = answer(command, DEBUG_TIMEOUT).stdout.splitlines()
    except MeasurementError:
        return []
    texts = []
    for function, location in zip(output[::2], output[1::2], strict=False):
        match = _LINE.fullmatch(location)
        if match and match["file"] != "??":
            texts.append(f"{PurePath(match['file']).name}:{match['line']}")
        else:
            texts.append("" if function == "??" else function)
    return texts
