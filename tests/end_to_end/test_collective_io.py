"""Collective I/O as a user walks it: predict, place nodes, place aggregators; and bad input."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from beds.golden import Golden
from beds.mpis import ROOT
from isochrone import models
from isochrone.runfile.file import write
from made_up.jobs import TACHYON
from made_up.latency_maps import cyclic, latency_map

Isochrone = Callable[..., subprocess.CompletedProcess[str]]
UNEVEN = ("--nodes", "4,4,2,2,1,1,1,1", "--tiles", "4x4", "--model", TACHYON)


@pytest.mark.parametrize(
    ("nodes", "order", "cost", "hot"),
    [
        ("4,4,2,2,1,1,1,1", "intra-first", 0.052138, [1]),
        ("4,4,2,2,1,1,1,1", "inter-first", 0.051513, [1]),
        ("1,1,2,2,1,1,4,4", "intra-first", 0.052138, [6]),
        ("1,1,2,2,1,1,4,4", "inter-first", 0.051513, [6]),
    ],
)
def test_the_costs_of_table_2_are_those_of_the_paper(
    isochrone: Isochrone, nodes: str, order: str, cost: float, hot: list[int]
) -> None:
    """Six digits, T16-01 and T16-03; one value of the table is a tie in the seventh."""
    words = ("--nodes", nodes, "--tiles", "4x4", "--model", TACHYON, "--select", f"order={order}")
    answer = isochrone("predict", "collective-io", *words, "--json")
    assert answer.returncode == 0, answer.stderr
    found = json.loads(answer.stdout)
    assert found["cost"] == pytest.approx(cost, abs=5e-7)
    assert found["hot_nodes"] == hot
    assert {"intra", "in", "out", "pa", "pe", "cost"} <= set(found["nodes"][0])
    assert max(node["cost"] for node in found["nodes"]) == pytest.approx(found["cost"])


def test_a_person_sees_the_hotspot_and_other_drivers_and_patterns_work(
    isochrone: Isochrone, tmp_path: Path
) -> None:
    answer = isochrone("predict", "collective-io", *UNEVEN)
    assert "52.14 ms" in answer.stdout
    assert "Hot spot: n1" in answer.stdout
    table = tmp_path / "t.csv"
    table.write_text("rank,offset,length\n0,0,10\n1,5,10\n2,20,4\n")
    for words in (
        (*UNEVEN, "--driver", "lustre", "--hints", "striping_factor=4"),
        (*UNEVEN, "--driver", "ompio"),
        (*UNEVEN, "--op", "read", "--hints", "cb_buffer_size=16MiB,cb_nodes=4"),
        ("--nodes", "4,4", "--blocks", "2x2x2", "--model", TACHYON),
        ("--nodes", "4,4", "--columns", "--model", TACHYON),
        ("--nodes", "2,1", "--table", table, "--model", TACHYON),
        (*UNEVEN, "--hints", "cb_config_list=n7,n0:2,*:1"),
    ):
        answer = isochrone("predict", "collective-io", *words, "--json")
        assert answer.returncode == 0, (words, answer.stderr)
        assert json.loads(answer.stdout)["cost"] > 0
    answer = isochrone("predict", "collective-io", "--nodes", "4,4", "--rows", "--model", TACHYON)
    assert "not interleave" in answer.stdout


def test_place_nodes_finds_the_order_and_writes_a_file(
    isochrone: Isochrone, tmp_path: Path
) -> None:
    answer = isochrone("place", "nodes", *UNEVEN, "-o", tmp_path / "hosts", "--json")
    assert answer.returncode == 0, answer.stderr
    found = json.loads(answer.stdout)
    assert {"order", "cost", "given_cost", "lower_bound", "gap", "files"} <= set(found)
    assert (found["cost"], found["gap"]) == (pytest.approx(0.030574), 0)
    assert sorted(found["order"]) == list(range(8))
    assert found["files"] == [str(tmp_path / "hosts")]
    again = ("--hostfile", tmp_path / "hosts", "--tiles", "4x4", "--model", TACHYON)
    costs = json.loads(isochrone("predict", "collective-io", *again, "--json").stdout)
    assert costs["cost"] == found["cost"]
    assert [node["host"] for node in costs["nodes"]] == found["hosts"]


@pytest.mark.parametrize("access", [("--rows", False), ("--columns", True)])
def test_that_nothing_is_exchanged_is_said_first(
    access: tuple[str, bool], isochrone: Isochrone
) -> None:
    option, exchanges = access
    words = ("place", "nodes", "--nodes", "1,3,2", option, "--model", TACHYON)
    found = json.loads(isochrone(*words, "--json").stdout)
    assert found["exchanges"] == exchanges
    for command in (
        ("predict", "collective-io"),
        ("place", "nodes", "--dry-run"),
        ("place", "aggregators", "--dry-run"),
        ("place", "aggregators", "--choose", "all", "--dry-run"),
        ("place", "orders", "--max-orders", "3", "--dry-run"),
    ):
        first, *more = isochrone(*command, *words[2:]).stdout.splitlines()
        assert ("romio_cb_write" in first) == (not exchanges), command
        warnings = [line for line in more if line.startswith("Warning")]
        assert not any("romio_cb_write" in line for line in warnings), command


def test_place_nodes_reads_the_slurm_job_it_is_in(isochrone: Isochrone, tmp_path: Path) -> None:
    job = {
        "SLURM_JOB_ID": "7",
        "SLURM_JOB_NODELIST": "nid[08-11]",
        "SLURM_JOB_CPUS_PER_NODE": "4(x2),2,6",
    }
    words = ("--tiles", "4x4", "--model", TACHYON)
    answer = isochrone("place", "nodes", *words, "--json", cwd=tmp_path, **job)
    assert answer.returncode == 0, answer.stderr
    (file,) = json.loads(answer.stdout)["files"]
    assert sorted((tmp_path / file).read_text().split()) == sorted(
        ["nid08"] * 4 + ["nid09"] * 4 + ["nid10"] * 2 + ["nid11"] * 6
    )


def test_place_aggregators_writes_hints_and_says_where_they_have_no_effect(
    isochrone: Isochrone, tmp_path: Path
) -> None:
    hints = tmp_path / "hints"
    answer = isochrone("place", "aggregators", *UNEVEN, "-o", hints)
    assert answer.returncode == 0, answer.stderr
    assert f"export ROMIO_HINTS={hints}" in answer.stdout
    for words in ("OMPIO", "Open MPI 6", "cb_nodes", "interleave"):
        assert words in answer.stdout
    key, value = hints.read_text().split()
    assert (key, value[-4:]) == ("cb_config_list", ",*:1")
    words = (*UNEVEN, "--hints", f"cb_config_list={value}", "--json")
    found = json.loads(isochrone("predict", "collective-io", *words).stdout)
    assert found["cost"] == pytest.approx(0.030574)


def test_several_hints_are_printed_line_by_line(isochrone: Isochrone) -> None:
    """A line break between them was shown as a replacement character."""
    answer = isochrone("place", "aggregators", *UNEVEN, "--hints", "cb_nodes=4", "--dry-run")
    printed = answer.stdout.splitlines()
    assert "cb_nodes 4" in printed
    assert printed[printed.index("cb_nodes 4") - 1].startswith("cb_config_list ")
    assert "\N{REPLACEMENT CHARACTER}" not in answer.stdout


@pytest.fixture
def of_bytes(tmp_path: Path) -> Path:
    """A model of messages of any size on a full-duplex network of 22 MB/s."""
    terms, costs = ["ba", "max(bi,bo)", "pe", "1"], [3e-10, 4.5e-8, 2e-4, 1e-3]
    segment = models.Segment("hotspot-bytes", terms, costs, where={"order": "intra-first"})
    models.write(models.Model([segment]), tmp_path / "bytes.json")
    return tmp_path / "bytes.json"


JOB = ("--nodes", "4,4,2,2,1,1,1,1", "--tiles", "4x4", "--element", "4")


def test_all_that_can_be_set_is_chosen_together(
    isochrone: Isochrone, of_bytes: Path, tmp_path: Path
) -> None:
    hints = tmp_path / "hints"
    words = ("place", "aggregators", *JOB, "--model", of_bytes, "--choose", "all")
    found = json.loads(isochrone(*words, "-o", hints, "--json").stdout)
    assert found["cost"] == found["seconds"] < found["given_seconds"] == found["given_cost"]
    assert found["lower_bound"] <= found["cost"]
    assert {"order", "number", "buffer"} <= set(found["levers"])
    assert found["memory"] >= 1 << 20
    written = dict(line.split(" ", 1) for line in hints.read_text().splitlines())
    assert written == found["hints"]
    assert found["choices"][0]["seconds"] == found["cost"]
    hints = f"cb_config_list={written['cb_config_list']},cb_buffer_size=16MiB"
    hints += f",cb_nodes={written['cb_nodes']}" if "cb_nodes" in written else ""
    asked = ("--hints", hints)
    again = isochrone("predict", "collective-io", *JOB, "--model", of_bytes, *asked, "--json")
    assert json.loads(again.stdout)["seconds"] == pytest.approx(found["cost"])


def test_the_order_alone_says_if_more_would_gain_more(isochrone: Isochrone, of_bytes: Path) -> None:
    answer = isochrone("place", "aggregators", *JOB, "--model", of_bytes)
    assert "--choose all" in answer.stdout
    answer = isochrone("place", "aggregators", *UNEVEN)
    assert "--choose all" not in answer.stdout


def test_a_model_of_one_size_refuses_to_choose_numbers(isochrone: Isochrone) -> None:
    answer = isochrone("place", "aggregators", *UNEVEN, "--choose", "all")
    assert answer.returncode == 0, answer.stderr
    assert "several" in " ".join(answer.stdout.split())
    answer = isochrone("place", "aggregators", *UNEVEN, "--choose", "all", "--json")
    found = json.loads(answer.stdout)
    assert found["cost"] == pytest.approx(0.030574)
    assert set(found["hints"]) == {"cb_config_list"}


def test_lustre_gets_a_command_for_its_stripes(isochrone: Isochrone, of_bytes: Path) -> None:
    words = ("--model", of_bytes, "--choose", "all", "--driver", "lustre")
    words += ("--hints", "striping_factor=8")
    answer = isochrone("place", "aggregators", *JOB, *words)
    assert "lfs setstripe -c " in answer.stdout
    assert "striping_unit " in answer.stdout
    assert "real Lustre" in " ".join(answer.stdout.split())


def test_of_ompio_only_what_has_an_effect_is_proposed(
    isochrone: Isochrone, of_bytes: Path, tmp_path: Path, golden: Golden
) -> None:
    words = ("place", "aggregators", *JOB, "--driver", "ompio", "--model")
    answer = isochrone(*words, of_bytes, "--choose", "all")
    assert answer.returncode == 0, answer.stderr
    assert "--mca io_ompio_num_aggregators" in answer.stdout
    assert "io romio341" in answer.stdout
    found = json.loads(isochrone(*words, of_bytes, "--choose", "all", "--json").stdout)
    assert found["hints"] == {}
    assert found["cb_config_list"] is None
    for model, choose in ((TACHYON, "all"), (of_bytes, "order")):
        answer = isochrone(*words, model, "--choose", choose)
        assert answer.returncode == 2
        assert answer.stderr.count("\n") == 1
    answer = isochrone(*words, of_bytes, "--choose", "all", "-o", tmp_path / "hints")
    golden.measured(answer.stderr)


def test_hosts_come_from_a_run_file_even_if_ranks_were_dealt_out_in_turn(
    isochrone: Isochrone, tmp_path: Path
) -> None:
    run_file = tmp_path / "run.jsonl"
    write(latency_map(cyclic(4, 4)), run_file)
    words = ("--hostfile", run_file, "--tiles", "4x4", "--model", TACHYON, "--json")
    found = json.loads(isochrone("predict", "collective-io", *words).stdout)
    assert found["aggregators"] == [0, 1, 2, 3]
    assert {node["intra"] for node in found["nodes"]} == {1}
    answer = isochrone("place", "aggregators", *words, "-o", tmp_path / "h")
    assert answer.returncode == 0, answer.stderr


BAD = {
    "tiles that do not match": (("--nodes", "4,4", "--tiles", "3x3"), "9 ranks, but the nodes"),
    "no core": (("--nodes", "4,0", "--tiles", "2x2"), "0 cores"),
    "no number": (("--nodes", "4,x", "--tiles", "2x2"), "not a number of cores"),
    "no nodes": (("--tiles", "2x2"), "the nodes are"),
    "no grid": (("--nodes", "4", "--tiles", "2by2"), "not a grid"),
    "no hostfile": (("--hostfile", "nowhere", "--tiles", "2x2"), "cannot be read"),
    "no buffer": (("--nodes", "4", "--hints", "cb_buffer_size=0"), "above 0"),
    "too much overlap": (("--nodes", "4", "--overlap", "1024x0"), "overlap"),
}


@pytest.mark.parametrize("case", BAD)
@pytest.mark.parametrize(
    "command", [("predict", "collective-io"), ("place", "nodes"), ("place", "aggregators")]
)
def test_bad_input_is_one_line(
    isochrone: Isochrone, tmp_path: Path, case: str, command: tuple[str, str]
) -> None:
    words, why = BAD[case]
    answer = isochrone(*command, *words, "--model", TACHYON, cwd=tmp_path)
    assert answer.returncode == 2
    assert why in answer.stderr
    assert answer.stderr.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_a_model_without_the_variables_is_refused(isochrone: Isochrone, golden: Golden) -> None:
    other = ROOT / "examples/models/t3e-1200.json"
    words = ("--nodes", "4,4", "--tiles", "4x2", "--model", other)
    for command in (("predict", "collective-io"), ("place", "nodes")):
        answer = isochrone(*command, *words)
        assert answer.returncode == 2
        golden.measured(answer.stderr)


WHAT = [("predict", "collective-io"), ("place", "nodes"), ("place", "aggregators")]


@pytest.mark.parametrize("what", WHAT)
def test_a_call_without_messages_between_nodes_may_cost_nothing(
    isochrone: Isochrone, tmp_path: Path, what: tuple[str, str]
) -> None:
    """By a formula of these messages alone; nothing is better, and that is proven."""
    where = {"order": "intra-first"}
    segment = models.Segment("hotspot", ["pa", "pe", "1"], [0.0, 1e-3, 0.0], where=where)
    models.write(models.Model([segment]), tmp_path / "m.json")
    asked = ("--nodes", "2,2", "--rows", "--model", tmp_path / "m.json")
    assert isochrone(*what, *asked, cwd=tmp_path).returncode == 0
    options = ("--force",) if what[0] == "place" else ()
    answer = isochrone(*what, *asked, *options, "--json", cwd=tmp_path)
    found = json.loads(answer.stdout)
    if what[0] == "place":
        assert (found["cost"], found["given_cost"], found["gap"]) == (0, 0, 0)


@pytest.mark.parametrize("what", WHAT)
def test_a_formula_that_gives_no_time_is_refused(
    isochrone: Isochrone, tmp_path: Path, what: tuple[str, str], golden: Golden
) -> None:
    """Its intercept is below what the few messages of this call cost."""
    terms, where = ["pa", "pe", "1"], {"order": "intra-first"}
    segment = models.Segment("hotspot", terms, [1e-3, 1e-3, -1.0], where=where)
    models.write(models.Model([segment]), tmp_path / "m.json")
    asked = ("--nodes", "4,4,2,2,1,1,1,1", "--tiles", "4x4", "--model", tmp_path / "m.json")
    answer = isochrone(*what, *asked, cwd=tmp_path)
    assert answer.returncode == 2
    assert answer.stdout == ""
    assert answer.stderr.count("\n") == 1
    golden.measured(answer.stderr)


def test_a_part_of_the_model_that_is_not_there_is_refused(
    isochrone: Isochrone, golden: Golden
) -> None:
    answer = isochrone("predict", "collective-io", *UNEVEN, "--select", "hot=4")
    assert answer.returncode == 2
    golden.measured(answer.stderr)
    answer = isochrone("predict", "collective-io", *UNEVEN, "--select", "hot=1", "--json")
    assert json.loads(answer.stdout)["cost"] == pytest.approx(0.052138)


def test_a_host_without_a_rank_is_refused(isochrone: Isochrone, golden: Golden) -> None:
    """Opening the file would fail with such a list."""
    answer = isochrone("predict", "collective-io", *UNEVEN, "--hints", "cb_config_list=nope,*:1")
    assert answer.returncode == 2
    golden.measured(answer.stderr)


@pytest.mark.parametrize("what", ["nodes", "aggregators"])
def test_a_file_that_exists_is_kept_unless_forced(
    isochrone: Isochrone, tmp_path: Path, what: str
) -> None:
    path = tmp_path / "mine"
    path.write_text("precious")
    answer = isochrone("place", what, *UNEVEN, "-o", path)
    assert answer.returncode == 2
    assert "file exists" in answer.stderr
    assert path.read_text() == "precious"
    assert isochrone("place", what, *UNEVEN, "-o", path, "--force").returncode == 0
    assert path.read_text() != "precious"


def test_a_file_that_is_read_is_not_given_away_by_force(
    isochrone: Isochrone, tmp_path: Path
) -> None:
    path = tmp_path / "hosts"
    path.write_text("a:2\nb:2\n")
    words = ("--hostfile", path, "--tiles", "2x2", "--model", TACHYON, "-o", path, "--force")
    answer = isochrone("place", "nodes", *words)
    assert answer.returncode == 2
    assert path.read_text() == "a:2\nb:2\n"


@pytest.mark.usefixtures("mpich")
def test_verify_finds_ranks_that_are_elsewhere(isochrone: Isochrone, tmp_path: Path) -> None:
    """On this machine alone there is no host n0; a check that was asked for and fails is exit 1."""
    hosts = tmp_path / "hosts"
    hosts.write_text("localhost:2\n")
    words = ("--hostfile", hosts, "--tiles", "2x1", "--model", TACHYON, "--verify", "--json")
    answer = isochrone("place", "nodes", *words, "-o", tmp_path / "out", cwd=tmp_path)
    assert answer.returncode == 1, answer.stderr
    found = json.loads(answer.stdout)
    assert found["verified"] is False
    assert found["misplaced"][0]["wanted"] == "localhost"


@pytest.mark.parametrize("what", ["nodes", "aggregators"])
def test_a_dry_run_writes_nothing(isochrone: Isochrone, tmp_path: Path, what: str) -> None:
    """With real host names a file is written unasked; here it must not be."""
    hosts = ROOT / "examples/collective-io/nodes.txt"
    words = ("--hostfile", hosts, "--tiles", "4x4", "--model", TACHYON, "--dry-run", "--json")
    answer = isochrone("place", what, *words, cwd=tmp_path)
    assert answer.returncode == 0, answer.stderr
    assert json.loads(answer.stdout)["files"] == []
    assert not list(tmp_path.iterdir())


def test_the_hints_of_the_examples_are_what_the_command_writes(
    isochrone: Isochrone, tmp_path: Path
) -> None:
    folder = ROOT / "examples/collective-io"
    words = ("--hostfile", folder / "nodes.txt", "--tiles", "4x4", "--model", TACHYON)
    assert isochrone("place", "aggregators", *words, cwd=tmp_path).returncode == 0
    assert (tmp_path / "romio-hints").read_text() == (folder / "romio-hints").read_text()
