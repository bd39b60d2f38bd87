"""Files for simulators say what they rest on, and what they cannot know."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from beds.command_line import Command
from beds.golden import Golden
from isochrone.formats.exporters import goal_loggops, simgrid
from isochrone.runfile.file import write
from made_up import sweeps


def test_the_platform_has_the_hosts_of_the_ranks_and_the_factors(tmp_path: Path) -> None:
    """Two nodes of two ranks; a switch at 64 KiB; the file is XML with SMPI's settings."""
    run = sweeps.point_to_point(noise=0.0, repeats=1)
    path = tmp_path / "p.xml"
    simgrid.write(run, path)
    root = ElementTree.parse(path).getroot()
    props = {prop.get("id"): prop.get("value") for prop in root.iter("prop")}
    assert {"smpi/lat-factor", "smpi/bw-factor", "smpi/async-small-thresh"} <= props.keys()
    starts = [float(part.split(":")[0]) for part in str(props["smpi/lat-factor"]).split(";")]
    assert starts == [0, 65536 + 16]
    assert props["smpi/async-small-thresh"] == "65536"
    (cluster,) = root.iter("cluster")
    assert cluster.get("radical") == "0-1"
    assert cluster.get("core") == "2"
    hosts = (tmp_path / "p.hosts").read_text().split()
    assert hosts == ["node-0", "node-0", "node-1", "node-1"]


def test_a_hostile_name_of_a_library_does_not_end_the_comment(tmp_path: Path) -> None:
    run = sweeps.point_to_point(noise=0.0, repeats=1)
    run.header["mpi"] = {"library": "x --> <platform> & -"}
    simgrid.write(run, tmp_path / "p.xml")
    assert ElementTree.parse(tmp_path / "p.xml").getroot().tag == "platform"
    goal_loggops.write(run, tmp_path / "p.loggops")
    assert len((tmp_path / "p.loggops").read_text().splitlines()) == 5


def test_the_line_of_loggopsim_has_latency_and_gap_a_byte_and_says_what_is_not_known(
    isochrone: Command, tmp_path: Path, golden: Golden
) -> None:
    """1.2 µs and 6 GB/s without a switch: L 1200 ns, G 1/6 ns a byte, o and g said to be open."""
    run = sweeps.point_to_point(sweeps.line(), noise=0.0, repeats=1)
    write(run, tmp_path / "p.jsonl")
    done = isochrone("export", tmp_path / "p.jsonl", "--to", "goal-loggops")
    assert done.returncode == 0
    golden(done.stderr)
    *comments, line = (tmp_path / "p.loggops").read_text().splitlines()
    assert all(comment.startswith("# ") for comment in comments)
    assert "L + 2o" in "".join(comments)
    found = re.fullmatch(r"-L (\d+) -o 0 -g 0 -G (\S+) -O 0 -S (\d+)", line)
    assert found
    assert int(found[1]) == pytest.approx(1200, abs=1)
    assert float(found[2]) == pytest.approx(1 / 6, rel=1e-3)
    assert int(found[3]) == 2**31 - 1


def test_the_export_says_that_only_one_level_is_exact(
    isochrone: Command, tmp_path: Path, golden: Golden
) -> None:
    run = sweeps.point_to_point(noise=0.0, repeats=1, pairs=((0, 1), (0, 3), (1, 2)))
    write(run, tmp_path / "p.jsonl")
    done = isochrone("export", tmp_path / "p.jsonl", "--to", "simgrid")
    assert done.returncode == 0
    golden(done.stderr)
    golden((tmp_path / "p.xml").read_text())
