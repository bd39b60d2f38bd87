"""A run file that is given away says nothing of whose it is, and as much of the machine."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from beds.command_line import run_here
from beds.mpis import ROOT
from isochrone.runfile.anonymise import anonymise
from isochrone.runfile.file import read, write
from made_up.latency_maps import latency_map

SECRETS = ("nid00", "alice", "/home", "secret", "cluster.example", "app.x")


def test_nothing_of_the_user_is_left(tmp_path: Path) -> None:
    """Wherever in the file it is: notes, warnings, settings, the MPI library's own words."""
    hosts = [f"nid00{k}.cluster.example" for k in (3, 3, 1, 1)]
    mpi = {"library": "Open MPI v5.0.1, package: alice@nid003 Distribution", "standard": "3.1"}
    run = latency_map(
        hosts,
        mpi=mpi,
        settings={"OMPI_MCA_x": "/home/alice/secret.conf:/opt/x"},
        notes={"command": "./app.x --secret", "launch": "2/3", "comment": "alice's run"},
    )
    run.warnings.append({"record": "warning", "code": "x", "text": "nid003 is slow, not mynid003"})
    source, target = tmp_path / "run.jsonl", tmp_path / "public.jsonl"
    write(run, source)
    replaced = anonymise(read(source), source, target)
    text = target.read_text().replace("mynid003", "")
    assert not [secret for secret in SECRETS if secret in text]
    found, before = read(target), read(source)
    assert found.hosts == ["host-0", "host-0", "host-1", "host-1"]
    assert replaced["nid003.cluster.example"] == "host-0"
    assert found.notes["launch"] == "2/3"
    assert "host-0 is slow" in found.warnings[-1]["text"]
    for name, column in before.tables["pair"].columns.items():
        assert column.tolist() == found.tables["pair"][name].tolist()


@pytest.mark.parametrize("name", [file.name for file in (ROOT / "tests/corpus").glob("*.jsonl")])
def test_each_kind_of_run_is_still_read_and_says_the_same(tmp_path: Path, name: str) -> None:
    source, target = ROOT / "tests/corpus" / name, tmp_path / name
    anonymise(read(source), source, target)
    was, now = (run_here("show", path, "--json") for path in (source, target))
    assert (was.returncode, now.returncode) == (0, 0)
    assert len(now.stdout) == pytest.approx(len(was.stdout), rel=0.2)


def test_the_command_writes_beside_and_says_what_is_what(tmp_path: Path) -> None:
    source = tmp_path / "map.jsonl"
    write(latency_map(["a", "b", "b", "c"]), source)
    answer = run_here("export", source, "--anonymise")
    assert answer.returncode == 0
    assert read(tmp_path / "map-anonymous.jsonl").hosts == ["host-0", "host-1", "host-1", "host-2"]
    assert run_here("export", source, "--anonymise", "--to", "csv").returncode == 2
    assert run_here("export", source).returncode == 2


def test_random_names_never_stay(tmp_path: Path) -> None:
    dice = random.Random(5)
    letters = "abcxyz0189-."
    source, target = tmp_path / "run.jsonl", tmp_path / "public.jsonl"
    for _ in range(30):
        hosts = ["q" + "".join(dice.choices(letters, k=9)).strip(".-") + "q" for _ in range(4)]
        run = latency_map(hosts, notes={"command": " ".join(hosts)})
        run.warnings.append(
            {"record": "warning", "code": "x", "text": f"({hosts[0]}: /p/{hosts[1]})"}
        )
        write(run, source, overwrite=True)
        target.unlink(missing_ok=True)
        anonymise(read(source), source, target)
        text = target.read_text()
        assert not [host for host in hosts if host in text]
