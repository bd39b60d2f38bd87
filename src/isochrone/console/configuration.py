"""What a site and a user have set for good: which value of each setting is in force, and why.

In this order: the environment (``ISOCHRONE_LAUNCHER`` …), the user's file, the site's file, and
what Isochrone does by itself. What is on the command line wins over all of them
(`isochrone.console.defaults`).
"""

import os
import shlex
import stat
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from isochrone.base.documents import Hidden, Inline, shown
from isochrone.base.errors import InputError
from isochrone.base.record import Record
from isochrone.base.text import did_you_mean, printable
from isochrone.console.options import read_percent, read_time, read_time_or_zero

SITE_FILE = Path("/etc/isochrone.toml")

SITE_VARIABLE = "ISOCHRONE_SITE_CONFIG"
"""Names another file of the site; empty: there is none."""


MAX_FILE = 1 << 16
MAX_LINE = 2000
"""Bytes: a key of n parts takes memory as the square of n."""


class Setting(Record):
    """Something that can be set.

    Attributes
    ----------
    key
        In a file, with the name of its table: ``limits.kill-after``.
    read
        Checks and converts a value of a file; raises ValueError with what it should be.
    default
        What holds if nobody sets it, in words.
    what
        What it is, in words.
    variables
        Of the environment, the first that is set counts; they hold texts.
    """

    key: str
    read: Hidden[Callable[[object], object]]
    default: str
    what: Hidden[str]
    variables: Hidden[tuple[str, ...]]

    @property
    @shown
    def variable(self) -> str:
        """The variable that counts first."""
        return self.variables[0]


class Value(Record):
    """A setting as it is in force.

    Attributes
    ----------
    setting
        Which.
    value
        Converted: seconds, parts of one, texts; None: nobody has set it.
    text
        As it was written.
    source
        ``default``, ``site``, ``user`` or ``environment``.
    where
        File or variable.
    """

    setting: Inline[Setting]
    value: Any = None
    text: Hidden[str] = ""
    source: str = "default"
    where: str = ""


