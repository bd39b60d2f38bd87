"""Puts the ready-made binaries into the wheel, if there are any of the sources that it carries.

Without them, which is the rule when a checkout is installed, the wheel is pure Python and the probe
is compiled where it is needed. `build.py` makes them.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

TAG = "py3-none-manylinux_2_17_x86_64"


class ReadyMade(BuildHookInterface):
    """Adds ``prebuilt/binaries/FAMILY`` as ``isochrone/_prebuilt/FAMILY``."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Say which files, and that the wheel is for one kind of machine."""
        root = Path(self.root)
        files = sorted((root / "prebuilt" / "binaries").glob("*/*"))
        if version == "editable" or not files:
            return
        sys.path.insert(0, str(root / "src"))
        try:
            from isochrone.measure.sources import embedded, source_hash  # noqa: PLC0415
        except ImportError as error:
            self.app.display_warning(f"left out of the wheel: prebuilt/binaries ({error})")
            return
        finally:
            sys.path.pop(0)
        ours = source_hash(root / "probe")
        if any(embedded(file) != ours for file in files):
            self.app.display_warning(
                "left out of the wheel: prebuilt/binaries are of other sources; try: make wheel"
            )
            return
        for file in files:
            name = f"isochrone/_prebuilt/{file.parent.name}/{file.name}"
            build_data["force_include"][str(file)] = name
        build_data["pure_python"] = False
        build_data["tag"] = TAG
