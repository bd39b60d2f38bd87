"""Applications emulated on simulated machines: slowdowns that are known on paper."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from beds.mpis import PATIENCE, ROOT, SCRIPTS
from beds.simulation import Simulation
from isochrone.applications.emulation.summary import Emulation, sharing
from isochrone.applications.emulation.summary import emulation as summary
from isochrone.measure.platforms import parse
from isochrone.runfile.file import read
from isochrone.runfile.run import Run


def emulated(simulation: Simulation, machine: str, spec: Path, *options: str) -> Run:
    """Emulate on all cores of a machine."""
    simulation.count += 1
    platform = simulation.folder / f"{simulation.count}.xml"
    out = platform.with_suffix(".jsonl")
    made = parse(machine)
    platform.write_text(made.xml())
    platform.with_suffix(".hosts").write_text(made.hosts())
    argv = [
        SCRIPTS / "isochrone",
        "emulate",
        spec,
        "-n",
        str(len(made.hosts().split())),
        "--quiet",
        "--launcher",
        "simgrid",
        "--platform",
        platform,
        "-o",
        out,
        *options,
    ]
    answer = subprocess.run(argv, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert answer.returncode == 0, answer.stderr
    return read(out)


def ratios(found: Emulation) -> dict[tuple[str, str], float]:
    return {(one.app, found.beside(one.beside)): one.wall.median for one in found.slowdowns}


def sender(name: str, ranks: list[int], nbytes: str, **more: Any) -> dict[str, Any]:
    """Return an application that streams messages from its first rank to its second."""
    exchange = {"topology": "pipeline", "bytes": nbytes}
    return {
        "name": name,
        "ranks": 2,
        "place": {"ranks": ranks},
        "iterations": 20,
        "phases": [{"exchange": exchange}],
        **more,
    }


def test_two_streams_through_one_link_take_twice_as_long_each(
    simulation: Simulation, tmp_path: Path
) -> None:
    """Both go from node 0 to node 1; a third, from node 2 to node 3, disturbs nobody."""
    spec = tmp_path / "links.yaml"
    apps = [
        sender("victim", [0, 2], "1MiB"),
        sender("bully", [1, 3], "1MiB", background=True),
        sender("elsewhere", [4, 6], "1MiB", background=True),
    ]
    spec.write_text(json.dumps({"isochrone": "app/1", "apps": apps}))
    runs = "alone,victim+bully,victim+elsewhere,all"
    found = summary(emulated(simulation, "nodes:4 cores:2", spec, "--combinations", runs))
    ratio = ratios(found)
    assert ratio["victim", "bully"] == pytest.approx(2, rel=0.05)
    assert ratio["victim", "all others"] == pytest.approx(2, rel=0.05)
    assert ratio["victim", "elsewhere"] == pytest.approx(1, abs=1e-3)
    for one in found.slowdowns:
        disturbed = {one.app, *one.beside}
        assert one.wall.differs == ({"victim", "bully"} <= disturbed and one.number != 2)
    assert all(one.overlap > 0.99 for one in found.walls if one.number == 0)


def test_the_four_patterns_of_figure_2_do_not_disturb_each_other_on_links_of_their_own(
    simulation: Simulation,
) -> None:
    run = emulated(
        simulation,
        "nodes:16",
        ROOT / "examples/apps/fig2.yaml",
        "--repeats",
        "5",
        "--combinations",
        "alone,all",
    )
    found = summary(run)
    assert list(ratios(found).values()) == pytest.approx([1.0] * 4, abs=1e-3)
    assert not any(one.wall.differs for one in found.slowdowns)
    assert all(share.delivered == pytest.approx(1, abs=1e-3) for share in found.shares)
    assert run.origin == "simulated"


@pytest.fixture
def alike(simulation: Simulation, tmp_path: Path) -> list[str | Path]:
    """Return a command that emulates four ranks that only compute, on four nodes of one core."""
    machine = parse("nodes:4")
    platform = simulation.folder / "one-core.xml"
    platform.write_text(machine.xml())
    platform.with_suffix(".hosts").write_text(machine.hosts())
    app = {"name": "busy", "ranks": 4, "iterations": 3, "phases": [{"compute": "1ms"}]}
    spec = tmp_path / "busy.yaml"
    spec.write_text(json.dumps({"isochrone": "app/1", "apps": [app]}))
    return [
        SCRIPTS / "isochrone",
        "emulate",
        spec,
        "--platform",
        platform,
        "-o",
        tmp_path / "busy.jsonl",
    ]


def test_ranks_that_share_a_core_take_as_many_times_as_long(
    alike: list[str | Path], tmp_path: Path
) -> None:
    """A run file for each number of ranks on a node, a table of slowdowns, a picture."""
    argv = [*alike, "--per-node", "1,2,4"]
    said = subprocess.run(argv, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert said.returncode == 0, said.stderr
    runs = [read(tmp_path / f"busy-ppn{k}.jsonl") for k in (1, 2, 4)]
    assert [len(set(run.hosts)) for run in runs] == [4, 2, 1]
    ((name, found),) = sharing(runs).items()
    assert (name, [k for k, _, _ in found]) == ("busy", [1, 2, 4])
    assert [one.median for _, one, _ in found] == pytest.approx([3e-3, 6e-3, 12e-3], rel=0.01)
    assert [one.median for _, _, one in found] == pytest.approx([1, 2, 4], rel=0.01)
    assert (tmp_path / "busy.png").read_bytes().startswith(b"\x89PNG")
    assert "4.00 (4.00 … 4.00)" in said.stdout


@pytest.mark.parametrize("asked", ["1,x", "0", "1,8", "1 -n 8"])
def test_ranks_on_a_node_that_cannot_be_are_one_line(
    asked: str, alike: list[str | Path], tmp_path: Path
) -> None:
    """No number, more than the job has ranks, or more nodes than the platform has."""
    argv = [*alike, "--per-node", *asked.split()]
    said = subprocess.run(argv, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert (said.returncode, said.stderr.count("\n")) == (2, 1), said.stderr
    assert not list(tmp_path.glob("*.jsonl"))
