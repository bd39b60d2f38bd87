"""Plug-ins by file name: one file in a family's folder is one plug-in.

``names("launchers")`` lists the files without importing them; ``load("launchers", "srun")`` imports
one. A dash in the name the user types is an underscore in the file name, and a keyword of Python
has one appended.
"""

from __future__ import annotations

import keyword
import pkgutil
from importlib import import_module
from types import ModuleType
from typing import Final

from isochrone.errors import InputError

__all__ = ["FAMILIES", "load", "names"]

FAMILIES: Final = {
    "launchers": "launcher",
    "importers": "import format",
    "exporters": "export format",
    "views": "view",
    "cli": "command",
    "cli._place": "thing to place",
    "cli._predict": "kind of prediction",
    "placements": "placement file",
    "models": "model family",
}
_SUPPORT: Final = {"linear", "main", "segments"}  # files of a folder that are not plug-ins


def names(family: str) -> list[str]:
    """List the plug-ins of a family, as the user types them, in alphabetical order."""
    package = import_module(f"isochrone.{family}")
    return sorted(
        module.name.rstrip("_").replace("_", "-")
        for module in pkgutil.iter_modules(package.__path__)
        if not module.name.startswith("_") and module.name not in _SUPPORT
    )


def load(family: str, name: str) -> ModuleType:
    """Import one plug-in.

    Raises
    ------
    InputError
        If the family has no plug-in of this name; says which it has.
    """
    known = names(family)
    if name not in known:
        raise InputError(f"no {FAMILIES[family]} '{name}'", hint=f"there are: {', '.join(known)}")
    module = name.replace("-", "_")
    if keyword.iskeyword(module):  # a file cannot be imported by the name of a keyword
        module += "_"
    return import_module(f"isochrone.{family}.{module}")
