"""A binary that came with the wheel is made to load the MPI library of this machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from beds.installations import library
from isochrone.base.errors import InputError
from isochrone.measure import prebuilt
from isochrone.measure.installation import Installation
from isochrone.measure.prebuilt import ROOM, WORD, carried, fitted


@pytest.fixture
def binary(tmp_path: Path) -> Path:
    file = tmp_path / "isochrone-probe"
    file.write_bytes(b"before\0" + WORD + b"\0after")
    return file


def test_the_copy_has_the_folder_of_the_library_and_its_length(
    tmp_path: Path, binary: Path
) -> None:
    there = library(tmp_path / "lib/libmpi.so.12")
    made = fitted(binary, Installation(tmp_path / "mpicc", "mpich", there))
    content = made.read_bytes()
    folder = str(there.parent).encode()
    assert content == b"before\0" + folder + b"\0" * (ROOM - len(folder)) + b"\0after"
    assert made.stat().st_mode & 0o111
    assert fitted(binary, Installation(tmp_path / "mpicc", "mpich", there)) == made


def test_a_library_of_another_name_is_found_by_a_link(tmp_path: Path, binary: Path) -> None:
    """Debian's MPICH is called libmpich.so.12."""
    there = library(tmp_path / "lib/libmpich.so.12")
    made = fitted(binary, Installation(tmp_path / "mpicc", "mpich", there))
    assert (made.parent / "libmpi.so.12").resolve() == there
    assert str(made.parent).encode() + b"\0" in made.read_bytes()


def test_each_library_has_a_copy_of_its_own(tmp_path: Path, binary: Path) -> None:
    files = [library(tmp_path / name / "libmpi.so.12") for name in ("a", "b")]
    made = {fitted(binary, Installation(tmp_path / "mpicc", "mpich", file)) for file in files}
    assert len(made) == 2


def test_a_new_binary_is_not_taken_for_an_old_one(tmp_path: Path, binary: Path) -> None:
    where = Installation(tmp_path / "mpicc", "mpich", library(tmp_path / "lib/libmpi.so.12"))
    old = fitted(binary, where)
    binary.write_bytes(b"newer\0" + WORD + b"\0")
    assert fitted(binary, where) != old


def test_a_path_that_is_too_long_is_refused(tmp_path: Path, binary: Path) -> None:
    deep = Path("/", *["folder" * 10] * 20, "libmpi.so.12")
    with pytest.raises(InputError, match="too long"):
        fitted(binary, Installation(tmp_path / "mpicc", "mpich", deep))


def test_nothing_is_carried_for_other_processors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = library(tmp_path / "_prebuilt/mpich/isochrone-probe")
    monkeypatch.setattr(prebuilt.platform, "machine", lambda: "x86_64")
    assert carried("isochrone-probe", "mpich", tmp_path) == file
    assert carried("isochrone-probe", "openmpi", tmp_path) is None
    monkeypatch.setattr(prebuilt.platform, "machine", lambda: "riscv64")
    assert carried("isochrone-probe", "mpich", tmp_path) is None
