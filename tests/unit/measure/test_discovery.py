"""Where the probe comes from: named, on the PATH, with the package, and only then compiled."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from beds.golden import Golden
from beds.installations import HYDRA, OPEN_MPI, library, program
from isochrone.base.errors import InputError, MeasurementError
from isochrone.measure import discovery, installation, prebuilt
from isochrone.measure.probe import Probe

OURS = "0123456789abcdef"
LIBRARY = "MPICH Version: 4.0"
VERSION = f"isochrone-probe 0.1.0 source {OURS}\\n{LIBRARY}"
OLD = VERSION.replace(OURS, "fedcba9876543210")
MARK = f"# isochrone-source {OURS}\0".encode()

PACKAGE, PATH = "came with the package", "on the PATH"  # origins of a probe


@dataclass
class Machine:
    """A made-up machine: an MPI, a package, and what was said and compiled."""

    folder: Path
    monkeypatch: pytest.MonkeyPatch
    told: list[str] = field(default_factory=list)

    def find(self, named: str | None = None, mpicc: str | None = None, **more: Path) -> Probe:
        return discovery.find(named, mpicc, tell=self.told.append, **more)

    def mpi(self, says: str = HYDRA, file: str = "libmpi.so.12") -> Path:
        """Install an MPI with a compiler wrapper; return its launcher."""
        program(self.folder / "mpi/bin/mpicc")
        library(self.folder / "mpi/lib" / file)
        return program(self.folder / "mpi/bin/mpiexec", says)

    def on_path(self, says: str = VERSION, code: int = 0) -> Path:
        """Put a probe on the PATH."""
        return program(self.folder / "site/bin/isochrone-probe", says, code)

    def in_package(self, says: str = VERSION, mark: bytes = MARK, family: str = "mpich") -> None:
        """Let the package carry a probe and a library."""
        for name in ("isochrone-probe", "libisochrone-grid.so"):
            file = program(self.folder / "package/_prebuilt" / family / name, says)
            file.write_bytes(file.read_bytes() + mark)


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    there = Machine(tmp_path, monkeypatch)
    path = f"{tmp_path / 'site/bin'}:{tmp_path / 'mpi/bin'}:/usr/bin:/bin"
    monkeypatch.setenv("PATH", path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("LD_LIBRARY_PATH", raising=False)
    monkeypatch.delenv("ISOCHRONE_PROBE", raising=False)
    monkeypatch.setattr(installation, "_libraries_of_linker", dict)
    monkeypatch.setattr(discovery, "own_hash", lambda: OURS)
    carried = prebuilt.carried
    monkeypatch.setattr(
        prebuilt, "carried", lambda name, family: carried(name, family, tmp_path / "package")
    )
    monkeypatch.setattr(prebuilt.platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(
        discovery.probe, "build", lambda mpicc: Probe(Path("/compiled"), mpicc, "compiled")
    )
    monkeypatch.setattr(
        discovery.probe, "build_library", lambda mpicc, name: Path(f"/compiled-{name}-{mpicc.name}")
    )
    return there


def test_each_place_comes_before_the_next(machine: Machine) -> None:
    machine.mpi()
    assert machine.find().origin == "compiled"
    machine.in_package()
    assert machine.find().origin == PACKAGE
    there = machine.on_path()
    assert (machine.find().path, machine.find().origin) == (there, PATH)
    own = program(machine.folder / "own", VERSION)
    assert (machine.find(str(own)).path, machine.find(str(own)).origin) == (own, "named")
    machine.monkeypatch.setenv("ISOCHRONE_PROBE", str(own))
    assert machine.find().path == own
    assert machine.find(mpicc="mpicc").origin == "compiled"
    assert machine.told == []


def test_a_compiler_wrapper_that_is_named_compiles(machine: Machine) -> None:
    machine.mpi()
    machine.in_package()
    machine.on_path()
    found = machine.find(mpicc="mpicc")
    assert (found.origin, found.mpicc) == ("compiled", machine.folder / "mpi/bin/mpicc")


def test_launchers_are_those_of_the_mpi_of_the_probe(machine: Machine) -> None:
    machine.mpi()
    machine.in_package()
    assert machine.find().mpicc == machine.folder / "mpi/bin/mpicc"
    assert machine.find().library == LIBRARY


def test_one_of_other_sources_on_the_path_is_passed_over_and_said(machine: Machine) -> None:
    machine.mpi()
    machine.in_package()
    machine.on_path(OLD)
    assert machine.find().origin == PACKAGE
    (line,) = machine.told
    assert "site/bin/isochrone-probe: skipped" in line
    assert "another version" in line


@pytest.mark.parametrize("says", [OLD, "isochrone-probe 0.1.0\\nMPICH Version: 4.0"])
def test_one_of_other_sources_is_used_with_a_warning_if_it_is_named(
    machine: Machine, says: str, golden: Golden
) -> None:
    """Also one that is too old to know what it was built from."""
    machine.mpi()
    own = program(machine.folder / "own", says)
    assert machine.find(str(own)).path == own
    (line,) = machine.told
    assert "another version" in line
    golden(line)


def test_one_of_other_sources_in_the_package_is_not_even_copied(machine: Machine) -> None:
    machine.mpi()
    machine.in_package(mark=b"# isochrone-source 777\0")
    assert machine.find().origin == "compiled"
    assert "another version" in machine.told[0]
    assert not [*(machine.folder / "cache").glob("isochrone/prebuilt-*")]


def test_one_that_does_not_run_is_passed_over(machine: Machine, golden: Golden) -> None:
    """Such as one whose library is too old for it."""
    machine.mpi()
    machine.in_package("", MARK)
    machine.on_path("libmpi.so.12: undefined symbol' >&2; echo '", code=127)
    assert machine.find().origin == "compiled"
    assert len(machine.told) == 2
    assert "undefined symbol" in machine.told[0]
    own = str(machine.folder / "site/bin/isochrone-probe")
    with golden.refusal():
        machine.find(own)


def test_the_family_is_that_of_the_launcher(machine: Machine) -> None:
    machine.mpi(OPEN_MPI, "libmpi.so.40")
    machine.in_package(family="mpich")
    assert machine.find().origin == "compiled"
    machine.in_package(family="openmpi")
    assert machine.find().origin == PACKAGE


def test_one_on_the_path_for_another_family_is_passed_over(
    machine: Machine, golden: Golden
) -> None:
    machine.mpi(OPEN_MPI, "libmpi.so.40")
    machine.in_package(family="openmpi")
    machine.on_path()
    other = library(machine.folder / "other/lib/libmpi.so.12")
    program(machine.folder / "other/bin/mpiexec", HYDRA)
    machine.monkeypatch.setattr(discovery, "library_file", lambda path: other)
    assert machine.find().origin == PACKAGE
    golden(machine.told[0])


def test_the_launcher_of_a_program_says_which_mpi_is_meant(machine: Machine) -> None:
    machine.mpi()
    machine.in_package(family="mpich")
    machine.in_package(family="openmpi")
    other = program(machine.folder / "other/bin/mpiexec", OPEN_MPI)
    library(machine.folder / "other/lib/libmpi.so.40")
    found = machine.find(starter=other)
    assert found.mpicc == machine.folder / "other/bin/mpicc"
    wrapper = program(machine.folder / "third/bin/mpicc")
    starter = program(machine.folder / "third/bin/mpiexec", "says nothing")
    machine.monkeypatch.setattr(discovery, "_meant", lambda starter: None)
    assert machine.find(starter=starter).mpicc == wrapper


@pytest.mark.parametrize("says", ["", "hello", "isochrone-grid 1"])
def test_what_is_no_probe_is_refused_if_it_is_named(
    machine: Machine, says: str, golden: Golden
) -> None:
    machine.mpi()
    with golden.refusal():
        machine.find(str(program(machine.folder / "own", says)))
    with pytest.raises(InputError, match="no program"):
        machine.find(str(machine.folder / "absent"))
    with pytest.raises(InputError, match="no program"):
        machine.find(str(machine.folder))


def test_the_library_comes_from_where_the_probe_comes_from(
    machine: Machine, golden: Golden
) -> None:
    machine.mpi()
    assert discovery.library(machine.find(), "io") == Path("/compiled-io-mpicc")
    machine.in_package()
    found = discovery.library(machine.find(), "grid", machine.told.append)
    assert found.name == "libisochrone-grid.so"
    assert found.parent.name.startswith("prebuilt-")
    machine.on_path()
    installed = library(machine.folder / "site/lib/isochrone/libisochrone-grid.so")
    installed.write_bytes(MARK)
    assert discovery.library(machine.find(), "grid", machine.told.append) == installed
    assert machine.told == []
    installed.write_bytes(b"isochrone-source fedcba9876543210\0")
    assert discovery.library(machine.find(), "grid", machine.told.append) == found
    assert "another version" in machine.told.pop()
    old = machine.find(str(machine.on_path(OLD)))
    golden(machine.told.pop())
    assert discovery.library(old, "grid", machine.told.append) == installed
    assert machine.told == []


def test_a_library_that_is_nowhere_is_compiled(machine: Machine) -> None:
    machine.mpi()
    machine.on_path()
    assert discovery.library(machine.find(), "record") == Path("/compiled-record-mpicc")


@pytest.mark.slow
def test_a_missing_header_of_intel_mpi_has_a_hint(tmp_path: Path) -> None:
    """Its mpicc from PyPI does not know where it is."""
    program(tmp_path / "make", "fatal error: mpi.h: No such file or directory", 2)
    wrapper = program(tmp_path / "mpicc")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
        with pytest.raises(MeasurementError) as error:
            discovery.probe.build(wrapper)
    assert "I_MPI_ROOT" in error.value.hint


def test_an_mpi_without_probe_and_compiler_is_not_called_missing(
    machine: Machine, golden: Golden
) -> None:
    machine.mpi().with_name("mpicc").unlink()
    machine.monkeypatch.setenv("PATH", f"{machine.folder / 'mpi/bin'}")
    machine.monkeypatch.setattr(
        discovery.probe.sysconfig, "get_path", lambda name: str(machine.folder)
    )
    with golden.refusal():
        machine.find()


def test_wrappers_as_debian_calls_them_come_before_that_of_a_wheel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(tmp_path / "wheel/mpicc")
    monkeypatch.delenv("MPICC", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setattr(discovery.probe.sysconfig, "get_path", lambda name: str(tmp_path / "wheel"))
    for name, found in (
        ("none", "wheel/mpicc"),
        ("mpicc.openmpi", "bin/mpicc.openmpi"),
        ("mpicc.mpich", "bin/mpicc.mpich"),
        ("mpicc", "bin/mpicc"),
    ):
        program(tmp_path / "bin" / name)
        assert discovery.probe.find_mpicc() == tmp_path / found
