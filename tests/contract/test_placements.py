"""What every placement file promises: its launcher reads it such that ranks are where wanted."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from isochrone.base import registry
from isochrone.measure import launcher as launchers
from isochrone.measure import placement as placements
from isochrone.measure.allocation import Allocation, read_hostfile
from isochrone.measure.arrangement import Arrangement

FORMATS = placements.names()
GIVEN = Allocation(("n1", "n2", "n3", "n4"), (2, 1, 3, 1), "hosts")
ORDER = Arrangement(GIVEN, (2, 3, 0, 1))
WANTED = ["n3", "n3", "n3", "n4", "n1", "n1", "n2"]


def by_line(path: Path) -> list[str]:
    return path.read_text().split()


def rankfile(path: Path) -> list[str]:
    found = [re.fullmatch(r"rank (\d+)=(\S+) slot=(\d+)", line) for line in lines(path)]
    assert all(found)
    assert [int(m[1]) for m in found if m] == list(range(7))
    places = [(m[2], m[3]) for m in found if m]
    assert len(set(places)) == 7, "two ranks on one core"
    return [host for host, _ in places]


def cray(path: Path) -> list[str]:
    """Slots are filled in the job's own order; the file says by which rank."""
    slots = [host for host, n in zip(GIVEN.hosts, GIVEN.cores, strict=True) for _ in range(n)]
    ranks = [int(rank) for line in lines(path) for rank in line.split(",")]
    return [host for _, host in sorted(zip(ranks, slots, strict=True))]


def lines(path: Path) -> list[str]:
    return path.read_text().splitlines()


READERS: dict[str, Callable[[Path], list[str]]] = {
    "hydra": lambda path: read_hostfile(path).by_rank,
    "openmpi": lambda path: read_hostfile(path).by_rank,
    "openmpi-rankfile": rankfile,
    "slurm": by_line,
    "flux": by_line,
    "pbs": by_line,
    "cray": cray,
}


def test_the_formats_of_all_launchers_are_there() -> None:
    assert set(READERS) <= set(FORMATS)


@pytest.mark.parametrize("name", FORMATS)
def test_ranks_are_where_they_are_wanted(name: str, tmp_path: Path) -> None:
    placement = placements.load(name)
    path = tmp_path / placement.file
    path.write_text(placement.text(ORDER))
    assert READERS[name](path) == WANTED
    assert path.read_text().endswith("\n")


@pytest.mark.parametrize("name", FORMATS)
def test_it_says_what_it_is_and_how_to_use_it(name: str, tmp_path: Path) -> None:
    placement = placements.load(name)
    assert registry.summary("formats.placements", name)
    start = placement.start(tmp_path / "a file", 7)
    assert start.launcher in launchers.names()
    line = start.line("./a.out")
    assert line.endswith("./a.out")
    assert "a file" in line, "the file is not used"
    assert re.search(r"(-n |--ntasks=)7\b", line)


def test_a_host_comes_once_in_a_hydra_hostfile() -> None:
    """Repeated lines would make MPICH send messages inside a node over the network."""
    text = placements.load("hydra").text(ORDER)
    hosts = [line.partition(":")[0] for line in text.splitlines()]
    assert len(hosts) == len(set(hosts)) == 4
