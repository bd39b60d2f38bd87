"""Which MPI the user means, and which library its ranks load, is found without a compiler."""

from __future__ import annotations

import platform
from pathlib import Path

import pytest

from beds.installations import DEBIAN_OPEN_MPI, HYDRA, INTEL, OPEN_MPI, library, program
from isochrone.measure import installation
from isochrone.measure.installation import here, of_library, of_program, wrapper_next_to

DEBIAN = f"lib/{platform.machine()}-linux-gnu"


@pytest.fixture(autouse=True)
def nothing_of_this_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The machine of the tests has MPIs of its own."""
    monkeypatch.setattr(installation, "_libraries_of_linker", dict)
    monkeypatch.setattr(installation.sysconfig, "get_path", lambda name: str(tmp_path / "python"))


@pytest.mark.parametrize(
    ("says", "file", "family"),
    [
        (HYDRA, "lib/libmpi.so.12", "mpich"),
        (INTEL, "lib/release/libmpi.so.12", "mpich"),
        (OPEN_MPI, "lib/libmpi.so.40", "openmpi"),
        (OPEN_MPI, "lib64/libmpi.so.40", "openmpi"),
        ("PALS 1.2", "lib/libmpi.so.12", "mpich"),
    ],
)
def test_a_launcher_leads_to_its_library(tmp_path: Path, says: str, file: str, family: str) -> None:
    launcher = program(tmp_path / "bin/mpiexec", says)
    there = library(tmp_path / file)
    found = of_program(launcher, {})
    assert found is not None
    assert (found.family, found.library) == (family, there)
    assert found.mpicc == tmp_path / "bin/mpicc"


@pytest.mark.parametrize(
    ("suffix", "says", "name"),
    [("mpich", HYDRA, "libmpich.so.12"), ("openmpi", DEBIAN_OPEN_MPI, "libmpi.so.40")],
)
def test_two_mpis_below_one_prefix_are_told_apart_by_the_launcher(
    tmp_path: Path, suffix: str, says: str, name: str
) -> None:
    """As on Debian, where also the library of MPICH has a name of its own."""
    for file in ("libmpich.so.12", "libmpi.so.40"):
        library(tmp_path / DEBIAN / file)
    launcher = program(tmp_path / f"bin/mpiexec.{suffix}", says)
    found = of_program(launcher, {})
    assert found is not None
    assert found.library.name == name
    assert found.mpicc.name == f"mpicc.{suffix}"


def test_a_launcher_that_says_nothing_is_not_guessed_between_two(tmp_path: Path) -> None:
    for file in ("libmpi.so.12", "libmpi.so.40"):
        library(tmp_path / "lib" / file)
    assert of_program(program(tmp_path / "bin/mpiexec", "?"), {}) is None


def test_a_launcher_is_not_given_the_library_of_another_family(tmp_path: Path) -> None:
    library(tmp_path / "lib/libmpi.so.40")
    assert of_program(program(tmp_path / "bin/mpiexec", HYDRA), {}) is None


def test_a_link_to_a_launcher_leads_to_where_it_really_is(tmp_path: Path) -> None:
    there = library(tmp_path / "opt/lib/libmpi.so.12")
    real = program(tmp_path / "opt/bin/mpiexec.hydra", HYDRA)
    link = tmp_path / "bin/mpiexec"
    link.parent.mkdir()
    link.symlink_to(real)
    found = of_program(link, {})
    assert found is not None
    assert found.library == there


def test_modules_that_set_the_library_path_are_followed(tmp_path: Path) -> None:
    """The launcher of a batch system lies elsewhere than the MPI library."""
    there = library(tmp_path / "cray/lib-abi-mpich/libmpi.so.12")
    launcher = program(tmp_path / "pals/bin/mpiexec", "PALS 1.2")
    found = of_program(launcher, {"LD_LIBRARY_PATH": str(there.parent)})
    assert found is not None
    assert found.library == there
    alone = here({"LD_LIBRARY_PATH": str(there.parent)})
    assert alone is not None
    assert alone.library == there


def test_the_first_on_the_path_is_meant_unless_mpicc_says_otherwise(tmp_path: Path) -> None:
    for name, says, file in (("a", HYDRA, "libmpi.so.12"), ("b", OPEN_MPI, "libmpi.so.40")):
        program(tmp_path / name / "bin/mpiexec", says)
        program(tmp_path / name / "bin/mpicc")
        library(tmp_path / name / "lib" / file)
    path = {"PATH": f"{tmp_path / 'empty'}:{tmp_path / 'a/bin'}:{tmp_path / 'b/bin'}"}
    first, other = here(path), here(path | {"MPICC": str(tmp_path / "b/bin/mpicc")})
    assert first is not None
    assert other is not None
    assert (first.family, other.family) == ("mpich", "openmpi")


def test_the_names_of_debian_are_known(tmp_path: Path) -> None:
    """Where a machine has no alternative that is called plainly ``mpiexec``."""
    for name, says, file in (
        ("mpich", HYDRA, "libmpich.so.12"),
        ("openmpi", OPEN_MPI, "libmpi.so.40"),
    ):
        for one in ("mpiexec", "mpicc"):
            program(tmp_path / name / f"bin/{one}.{name}", says)
        library(tmp_path / name / "lib" / file)
        found = here({"PATH": str(tmp_path / name / "bin")})
        assert found is not None
        assert (found.family, found.mpicc.name) == (name, f"mpicc.{name}")


def test_the_mpi_of_a_wheel_is_found_beside_python(tmp_path: Path) -> None:
    program(tmp_path / "python/mpiexec", HYDRA)
    library(tmp_path / "lib/libmpi.so.12")
    found = here({"PATH": ""})
    assert found is not None
    assert found.mpicc == tmp_path / "python/mpicc"


def test_without_any_mpi_none_is_found(tmp_path: Path) -> None:
    assert here({"PATH": str(tmp_path)}) is None


def test_a_library_leads_to_the_launcher_above_it(tmp_path: Path) -> None:
    program(tmp_path / "bin/mpiexec", OPEN_MPI)
    program(tmp_path / "bin/mpiexec.mpich", HYDRA)
    found = of_library(library(tmp_path / DEBIAN / "libmpich.so.12.2.2"))
    assert found is not None
    assert found.mpicc.name == "mpicc.mpich"
    assert of_library(library(tmp_path / "lib/libmpi_abi.so.1")) is None


def test_a_link_in_the_place_of_usr_does_not_become_the_prefix(tmp_path: Path) -> None:
    """The dynamic linker says /lib/…, but Open MPI's mpirun refuses the prefix /."""
    program(tmp_path / "usr/bin/mpiexec", OPEN_MPI)
    library(tmp_path / "usr" / DEBIAN / "libmpi.so.40")
    for name in ("bin", "lib"):
        (tmp_path / name).symlink_to(tmp_path / "usr" / name)
    real = tmp_path / "usr/bin/mpicc"
    by_library = of_library(tmp_path / DEBIAN / "libmpi.so.40")
    on_path = here({"PATH": str(tmp_path / "bin")})
    assert by_library is not None
    assert on_path is not None
    assert by_library.mpicc == on_path.mpicc == real
    assert by_library.same(on_path)


def test_the_compiler_wrapper_is_the_one_beside_the_launcher(tmp_path: Path) -> None:
    """Two MPIs in one folder have names that differ, as on Debian."""
    for name in ("mpiexec.mpich", "mpicc.mpich", "mpiexec.hydra", "mpicc", "mpirun"):
        program(tmp_path / name)
    for starter, wrapper in (
        ("mpiexec.mpich", "mpicc.mpich"),
        ("mpiexec.hydra", "mpicc"),
        ("mpirun", "mpicc"),
    ):
        assert wrapper_next_to(tmp_path / starter) == tmp_path / wrapper
