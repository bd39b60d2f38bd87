"""One list of packages and of parts serves `.ci/run`, the workflows, the Makefile and the docs."""

from __future__ import annotations

import re

from ruamel.yaml import YAML

from beds.mpis import ROOT

WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
COMPONENTS = re.compile(r"ISOCHRONE_REQUIRE[=:] ?([\w,-]+)")


def steps(workflow: dict) -> list[str]:
    """List the commands of a workflow."""
    return [
        step["run"] for job in workflow["jobs"].values() for step in job["steps"] if "run" in step
    ]


def test_workflows_install_the_one_list_of_packages() -> None:
    assert [file.stem for file in WORKFLOWS] == ["release", "test-all", "test"]
    assert ".ci/install" in (ROOT / ".ci/run").read_text()
    for file in WORKFLOWS:
        assert any(run in (".ci/run", ".ci/install") for run in steps(YAML().load(file)))


def test_the_nightly_workflow_runs_every_part_of_the_makefile() -> None:
    parts = re.search(r"^PARTS \?= (.*)$", (ROOT / "Makefile").read_text(), re.M)
    assert parts is not None
    nightly = YAML().load(ROOT / ".github/workflows/test-all.yml")
    matrix = nightly["jobs"]["part"]["strategy"]["matrix"]["part"]
    assert list(matrix) == parts[1].split()


def test_nothing_is_skipped_for_a_missing_component() -> None:
    files = [".ci/run", ".github/workflows/test-all.yml", "CONTRIBUTING.md"]
    named = {file: set(COMPONENTS.findall((ROOT / file).read_text())) for file in files}
    assert len(set.union(*named.values())) == 1, named


def test_maps_of_real_processors_are_required_where_they_lie_beside_the_checkout() -> None:
    """Protects the rates on real processors from being skipped in continuous integration."""
    run = (ROOT / ".ci/run").read_text()
    assert re.search(r"^export ISOCHRONE_FIELD=", run, re.M)
    assert re.search(r"ISOCHRONE_REQUIRE\+=,field$", run, re.M)


def test_only_the_job_that_publishes_may_prove_who_it_is() -> None:
    """Trusted publishing needs no password; what builds, and runs code of others, has no right."""
    jobs = YAML().load(ROOT / ".github/workflows/release.yml")["jobs"]
    assert jobs["build"]["permissions"] == {"contents": "read"}
    assert jobs["publish"]["permissions"] == {"id-token": "write"}
    assert jobs["publish"]["needs"] == "build"
    assert jobs["publish"]["environment"] == "release"
    assert not any("make" in step.get("run", "").split() for step in jobs["publish"]["steps"])
