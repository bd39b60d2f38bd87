"""The tag of a wheel names the processor that its binaries are for."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from beds.mpis import ROOT
from isochrone.measure.sources import source_hash

sys.path.insert(0, str(ROOT / "prebuilt"))

hook = pytest.importorskip("hook", reason="needs hatchling")


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_the_tag_follows_from_the_target(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, machine: str
) -> None:
    """And binaries that are of other sources stay out, in a wheel for any machine."""
    (tmp_path / "probe").mkdir()
    (tmp_path / "probe/main.c").write_text("int main(void) { return 0; }\n")
    (tmp_path / "src").symlink_to(ROOT / "src")
    folder = tmp_path / "prebuilt/binaries"
    (folder / "mpich").mkdir(parents=True)
    (tmp_path / "prebuilt/sbom.py").symlink_to(ROOT / "prebuilt/sbom.py")
    binary = folder / "mpich/isochrone-probe"
    mark = f"isochrone-source {source_hash(tmp_path / 'probe')}\0"
    binary.write_bytes(b"\x7fELF " + mark.encode())
    (folder / "made-with.json").write_text(json.dumps({"target": f"{machine}-linux-gnu.2.17"}))
    data: dict[str, Any] = {"force_include": {}}
    made(tmp_path).initialize("standard", data)
    assert data["tag"] == f"py3-none-manylinux_2_17_{machine}"
    assert data["force_include"] == {str(binary): "isochrone/_prebuilt/mpich/isochrone-probe"}
    (tmp_path / "probe/main.c").write_text("int main(void) { return 1; }\n")
    other: dict[str, Any] = {"force_include": {}}
    made(tmp_path).initialize("standard", other)
    assert "tag" not in other


def made(root: Path) -> Any:
    """The hook as hatchling makes it, with an application that shows nothing."""

    class Quiet:
        def display_warning(self, text: str) -> None:
            """Nothing."""

    return hook.ReadyMade(str(root), {}, None, None, "", "wheel", Quiet())
