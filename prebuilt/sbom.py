"""What a wheel holds, as a bill of materials (CycloneDX 1.6) that travels in it (PEP 770).

What it needs is not in it, and stands in its metadata. Nothing here depends on the time or the
machine: two builds give the same bytes.
"""

from __future__ import annotations

import hashlib
import json
import tomllib
import uuid
from pathlib import Path
from typing import Any, Final

__all__ = ["MADE_WITH", "bill"]

MADE_WITH: Final = "made-with.json"
"""Beside the folders of binaries: the compiler's version, its target, each family's MPI version."""

Component = dict[str, Any]

PARTS_OF_THE_COMPILER: Final = (
    ("compiler-rt", {"license": {"id": "MIT"}}, "the compiler's own functions"),
    (
        "glibc-start-files",
        {"license": {"name": "LGPL-2.1-or-later, which lets start files be linked into anything"}},
        "crt1.o, Scrt1.o and libc_nonshared.a of the C library that is the target",
    ),
)  # fmt: skip
"""What zig puts into what it links: name, licence, what it is."""


def bill(root: Path, version: str, source_hash: str, binaries: list[Path]) -> str:
    """Return the document for a wheel of a checkout.

    Parameters
    ----------
    root : Path
        The checkout.
    version : str
        Of the package.
    source_hash : str
        Of the probe's sources, which the wheel carries, and its binaries name.
    binaries : list of Path
        Those which it carries, below ``prebuilt/binaries/FAMILY``; none in a pure wheel.
    """
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    licence = [{"license": {"id": project["license"]}}]
    package: Component = {
        "bom-ref": f"pkg:pypi/{project['name']}@{version}", "type": "application",
        "name": project["name"], "version": version, "description": project["description"],
        "licenses": licence, "purl": f"pkg:pypi/{project['name']}@{version}",
    }  # fmt: skip
    probe: Component = {
        "bom-ref": "probe", "type": "library", "name": "isochrone-probe", "version": version,
        "description": "C sources, in isochrone/_probe", "licenses": licence,
        "properties": [{"name": "isochrone:source-hash", "value": source_hash}],
    }  # fmt: skip
    components = [probe]
    needs = {package["bom-ref"]: ["probe"], "probe": []}
    if binaries:
        made_with = json.loads((root / "prebuilt/binaries" / MADE_WITH).read_text())
        linked = [part(*one, made_with["zig"]) for one in PARTS_OF_THE_COMPILER]
        built = [binary(file, source_hash, made_with, licence) for file in binaries]
        components += [*linked, *built]
        held = ["probe", *(one["bom-ref"] for one in linked)]
        needs |= {one["bom-ref"]: [] for one in linked}
        needs |= {one["bom-ref"]: held for one in built}
        needs[package["bom-ref"]] = ["probe", *(one["bom-ref"] for one in built)]
    document = {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json", "bomFormat": "CycloneDX",
        "specVersion": "1.6", "version": 1,
        "metadata": {"component": package, "lifecycles": [{"phase": "build"}]},
        "components": components,
        "dependencies": [{"ref": ref, "dependsOn": on} for ref, on in needs.items()],
    }  # fmt: skip
    told = hashlib.sha256(json.dumps(document).encode()).hexdigest()
    document["serialNumber"] = uuid.uuid5(uuid.NAMESPACE_URL, told).urn
    return json.dumps(document, indent=1) + "\n"


def part(name: str, licence: dict[str, Any], description: str, zig: str) -> Component:
    """Return what the compiler puts into each binary."""
    return {
        "bom-ref": name, "type": "library", "name": name, "description": description,
        "licenses": [licence], "supplier": {"name": "zig", "url": ["https://ziglang.org"]},
        "properties": [{"name": "isochrone:zig", "value": zig}],
    }  # fmt: skip


def binary(
    file: Path, source_hash: str, made_with: dict[str, Any], licence: list[dict[str, Any]]
) -> Component:
    """Return a binary: its bytes, what it was made from, with what, and for which MPI libraries."""
    family = file.parent.name
    name = f"isochrone/_prebuilt/{family}/{file.name}"
    told = {
        "source-hash": source_hash, "zig": made_with["zig"], "target": made_with["target"],
        "headers-of": f"{family} {made_with['mpi'].get(family, 'probe/alone')}",
    }  # fmt: skip
    return {
        "bom-ref": name, "type": "file", "name": name, "licenses": licence,
        "hashes": [{"alg": "SHA-256", "content": hashlib.sha256(file.read_bytes()).hexdigest()}],
        "properties": [{"name": f"isochrone:{key}", "value": value} for key, value in told.items()],
    }  # fmt: skip
