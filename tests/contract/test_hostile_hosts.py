"""Hostile names on their way to schedulers and launchers: lists of hosts, host files, arguments.

What cannot be the name of a host is refused, or left out with a line; nothing becomes two words.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from xml.etree import ElementTree as Xml

import pytest

from beds.command_line import run_here
from beds.golden import Golden
from fuzz.seeds import helpers
from isochrone.base.errors import InputError
from isochrone.measure import placement as placements
from isochrone.measure.allocation import (
    Allocation,
    expand_hosts,
    from_hosts,
    from_slurm,
    read_hostfile,
)
from isochrone.measure.arrangement import Arrangement
from isochrone.runfile.file import write
from made_up.hostile_names import COMBINED, NAMES, TRACE
from made_up.latency_maps import latency_map, with_retests

ALL = tuple(dict.fromkeys((*NAMES, *COMBINED)))
HARD = ("n1\nn2", "-n", "a b", "#", "n1:4", "n1,n2", "$(touch pwned)", "\x1b[2J", "a" * 255)
LINE = re.compile(r"(rank [0-9]+=)?[A-Za-z0-9][A-Za-z0-9._,:-]*( slots?=[0-9]+)?")
"""Of any placement file: a host with a number of ranks, a rank with its host, or ranks."""
HOST = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,254}")


SOME = (*HARD, *ALL[::7])


@pytest.mark.slow
@pytest.mark.few(2)
@pytest.mark.parametrize("first", range(0, len(SOME), 9))
def test_a_list_of_bad_hosts_holds_names_of_hosts_only(
    first: int, tmp_path: Path, golden: Golden
) -> None:
    """A name of two lines, or one that is an option, would drain another host, or do worse."""
    refused = 0
    for number, name in enumerate(SOME[first : first + 9]):
        if not name:
            continue
        good = [f"n{k}" for k in range(6)]
        hosts = [host for host in (*good, name) for _ in range(2)]
        run = latency_map(hosts, slow_hosts={name: 4.0})
        write(with_retests(run, [(k, 12) for k in range(4)]), tmp_path / f"{number}.jsonl")
        answer = run_here(
            "check",
            f"{number}.jsonl",
            "--hosts-out",
            f"{number}.txt",
            "--junit",
            f"{number}.xml",
            cwd=tmp_path,
        )
        assert answer.returncode == 1, answer.stderr
        written = (tmp_path / f"{number}.txt").read_bytes().decode("ascii").split("\n")
        assert written.pop() == ""
        if HOST.fullmatch(name) and len(name) <= 253:
            assert written == [name]
        else:
            refused += 1
            assert written == []
            golden(answer.stderr)
            assert answer.stderr.count("\n") == 1
        cases = Xml.parse(tmp_path / f"{number}.xml").getroot().iter("testcase")
        assert sum(one.find("failure") is not None for one in cases) == 1
    assert refused == len(HARD) or first > 0


def hosts_of(source: str, name: str, folder: Path) -> Allocation:
    """Read a name from where nodes of a job come from."""
    match source:
        case "file":
            (folder / "hosts").write_text(f"n1:2\n{name}:2\nn3:2\n", "utf-8", errors="replace")
            return read_hostfile(folder / "hosts")
        case "slots":
            (folder / "hosts").write_text(f"{name} slots=2\n", "utf-8", errors="replace")
            return read_hostfile(folder / "hosts")
        case "list":
            hosts = tuple(expand_hosts(f"n1,{name}", "here"))
            return Allocation(hosts, (1,) * len(hosts), "here")
        case "slurm":
            environ = {"SLURM_JOB_NODELIST": name, "SLURM_JOB_CPUS_PER_NODE": "2"}
            return from_slurm(environ)
    return from_hosts(["n1", name], "a run")


@pytest.mark.parametrize("source", ["file", "slots", "list", "slurm", "run"])
def test_only_names_of_hosts_get_into_files_for_launchers(source: str, tmp_path: Path) -> None:
    """Whatever says which nodes there are: a line of each placement file has its form."""
    taken = 0
    for name in ALL:
        try:
            found = hosts_of(source, name, tmp_path)
        except InputError as error:
            assert error.what
            continue
        taken += 1
        assert all(HOST.fullmatch(host) for host in found.hosts), name
        arrangement = Arrangement(found, range(len(found.hosts)))
        for form in placements.names():
            text = placements.load(form).text(arrangement)
            lines = text.removesuffix("\n").split("\n")
            assert all(map(LINE.fullmatch, lines)), text
    assert taken > 0


def test_place_refuses_a_host_file_of_hostile_names(tmp_path: Path, golden: Golden) -> None:
    """One line, code 2, and no file."""
    helpers(tmp_path)
    (tmp_path / "hosts").touch()
    before = sorted(tmp_path.iterdir())
    for name in ("-n", "--launcher-arg", "$(touch pwned)", "a;b", "\x1b[2J", "a\u202eb", "é"):
        (tmp_path / "hosts").write_text(f"n1:2\n{name}:2\n")
        answer = run_here(
            "place",
            "nodes",
            "--model",
            "ok-nodes.json",
            "--hostfile",
            "hosts",
            "--to",
            "hydra",
            "-o",
            "out",
            "--search-time",
            "0",
            cwd=tmp_path,
        )
        assert answer.returncode == 2
        golden(answer.stderr)
        assert answer.stderr.count("\n") == 1
        assert answer.stderr[:-1].isprintable()
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("form", ["openmpi-rankfile", "pbs"])
def test_a_name_that_ends_an_option_is_refused_before_anything_is_written(
    form: str, tmp_path: Path, golden: Golden
) -> None:
    """``--map-by rankfile:file=a:b`` would be another option of Open MPI."""
    helpers(tmp_path)
    for name in ("a:OVERSUBSCRIBE", "a,b", "a;b"):
        answer = run_here(
            "place",
            "nodes",
            "--model",
            "ok-nodes.json",
            "--nodes",
            "2,2",
            "--to",
            form,
            "-o",
            name,
            "--search-time",
            "0",
            cwd=tmp_path,
        )
        assert answer.returncode == 2
        golden(answer.stderr)
        assert not (tmp_path / name).exists()


@pytest.mark.usefixtures("mpich")
@pytest.mark.parametrize("launcher", ["srun", "flux", "mpiexec-mpich", "mpirun-openmpi", "generic"])
def test_arguments_of_a_launcher_stay_words(launcher: str, tmp_path: Path) -> None:
    """Given to the launcher as they are, by no shell; and the line that is told can be typed."""
    shell = shutil.which("bash")
    assert shell, "there is no bash"
    words = [name for name in NAMES[::5] if name and "\0" not in name]
    template = ["--launcher-template", "start -n {ranks} {program}"] * (launcher == "generic")
    answer = run_here(
        "measure",
        "synthetic",
        "-n",
        "2",
        "--dry-run",
        "--launcher",
        launcher,
        *template,
        *(f"--launcher-arg={word}" for word in words),
        "-o",
        "./a $(touch pwned)\x1b.jsonl",
        cwd=tmp_path,
        SLURM_MPI_TYPE="none",
    )
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout[:-1].isprintable()
    line = f"show() {{ printf '%s\\0' \"$@\"; }}; show {answer.stdout}"
    done = subprocess.run([shell, "-c", line], cwd=tmp_path, capture_output=True, check=True)
    told = done.stdout.decode().split("\0")[:-1]
    start = told.index(words[0])
    assert told[start : start + len(words)] == words
    assert told[told.index("--out") + 1].endswith("a $(touch pwned)\x1b.jsonl")
    assert not (tmp_path / TRACE).exists()


def test_a_document_of_bad_hosts_is_json(tmp_path: Path) -> None:
    hosts = [host for host in (*(f"n{k}" for k in range(6)), "a\nb\x1b") for _ in range(2)]
    write(latency_map(hosts, slow_hosts={"a\nb\x1b": 4.0}), tmp_path / "a.jsonl")
    answer = run_here("check", "a.jsonl", "--json", cwd=tmp_path)
    document = json.loads(answer.stdout)
    assert (document["bad_hosts"], document["refused_hosts"]) == ([], ["a\nb\x1b"])
    assert answer.stdout[:-1].isprintable()
