"""The folder where programs and libraries are kept that were made for this machine's MPI."""

from __future__ import annotations

import os
from pathlib import Path

from isochrone.base.errors import InputError

__all__ = ["cache_folder"]


def cache_folder() -> Path:
    """Return the folder, and make it.

    Raises
    ------
    InputError
        If it cannot be made.
    """
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    folder = Path(base) / "isochrone"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"cannot create it: {error.strerror}", where=str(folder), hint="set XDG_CACHE_HOME"
        ) from error
    return folder
