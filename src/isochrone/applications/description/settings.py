"""Parameters and ranks that are asked for instead of those of the description."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from isochrone.applications.description.description import Description
from isochrone.base.errors import InputError

__all__ = ["apply"]

_RANKS: Final = ("p", "ranks")


def apply(document: dict[str, Any], description: Description, settings: Mapping[str, str]) -> None:
    """Put settings into the document of a description.

    Parameters
    ----------
    document
        Is changed.
    description
        What it says.
    settings
        Values by name: of a parameter, wherever it is defined; ``p`` or ``ranks`` of the only
        application; ``APP.`` and one of these.

    Raises
    ------
    InputError
        If nothing has this name.
    """
    names = [app.name for app in description.apps]
    for setting, value in settings.items():
        owner, dot, name = setting.rpartition(".")
        if not dot and setting in _RANKS and len(names) > 1:
            raise InputError(
                f"which application has {value} ranks?", where=f"--set {setting}",
                hint=f"write {names[0]}.{setting}={value}",
            )  # fmt: skip
        if dot and owner not in names:
            raise InputError(
                f"no application '{owner}'", where=f"--set {setting}",
                hint=f"there are: {', '.join(names)}",
            )  # fmt: skip
        apps = [app for app in document["apps"] if not dot or app["name"] == owner]
        if name in _RANKS:
            apps[0]["ranks"] = value
            continue
        owners = [
            each
            for each in ([] if dot else [document]) + apps
            if name in each.get("parameters", {})
        ]
        if not owners:
            raise InputError(
                f"no parameter '{name}'", where=f"--set {setting}", hint=_known(document)
            )
        for each in owners:
            each["parameters"][name] = value


def _known(document: dict[str, Any]) -> str:
    """List the parameters that there are."""
    found = list(document.get("parameters", {}))
    for app in document["apps"]:
        found += [f"{app['name']}.{name}" for name in app.get("parameters", {})]
    return f"there are: {', '.join([*found, 'p'])}"
