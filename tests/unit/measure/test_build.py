"""The probe is built whatever characters the paths of compiler wrapper and cache hold."""

from __future__ import annotations

from pathlib import Path

import pytest

from isochrone.measure import probe


@pytest.mark.slow
@pytest.mark.usefixtures("processes")
@pytest.mark.parametrize("name", ["plain", "a b", "it's $HOME #1: 50% (x);y"])
def test_names_of_folders_are_only_names(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / name
    folder.mkdir()
    wrapper = folder / "mpicc"
    wrapper.write_text('#!/bin/sh\nfor w; do [ "$p" = -o ] && echo made > "$w"; p=$w; done\n')
    wrapper.chmod(0o755)
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
    built = probe.build(wrapper)
    assert built.path.read_text().startswith("made\n")
    assert built.path.is_relative_to(folder)
