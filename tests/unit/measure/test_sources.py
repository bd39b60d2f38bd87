"""The package and the Makefile agree about which sources a binary was built from."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from beds.mpis import ROOT
from isochrone.measure.sources import embedded, source_hash, sources


def hash_of_make(folder: Path) -> str:
    """Let make say what it would compile with, without compiling."""
    argv = ["make", "--dry-run", "-C", str(folder), "BUILD=build/other", "MPICC=cc"]
    said = subprocess.run(argv, capture_output=True, text=True, check=True, timeout=60).stdout
    found = re.search(r'-DISO_SOURCE=\'"([0-9a-f]{16})"\'', said)
    assert found is not None, said
    return found[1]


@pytest.mark.usefixtures("mpich")
def test_make_computes_the_hash_of_the_package() -> None:
    assert hash_of_make(ROOT / "probe") == source_hash(sources())


def test_a_change_a_new_file_and_a_new_name_are_other_sources(tmp_path: Path) -> None:
    (tmp_path / "base").mkdir()
    (tmp_path / "main.c").write_text("int main(void);\n")
    (tmp_path / "base/a.c").write_text("int a;\n")
    (tmp_path / "Makefile").write_text((ROOT / "probe/Makefile").read_text())
    seen = [hash_of_make(tmp_path)]
    assert seen == [source_hash(tmp_path)]
    for change in (
        lambda: (tmp_path / "base/a.c").write_text("int b;\n"),
        lambda: (tmp_path / "base-b.h").write_text(""),
        lambda: (tmp_path / "base/a.c").rename(tmp_path / "base/Z.c"),
    ):
        change()
        seen.append(hash_of_make(tmp_path))
        assert seen[-1] == source_hash(tmp_path)
    assert len(set(seen)) == 4
    (tmp_path / "build").mkdir()
    (tmp_path / "build/registry.c").write_text("int made;\n")
    (tmp_path / "notes.txt").write_text("of no consequence\n")
    assert hash_of_make(tmp_path) == source_hash(tmp_path) == seen[-1]


PRODUCTS = (
    "isochrone-probe",
    "libisochrone-grid.so",
    "libisochrone-record.so",
    "libisochrone-io.so",
)

COMPILER = """#!/bin/sh
for word; do case "$word" in -DISO_SOURCE=*) source="$word";; esac; done
while [ "$1" != -o ]; do shift; done
echo "$source" >> "$2"
"""


@pytest.mark.usefixtures("mpich")
def test_any_change_of_the_sources_makes_all_binaries_anew(tmp_path: Path) -> None:
    """What was just installed must not be passed over as built from other sources."""
    folder = tmp_path / "probe"
    shutil.copytree(ROOT / "probe", folder, ignore=shutil.ignore_patterns("build"))
    (tmp_path / "cc").write_text(COMPILER)
    (tmp_path / "cc").chmod(0o755)

    def built() -> dict[str, list[str]]:
        argv = ["make", "-s", "-C", str(folder), f"MPICC={tmp_path / 'cc'}", "all", "library"]
        subprocess.run(argv, check=True, timeout=60)
        return {name: (folder / "build" / name).read_text().split() for name in PRODUCTS}

    once = built()
    assert built() == once, "nothing changed"
    with (folder / "interposer/table.c").open("a") as source:
        source.write("/* of one library only */\n")
    twice = built()
    for name in PRODUCTS:
        assert len(twice[name]) == 2, f"{name} is not made anew"
        assert source_hash(folder) in twice[name][1]


def test_the_hash_is_read_from_a_file_without_loading_it(tmp_path: Path) -> None:
    (tmp_path / "l.so").write_bytes(b"\x7fELF..isochrone-source \0isochrone-source 0123ab\0..")
    assert embedded(tmp_path / "l.so") == "0123ab"
    (tmp_path / "old.so").write_bytes(b"\x7fELF")
    assert embedded(tmp_path / "old.so") == ""
    assert embedded(tmp_path / "absent.so") == ""
