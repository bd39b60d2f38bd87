"""A program started as the user starts it, with a tuning table applied to its collective calls.

The library that does it is loaded into the ranks, by their environment. Where the launcher can give
that to them alone, it does: LD_PRELOAD would otherwise load an MPI library into the launcher, too.
"""

import os
import re
import shutil
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from isochrone.base.errors import InputError, failing
from isochrone.measure import discovery
from isochrone.measure import launcher as launchers
from isochrone.measure.installation import LAUNCHER
from isochrone.measure.launcher import Environ
from isochrone.measure.probe import Probe

_BY_PYTHON = (signal.SIGPIPE, signal.SIGXFSZ)
"""Signals that Python ignores, which a program that it becomes would inherit."""


def probe_of(starter: str, mpicc: str | None, named: str | None) -> Probe:
    """Find a probe for the MPI whose ranks a launcher starts.

    Parameters
    ----------
    starter
        The launcher, as the user typed it.
    mpicc, named
        The compiler wrapper, and the probe, that the user asks for.

    Raises
    ------
    InputError
        If there is no such launcher, or no probe and nothing to compile it with.
    """
    program = shutil.which(starter)
    if program is None:
        raise InputError(f"there is no program '{starter}'")
    match = LAUNCHER.fullmatch(Path(starter).name)
    return discovery.find(named, mpicc, starter=Path(program).absolute() if match else None)


def settings(
    library: Path,
    table: Path,
    environ: Environ,
    *,
    report: bool,
    reductions: bool = True,
) -> dict[str, str]:
    """Return the variables that the ranks need, in addition to ``environ``.

    ``reductions``: whether these are done on grids, too.

    Raises
    ------
    InputError
        If the path of the library has a character that LD_PRELOAD would take for its end.
    """
    variables = preloaded(library, environ) | {"ISOCHRONE_TUNING": str(table.absolute())}
    variables |= {} if reductions else {"ISOCHRONE_TUNING_REDUCTIONS": "library"}
    return variables | ({"ISOCHRONE_TUNING_REPORT": "1"} if report else {})


def preloaded(library: Path, environ: Environ) -> dict[str, str]:
    """Return the variable by which ranks load a library in addition to others.

    Raises
    ------
    InputError
        If the path of the library has a character that LD_PRELOAD would take for its end.
    """
    if re.search(r"[\s:]", str(library)):
        raise InputError(
            "the dynamic linker cannot load a library with this path",
            where=library,
            hint="set XDG_CACHE_HOME to a folder without blanks and colons",
        )
    others = environ.get("LD_PRELOAD", "")
    return {"LD_PRELOAD": f"{library}:{others}" if others else str(library)}


def with_settings(
    command: Sequence[str], library: str, variables: Environ, environ: Environ
) -> tuple[list[str], dict[str, str]]:
    """Return the command with variables for its ranks, and the environment to start it in.

    Parameters
    ----------
    command
        Tokens as the user typed them.
    library
        Version text of the MPI library: two launchers may be called ``mpiexec``.
    variables
        For the ranks.
    environ
        The user's.
    """
    match = LAUNCHER.fullmatch(Path(command[0]).name)
    name = match[1] if match else Path(command[0]).name
    candidates = [
        candidate
        for candidate in map(launchers.load, launchers.names())
        if name in candidate.starters
    ]
    fitting = [candidate for candidate in candidates if candidate.detect({}, library)]
    launcher = next(iter(fitting or candidates[: len(candidates) == 1]), None)
    options = launcher.environment(variables) if launcher else None
    theirs = {token.partition("=")[0] for token in command[1:]}
    if not options or (options[0].startswith("--") and options[0].partition("=")[0] in theirs):
        return list(command), {**environ, **variables}
    return [command[0], *options, *command[1:]], dict(environ)


def become(command: Sequence[str], environ: Environ) -> NoReturn:
    """Become the command: its exit code, its signals and its terminal are those of this process.

    Raises
    ------
    InputError
        If it cannot be started.
    """
    for signum in _BY_PYTHON:
        signal.signal(signum, signal.SIG_DFL)
    with failing(f"cannot start '{command[0]}'", where=""):
        os.execvpe(command[0], list(command), dict(environ))
