"""Puts the ready-made binaries into the wheel, if there are any of the sources that it carries.

Without them, which is the rule when a checkout is installed, the wheel is pure Python and the probe
is compiled where it is needed. `build.py` makes them. A list of what the wheel then holds is put
into it, too: `sbom.py`.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

TAG = "py3-none-manylinux_2_17_{}"
"""With the processor that the binaries are for."""


class ReadyMade(BuildHookInterface):
    """Adds ``prebuilt/binaries/FAMILY`` as ``isochrone/_prebuilt/FAMILY``, and the bill."""

    scratch: tempfile.TemporaryDirectory[str] | None = None

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Say which files, and that the wheel is for one kind of machine if it has binaries."""
        if version == "editable":
            return
        root = Path(self.root)
        binaries = root / "prebuilt" / "binaries"
        files = sorted(binaries.glob("*/*"))
        sys.path[:0] = [str(root / "src"), str(root / "prebuilt")]
        try:
            from sbom import MADE_WITH, bill

            from isochrone.measure.sources import embedded, source_hash
        except ImportError as error:
            self.app.display_warning(f"without ready-made binaries and a bill: {error}")
            return
        finally:
            del sys.path[:2]
        ours = source_hash(root / "probe")
        made_with = (binaries / MADE_WITH).is_file()  # written last: all were built
        if files and not (made_with and all(embedded(file) == ours for file in files)):
            self.app.display_warning(
                "left out of the wheel: prebuilt/binaries are not of these sources; try: make wheel"
            )
            files = []
        if "sbom_files" in build_data:  # since hatchling 1.29
            self.scratch = tempfile.TemporaryDirectory()  # a checkout may be read-only
            file = Path(self.scratch.name) / "isochrone.cdx.json"
            file.write_text(bill(root, self.metadata.version, ours, files))
            build_data["sbom_files"].append(str(file))
        if files:
            target = json.loads((binaries / MADE_WITH).read_text())["target"]
            self.carry(files, target.partition("-")[0], build_data)

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Leave nothing behind."""
        if self.scratch:
            self.scratch.cleanup()

    @staticmethod
    def carry(files: list[Path], machine: str, build_data: dict[str, Any]) -> None:
        """Put binaries for a machine into the wheel."""
        for file in files:
            name = f"isochrone/_prebuilt/{file.parent.name}/{file.name}"
            build_data["force_include"][str(file)] = name
        build_data["pure_python"] = False
        build_data["tag"] = TAG.format(machine)
