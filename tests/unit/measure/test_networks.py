"""Machines from the files of Slurm, ibnetdiscover and hwloc."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from isochrone.base.errors import InputError
from isochrone.measure.networks import read_network
from isochrone.measure.platforms import parse

SLURM = """# a tree of three levels
SwitchName=leaf1 Nodes=cn[01-02]
switchname=leaf2 Nodes=cn[03-04] LinkSpeed=2
SwitchName=leaf3 Nodes=cn05
SwitchName=spine Switches=leaf[1-2]
SwitchName=core Switches=spine,leaf3
"""
SCONTROL = """SwitchName=s0 Level=0 LinkSpeed=1 Nodes=tux[0-3]
SwitchName=s1 Level=0 LinkSpeed=1 Nodes=tux[4-7]
SwitchName=s2 Level=1 LinkSpeed=1 Nodes=tux[0-7] Switches=s[0-1]
"""
INFINIBAND = """vendid=0x2c9
Switch\t36 "S-0a"\t\t# "MF0;leaf1:SX6036/U1" enhanced port 0 lid 2 lmc 0
[1]\t"H-01"[1](2c902) \t\t# "node1 mlx4_0" lid 11 4xFDR
[2]\t"H-03"[1](2c904) \t\t# "node2 mlx4_0" lid 12 4xFDR
[35]\t"S-0c"[1]\t\t# "MF0;spine:SX6036/U1" lid 1 4xFDR
[36]\t"S-0c"[2]\t\t# "MF0;spine:SX6036/U1" lid 1 4xFDR

Switch\t36 "S-0b"\t\t# "MF0;leaf2:SX6036/U1" enhanced port 0 lid 3 lmc 0
[1]\t"H-05"[1](2c906) \t\t# "<node3> mlx4_0" lid 13 4xFDR
[36]\t"S-0c"[3]\t\t# "MF0;spine:SX6036/U1" lid 1 4xFDR

Switch\t36 "S-0c"\t\t# "MF0;spine:SX6036/U1" enhanced port 0 lid 1 lmc 0
[1]\t"S-0a"[35]\t\t# "MF0;leaf1:SX6036/U1" lid 2 4xFDR
[2]\t"S-0a"[36]\t\t# "MF0;leaf1:SX6036/U1" lid 2 4xFDR
[3]\t"S-0b"[36]\t\t# "MF0;leaf2:SX6036/U1" lid 3 4xFDR

Ca\t1 "H-01"\t\t# "node1 mlx4_0"
[1](2c902) \t"S-0a"[1]\t\t# lid 11 lmc 0 "MF0;leaf1:SX6036/U1" lid 2 4xFDR

Ca\t1 "H-03"\t\t# "node2 mlx4_0"
[1](2c904) \t"S-0a"[2]\t\t# lid 12 lmc 0 "MF0;leaf1:SX6036/U1" lid 2 4xFDR

Ca\t1 "H-05"\t\t# "<node3> mlx4_0"
[1](2c906) \t"S-0b"[1]\t\t# lid 13 lmc 0 "MF0;leaf2:SX6036/U1" lid 3 4xFDR
"""
CORES = '<topology><object type="Package">' + '<object os_index="0" type="Core"/>' * 6 + "</object>"


def of(folder: Path, text: str) -> Path:
    path = folder / "network"
    path.write_text(text)
    return path


def test_a_tree_of_slurm_is_a_machine_with_its_levels(tmp_path: Path) -> None:
    """The leaves of a spine are one group; a leaf below the core is on its own."""
    machine = parse(f"network:{of(tmp_path, SLURM)} latency:1us trunk:2us bandwidth:1GB")
    assert machine.names == ["cn01", "cn02", "cn03", "cn04", "cn05"]
    assert machine.groups == [[0, 0, 1, 1, 2], [0, 0, 0, 0, 2]]
    ways = {(0, 1): 2e-6, (0, 2): 6e-6, (2, 4): 8e-6}
    for (a, b), latency in ways.items():
        assert machine.one_way(a, b, 0) == pytest.approx(latency, abs=1e-7)
    assert machine.links["cable-core-spine"].bandwidth == 4e9


def test_the_output_of_scontrol_is_the_same_kind_of_file(tmp_path: Path) -> None:
    machine = parse(f"network:{of(tmp_path, SCONTROL)} cores:2")
    assert machine.groups == [[0] * 4 + [1] * 4]
    assert machine.hosts().split() == [f"tux{k}" for k in range(8) for _ in range(2)]


def test_cables_of_ibnetdiscover_add_up(tmp_path: Path) -> None:
    """Two cables carry twice as much; names are safe in the XML."""
    machine = parse(f"network:{of(tmp_path, INFINIBAND)} bandwidth:1GB")
    assert machine.names == ["node1", "node2", "_node3_"]
    assert machine.groups == [[0, 0, 1]]
    cables = {name: link.bandwidth for name, link in machine.links.items() if "cable" in name}
    assert cables == {"cable-S-0a-S-0c": 2e9, "cable-S-0b-S-0c": 1e9}
    hosts = ElementTree.fromstring(machine.xml()).iter("host")
    assert [host.get("id") for host in hosts] == machine.names


def test_cores_are_those_of_a_file_of_hwloc(tmp_path: Path) -> None:
    (tmp_path / "machine.xml").write_text(CORES)
    assert parse(f"nodes:2 cores:{tmp_path}/machine.xml").cores == 6
    (tmp_path / "machine.xml").write_text("<topology/>")
    with pytest.raises(InputError):
        parse(f"nodes:2 cores:{tmp_path}/machine.xml")


WRONG = {
    "no switches": "hello\n",
    "no nodes": "SwitchName=a Switches=b\n",
    "not joined": "SwitchName=a Nodes=n1\nSwitchName=b Nodes=n2\n",
    "in a circle": "SwitchName=l Nodes=n1\nSwitchName=a Switches=l,b\nSwitchName=b Switches=a\n",
    "a bad list": "SwitchName=a Nodes=n[1-\n",
}


@pytest.mark.parametrize("fault", WRONG)
def test_files_that_describe_no_network_are_refused(tmp_path: Path, fault: str) -> None:
    with pytest.raises(InputError) as caught:
        parse(f"network:{of(tmp_path, WRONG[fault])}")
    assert "\n" not in str(caught.value)


def test_nodes_with_two_adapters_are_one_node(tmp_path: Path) -> None:
    again = INFINIBAND.replace("[3]\t", '[4]\t"H-09"[1](2c90a) \t\t# "node1 mlx4_1" lid 19\n[3]\t')
    again += 'Ca\t1 "H-09"\t\t# "node1 mlx4_1"\n[1](2c90a) \t"S-0c"[4]\t\t# lid 19\n'
    assert list(read_network(of(tmp_path, again)).nodes) == ["node1", "node2", "_node3_"]
