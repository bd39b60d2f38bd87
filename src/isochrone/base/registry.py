"""Plug-ins by file name: one file (or folder) in a family's folder is one plug-in.

``names("measure.launchers")`` lists the plug-ins without importing any; ``load("measure.launchers",
"srun")`` imports one. ``*.figures`` are those in the folder ``figures`` of every subject; a file
whose name begins with ``_`` is shared by its neighbours, and no plug-in.

A dash in the name the user types is an underscore in the file name, and a
keyword of Python has one appended.
"""

import keyword
import re
from collections.abc import Callable
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TypeVar

from isochrone.base.errors import InputError, IsochroneError
from isochrone.base.text import did_you_mean

FAMILIES = {
    "*.families": "model family",
    "*.figures": "view",
    "*.kinds": "kind of result",
    "*.readers": "reader of samples",
    "*.records": "kind of result",
    "*.sweeps": "special sweep",
    "*.variables": "set of variables",
    "applications.topologies": "topology",
    "cli.commands": "command",
    "cli.commands.baseline": "step of a baseline",
    "cli.commands.place": "thing to place",
    "cli.commands.predict": "kind of prediction",
    "cli.commands.tune": "thing to tune",
    "collective_io.patterns": "access pattern",
    "formats.exporters": "export format",
    "formats.importers": "import format",
    "formats.placements": "placement file",
    "formats.programs": "program format",
    "formats.traces": "trace format",
    "formats.tunings": "tuning file",
    "measure.algorithms": "family of MPI libraries",
    "measure.launchers": "launcher",
}
"""Folders of plug-ins, and what a person calls one of them."""

_Kind = TypeVar("_Kind")

_PACKAGE = Path(__file__).parents[1]

_NO_ROOM = re.compile("cannot allocate memory|failed to map segment", re.IGNORECASE)
"""Error text of the system for a library without enough memory."""


def names(family: str) -> list[str]:
    """List the plug-ins of a family, as the user types them, in alphabetical order."""
    return list(_folders(family))


@cache
def _folders(family: str) -> dict[str, Path]:
    """Return the folder of each plug-in, by name."""
    folders = {
        file.stem.rstrip("_").replace("_", "-"): folder
        for folder in _PACKAGE.glob(family.replace(".", "/"))
        for file in folder.iterdir()
        if not file.name.startswith("_")
        and (file.suffix == ".py" or (file / "__init__.py").is_file())
    }
    return dict(sorted(folders.items()))


def load(family: str, name: str) -> ModuleType:
    """Import one plug-in.

    Raises
    ------
    InputError
        If the family has no plug-in of this name; lists them. If it cannot be imported; says
        the file and the reason.
    """
    available = names(family)
    if name not in available:
        hint = f"{did_you_mean(name, available)}there are: {', '.join(available)}"
        raise InputError(f"there is no {FAMILIES[family]} '{name}'", hint=hint)
    try:
        folder = _folders(family)[name].relative_to(_PACKAGE.parent)
        return import_module(".".join([*folder.parts, _module(name)]))
    except IsochroneError:
        raise
    except Exception as error:  # a file of a user may raise anything
        reason = f"{type(error).__name__}: {error}"
        if isinstance(error, MemoryError) or _NO_ROOM.search(reason):
            raise MemoryError from error
        raise InputError(
            f"the {FAMILIES[family]} cannot be loaded: {reason}", where=path_of(family, name)
        ) from error


def family(
    folder: str, attribute: str, kind: type[_Kind]
) -> tuple[Callable[[], list[str]], Callable[[str], _Kind]]:
    """Return what lists the plug-ins of a family, and what loads one; errors as of `load`.

    Parameters
    ----------
    folder
        One of `FAMILIES`.
    attribute
        What a plug-in's file declares, …
    kind
        … and of which class that is.
    """

    def loaded(name: str) -> _Kind:
        plugin: _Kind = getattr(load(folder, name), attribute)
        return plugin

    return partial(names, folder), loaded


@cache
def summary(family: str, name: str) -> str:
    """Return the first line of a plug-in's docstring, which is its help, without importing it."""
    with path_of(family, name).open(encoding="utf-8", errors="replace") as stream:
        return stream.readline().strip().strip('"').rstrip(".")


def path_of(family: str, name: str) -> Path:
    """Return the file of a plug-in."""
    path = _folders(family)[name] / _module(name)
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def _module(name: str) -> str:
    """Return the file name of what the user types; a file cannot be imported as a keyword."""
    module = name.replace("-", "_")
    return f"{module}_" if keyword.iskeyword(module) else module
