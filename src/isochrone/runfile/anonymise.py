"""Removes from a run file what says whose it is: hosts, paths, commands, users.

Times, placement and settings stay. Each host becomes ``host-0``, ``host-1`` … in the order of the
ranks, and each path ``/path-0`` …, the same wherever it occurs, so that what is found in the file
can still be named, and be looked up by whoever has the original.
"""

import re
from pathlib import Path

import msgspec

from isochrone.base.files import whole_file
from isochrone.base.record import Members
from isochrone.runfile.file import whole_records
from isochrone.runfile.run import Run

_PATH = re.compile(r"(?<![\w.])~?(?:/[\w.+@%~-]+)+/?")
_ACCOUNT = re.compile(r"[\w.-]+@[\w.-]+")
_HIDDEN = "(removed)"

_OF_USER = {"run": ("notes",), "file": ("name",)}
"""Members whose text is the user's own: commands and notes, names of files."""

_OURS = ("isochrone", "launcher", "binding", "launch", "preset", "algorithm", "origin")
"""Notes that Isochrone writes itself."""


class Names:
    """What was replaced, by what: `replaced` maps the original to the new name."""

    def __init__(self, run: Run) -> None:
        hosts = list(dict.fromkeys(run.hosts))
        self.replaced = {host: f"host-{k}" for k, host in enumerate(hosts)}
        short = {host.partition(".")[0]: new for host, new in self.replaced.items()}
        names = sorted({**short, **self.replaced}, key=len, reverse=True)
        self._hosts = {**short, **self.replaced}
        self._host = re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, names))})(?![\w-])")
        self._paths: dict[str, str] = {}

    def text(self, text: str) -> str:
        """Return a text without hosts, paths and accounts."""
        text = _ACCOUNT.sub(_HIDDEN, text)
        text = _PATH.sub(lambda match: self._path(match[0]), text)
        return self._host.sub(lambda match: self._hosts[match[0]], text) if self._hosts else text

    def _path(self, path: str) -> str:
        new = self._paths.setdefault(path, f"/path-{len(self._paths)}")
        self.replaced[path] = new
        return new

    def value(self, value: object) -> object:
        """Return a value of a record likewise, whatever it holds; keys stay."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self.value(item) for item in value]
        if isinstance(value, dict):
            return {key: self.value(item) for key, item in value.items()}
        return value

    def record(self, record: Members) -> Members:
        """Return a record likewise; what only the user can have written is removed."""
        for key in _OF_USER.get(str(record.get("record")), ()):
            if isinstance(record.get(key), dict):
                notes = record[key]
                record[key] = {k: v if k in _OURS else _HIDDEN for k, v in notes.items()}
            elif key in record:
                record[key] = self._path(str(record[key]))
        return {key: self.value(item) for key, item in record.items()}


def anonymise(run: Run, source: Path, target: Path) -> dict[str, str]:
    """Write a run file anew without what says whose it is; return what was replaced by what.

    Parameters
    ----------
    run
        What `isochrone.runfile.file.read` made of ``source``.

    Raises
    ------
    InputError
        If the file cannot be written.
    """
    names = Names(run)
    with whole_file(target) as stream:
        for record in whole_records(source):
            stream.write(msgspec.json.encode(names.record(record)) + b"\n")
    return names.replaced