def _text(value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError("a text, in quotes")
    return value


def _launcher(value: object) -> str:
    from isochrone.measure import launcher as launchers

    try:
        return launchers.named(_text(value))
    except InputError as error:
        raise ValueError(f"a launcher: {error.what}") from error


def _words(value: object) -> list[str]:
    if isinstance(value, str):  # of the environment
        return shlex.split(value)
    if not isinstance(value, list) or not all(isinstance(word, str) for word in value):
        raise ValueError('a list of texts such as ["--exclusive"]')
    return [str(word) for word in value]


def _as_typed(read: Callable[[str], float], expected: str) -> Callable[[object], float]:
    """Return a reader of numbers and texts by that of a command line."""

    def found(value: object) -> float:
        try:
            return read(str(value).strip().removesuffix(".0"))
        except InputError as error:
            raise ValueError(expected) from error

    return found


_seconds = _as_typed(read_time, 'a time above 0: seconds, or "10min"')
_seconds_or_never = _as_typed(read_time_or_zero, 'a time: seconds, or "10min"; 0: never')
_part = _as_typed(read_percent, 'a percentage such as "5%", or 0.05')


def _setting(
    key: str, read: Callable[[object], object], default: str, meaning: str, *variables: str
) -> Setting:
    variable = "ISOCHRONE_" + key.rpartition(".")[2].replace("-", "_").upper()
    return Setting(key, read, default, meaning, (variable, *variables))


SETTINGS = (
    _setting(
        "launcher", _launcher, "chosen from the batch system and the MPI", "launcher of the ranks"
    ),
    _setting("launcher-args", _words, "none", "arguments of this launcher"),
    _setting("launcher-template", _text, "none", "command of a launcher of your own"),
    _setting("mpicc", _text, "mpicc on the PATH", "compiler wrapper of the MPI", "MPICC"),
    _setting("probe", _text, "found or compiled", "program that measures"),
    _setting("limits.kill-after", _seconds, "none", "end a launch after this time"),
    _setting(
        "limits.stall-timeout",
        _seconds_or_never,
        "set by the experiment",
        "end ranks that are idle for this time",
    ),
    _setting("limits.budget", _seconds, "set by the suite", "time for a suite"),
    _setting("limits.ask-after", _seconds, "10 min", "ask before longer measurements"),
    _setting("thresholds.margin", _part, "5 %", "compare: ignore smaller differences"),
    _setting("thresholds.slow", _part, "10 %", "show, check: smallest slowdown called slow"),
)


def files(environ: Mapping[str, str]) -> list[tuple[str, Path]]:
    """Name the files that are read if they exist, the first wins: of the user, of the site."""
    home = environ.get("HOME") or "~"
    base = environ.get("XDG_CONFIG_HOME") or Path(home).expanduser() / ".config"
    paths = [("user", Path(base) / "isochrone" / "config.toml")]
    site = environ.get(SITE_VARIABLE, str(SITE_FILE))
    return [*paths, *([("site", Path(site))] if site else [])]


def values(environ: Mapping[str, str] | None = None) -> dict[str, Value]:
    """Return each setting as it is in force, by its key.

    Raises
    ------
    InputError
        If a file cannot be read, or a setting is not known or not of its kind.
    """
    environ = os.environ if environ is None else environ
    by_key = {setting.key: Value(setting) for setting in SETTINGS}
    for source, path in reversed(files(environ)):
        by_key |= {entry.setting.key: entry for entry in _of_file(path, source)}
    for setting in SETTINGS:
        variable = next((name for name in setting.variables if environ.get(name)), "")
        if variable:
            text = environ[variable]
            value = _checked(setting, text, f"${variable}")
            by_key[setting.key] = Value(setting, value, text, "environment", variable)
    return by_key


def _of_file(path: Path, source: str) -> Iterator[Value]:
    """Yield what a file sets."""
    settings = {setting.key: setting for setting in SETTINGS}
    for key, raw in _flat(_document(path, source), settings):
        if key not in settings:
            raise InputError(
                f"there is no setting '{printable(key, 60)}'",
                where=path,
                hint=f"{did_you_mean(key, [*settings])}there are: {', '.join(settings)}",
            )
        value = _checked(settings[key], raw, f"{path}: {key}")
        text = shlex.join(raw) if isinstance(raw, list) else str(raw)
        yield Value(settings[key], value, text, source, str(path))


def _document(path: Path, source: str) -> dict[str, object]:
    """Read a file; an empty one if there is none."""
    hint = f"to ignore the file: export {SITE_VARIABLE}=" if source == "site" else "correct it"
    refused = partial(InputError, where=path, hint=hint)
    try:
        mode = path.stat().st_mode
        if not stat.S_ISREG(mode) or mode & stat.S_IWOTH:
            problem = "others may write to it" if stat.S_ISREG(mode) else "it is not a regular file"
            raise refused(f"the file is refused: {problem}")
        with path.open("rb") as stream:
            data = stream.read(MAX_FILE + 1)
        if len(data) > MAX_FILE:
            raise refused(f"the file is larger than {MAX_FILE} bytes")
        for line_number, line in enumerate(data.splitlines(), 1):
            if len(line) > MAX_LINE:
                problem = f"the line has more than {MAX_LINE} bytes"
                raise refused(problem, where=f"{path}:{line_number}")
        import tomllib  # where there is a file

        return tomllib.loads(data.decode())
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        raise refused(f"the file cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:  # tomllib's own, and that of decoding
        reason = str(error).splitlines()[0]
        raise refused(f"the file is not valid TOML: {reason}") from error


def _flat(
    document: Mapping[str, object], settings: Mapping[str, Setting]
) -> Iterator[tuple[str, object]]:
    """Yield keys with the names of their tables."""
    tables = {key.partition(".")[0] for key in settings if "." in key}
    for key, value in document.items():
        if key in tables and isinstance(value, dict):
            yield from ((f"{key}.{inner}", entry) for inner, entry in value.items())
        else:
            yield key, value


def _checked(setting: Setting, raw: object, where: str) -> object:
    try:
        return setting.read(raw)
    except ValueError as error:
        raise InputError(f"{printable(repr(raw), 60)} is not {error}", where=where) from error
