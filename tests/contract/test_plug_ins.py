"""What every folder of plug-ins promises: it holds plug-ins, and nothing else."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import isochrone
from isochrone.base import registry

DECLARATIONS = {
    "*.readers": "READER",
    "*.variables": "VARIABLES",
    "formats.exporters": "EXPORTER",
    "formats.importers": "IMPORTER",
    "formats.placements": "PLACEMENT",
    "formats.programs": "PROGRAM",
    "formats.traces": "TRACE",
    "formats.tunings": "TUNING_FILE",
    "measure.algorithms": "ALGORITHMS",
    "measure.launchers": "LAUNCHER",
    "collective_io.patterns": "PATTERN",
}
"""The name of the declaration in which each file of a folder ends."""


def test_a_folder_says_what_is_in_it_and_holds_plug_ins_only(subtests: pytest.Subtests) -> None:
    """Types and helpers live elsewhere; only figures share files with their neighbours."""
    for family in registry.FAMILIES:
        with subtests.test(str(family)):
            folders = [*Path(isochrone.__file__).parent.glob(family.replace(".", "/"))]
            assert folders
            for folder in folders:
                body = ast.parse((folder / "__init__.py").read_text()).body
                assert len(body) == 1
                assert ast.get_docstring(ast.Module(body, []))
                assert family == "*.figures" or not list(folder.glob("_[!_]*"))
            assert registry.names(family)


def test_a_plug_in_ends_in_its_declaration(subtests: pytest.Subtests) -> None:
    """Whoever opens the file reads at its end what it does."""
    for family in DECLARATIONS:
        with subtests.test(str(family)):
            for name in registry.names(family):
                module = registry.load(family, name)
                last = ast.parse(Path(str(module.__file__)).read_text()).body[-1]
                assert isinstance(last, ast.Assign), name
                assert ast.unparse(last.targets[0]) == DECLARATIONS[family], name
