"""The way of the data as a user walks it: measure, show, plot, export, import, report."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from beds.golden import Golden
from beds.mpis import ROOT, SCRIPTS
from isochrone import models
from isochrone.base import registry
from isochrone.runfile.file import read

Isochrone = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("walk")


@pytest.fixture
def map_file(shared: Path, isochrone: Isochrone) -> Path:
    """A map of 4 real ranks, measured once for this file."""
    path = shared / "map.jsonl"
    if not path.exists():
        answer = isochrone("measure", "latency-map", "-n", 4, "-o", path)
        assert answer.returncode == 0, answer.stderr
        assert "latency-map · 4 ranks on 1 node" in answer.stdout
    return path


@pytest.fixture
def made_up(shared: Path, isochrone: Isochrone) -> Path:
    """A made-up map of 32 ranks on 8 nodes, of which node 5 is slow."""
    path = shared / "made-up.jsonl"
    if not path.exists():
        options = ("--shape", "4,8", "--slow-node", 5, "--noise", 0.05)
        answer = isochrone("measure", "synthetic", "-n", 1, "-o", path, *options)
        assert answer.returncode == 0, answer.stderr
    return path


def test_show_as_json_is_one_document_with_the_promised_keys(
    isochrone: Isochrone, map_file: Path
) -> None:
    found = json.loads(isochrone("show", map_file, "--json").stdout)
    assert found["ranks"] == 4
    assert {"level", "median", "pairs", "groups"} <= set(found["levels"][0])
    assert found["levels"][-1]["groups"] == [[0, 1, 2, 3]]
    assert found["placement"] == {"kind": "block", "ranks_per_node": [4]}
    assert sum(level["pairs"] for level in found["levels"]) == 6


def test_show_names_the_slow_node_and_the_levels(isochrone: Isochrone, made_up: Path) -> None:
    answer = isochrone("show", made_up)
    assert "node n5: 3.0x" in answer.stdout
    assert "8 groups of 4" in answer.stdout or "0-3 | 4-7" in answer.stdout
    found = json.loads(isochrone("show", made_up, "--json").stdout)
    assert [(s["kind"], s["who"]) for s in found["slow"]] == [("node", "n5")]
    assert found["slow"][0]["ratio"] == pytest.approx(3, rel=0.05)
    assert [len(level["groups"]) for level in found["levels"]] == [8, 1]
    assert found["placement"] == {"kind": "block", "ranks_per_node": [4] * 8}


@pytest.mark.parametrize("view", ["heatmap", "surface", "levels"])
@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
def test_plot_draws_every_view_in_every_format(
    isochrone: Isochrone, map_file: Path, tmp_path: Path, view: str, suffix: str
) -> None:
    picture = tmp_path / f"{view}.{suffix}"
    answer = isochrone("plot", map_file, "--view", view, "--value", "mean", "-o", picture)
    assert answer.returncode == 0, answer.stderr
    begin = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}[suffix]
    assert picture.read_bytes().startswith(begin)


def test_a_log_of_the_paper_goes_in_and_comes_out_the_same(
    isochrone: Isochrone, tmp_path: Path
) -> None:
    log = ROOT / "tests/golden/mmpi/paper.log"
    run_file = tmp_path / "paper.jsonl"
    assert isochrone("import", log, "--from", "mmpi", "-o", run_file).returncode == 0
    again = tmp_path / "again.log"
    assert isochrone("export", run_file, "--to", "mmpi", "-o", again).returncode == 0
    assert again.read_bytes() == log.read_bytes()
    found = json.loads(isochrone("show", run_file, "--json").stdout)
    assert [level["groups"] for level in found["levels"]] == [[[0, 1], [2, 3]], [[0, 1, 2, 3]]]


def test_report_is_one_file_without_a_request(
    isochrone: Isochrone, map_file: Path, tmp_path: Path
) -> None:
    page = tmp_path / "report.html"
    assert isochrone("report", map_file, "-o", page).returncode == 0
    text = page.read_text()
    assert "default-src 'none'" in text
    assert "Round trip" in text or "round trip" in text


def test_demo_ends_with_a_report_and_loses_none_if_repeated(
    isochrone_process: Isochrone, tmp_path: Path
) -> None:
    answer = isochrone_process("demo", cwd=tmp_path)
    assert answer.returncode == 0, answer.stderr
    first = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    answer = isochrone_process("demo", cwd=tmp_path)
    assert answer.returncode == 0, answer.stderr
    assert "report-2.html" in answer.stdout
    both = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    assert len(both) == 2 * len(first) == 8
    assert {name: both[name] for name in first} == first
    assert read(tmp_path / "demo-latency-map.jsonl").complete
    assert read(tmp_path / "demo-point-to-point.jsonl").complete
    assert models.read(tmp_path / "demo-model.json").family == "hockney"


def test_demo_does_not_replace_a_file_it_is_told_to_write(
    isochrone: Isochrone, tmp_path: Path, golden: Golden
) -> None:
    page = tmp_path / "thesis.html"
    page.write_text("<html>my thesis</html>")
    answer = isochrone("demo", "-o", page, cwd=tmp_path)
    assert answer.returncode == 2
    golden.measured(answer.stderr)
    assert [file.read_text() for file in tmp_path.iterdir()] == ["<html>my thesis</html>"]


def test_dry_run_prints_the_command_and_starts_nothing(
    isochrone: Isochrone, tmp_path: Path
) -> None:
    answer = isochrone("measure", "latency-map", "-n", 3, "--dry-run", cwd=tmp_path)
    assert answer.returncode == 0
    assert "mpiexec -n 3 " in answer.stdout
    assert "latency-map" in answer.stdout
    assert list(tmp_path.iterdir()) == []


@pytest.mark.few(4)
@pytest.mark.parametrize("command", registry.names("cli.commands"))
def test_each_subcommand_starts_in_a_process_of_its_own(
    isochrone_process: Isochrone, command: str
) -> None:
    """It must not need what only another one imports; most tests run all in one process."""
    answer = isochrone_process(command, "--help")
    assert answer.returncode == 0, answer.stderr
    assert f"usage: isochrone {command}" in answer.stdout


def _commands() -> list[tuple[str, ...]]:
    """All subcommands, those of subcommands included."""
    found: list[tuple[str, ...]] = [()]
    for name in registry.names("cli.commands"):
        inner = f"cli.commands.{name}"
        nested = registry.names(inner) if inner in registry.FAMILIES else []
        found += [(name,), *((name, one) for one in nested)]
    return found


@pytest.mark.parametrize("command", _commands(), ids=" ".join)
def test_no_help_breaks_a_word_at_its_hyphen(
    isochrone: Isochrone, command: tuple[str, ...]
) -> None:
    """What stands there is typed again, and nothing is called `hotspot-`."""
    answer = isochrone(*command, "--help")
    assert answer.returncode == 0
    assert [line for line in answer.stdout.splitlines() if re.search("[a-z]-$", line)] == []


def test_help_answers_without_numpy(tmp_path: Path) -> None:
    """On a parallel file system an import of scipy takes seconds."""
    code = (
        "import sys; from isochrone.cli.main import parser; parser().format_help();"
        "heavy = {'numpy', 'scipy', 'msgspec', 'rich', 'matplotlib'};"
        "print(sorted(heavy & set(sys.modules)))"
    )
    python = SCRIPTS / "python"
    answer = subprocess.run([python, "-c", code], capture_output=True, text=True, timeout=60)
    assert answer.stdout.strip() == "[]", answer.stderr


def test_help_of_an_experiment_lists_its_own_options(isochrone: Isochrone) -> None:
    answer = isochrone("measure", "latency-map", "--help")
    assert answer.returncode == 0
    for option in ("--bytes", "--schedule", "--repeats", "--precision"):
        assert option in answer.stdout


WRONG = [
    (["show", "absent.jsonl"], "absent.jsonl: the file cannot be read: No such file"),
    (["show", "/dev"], "neither run files"),
    (["show", "garbage.jsonl"], "garbage.jsonl: not a known format"),
    (["show", "empty.jsonl"], "empty.jsonl: the file is empty"),
    (["show", "newer.jsonl"], "format 99 is newer than 2"),
    (["show", "headless.jsonl"], "does not begin with a 'run' record"),
    (["show", "badpair.jsonl"], "'j' is out of range"),
    (["show", "map.jsonl", "--bytes", "77"], "the run has no pairs of 77 bytes"),
    (["show", "map.jsonl", "--bytes", "lots"], "'lots' is not a size"),
    (["show"], "the following arguments are required: FILE"),
    (["show", "map.jsonl", "--colour"], "unrecognized arguments: --colour"),
    (["fly"], "invalid choice: 'fly'"),
    (["plot", "map.jsonl", "-o", "picture.bmp"], "there is no figure format '.bmp'"),
    (["plot", "map.jsonl", "-o", "nowhere/picture.png"], "the folder does not exist"),
    (["plot", "map.jsonl", "-o", "garbage.jsonl"], "the file exists"),
    (["plot", "map.jsonl", "--view", "cloud", "-o", "a.png"], "invalid choice: 'cloud'"),
    (["export", "map.jsonl", "--to", "word"], "invalid choice: 'word'"),
    (["export", "map.jsonl", "--to", "csv", "-o", "/dev/null", "--force"], "not a regular file"),
    (["import", "garbage.jsonl", "--from", "mmpi"], "garbage.jsonl"),
    (["report", "empty.jsonl", "-o", "r.html"], "the file is empty"),
    (["measure", "latency-map", "-n", "1"], "needs at least 2 ranks, got 1"),
    (["measure", "latency-map", "-n", "0"], "'0' is not a number of ranks"),
    (["measure", "latency-map", "-n", "-3"], "'-3' is not a number of ranks"),
    (["measure", "latency-map", "-n", "many"], "'many' is not a number of ranks"),
    (["measure", "latency-map", "-n", "2", "--bytes", "huge"], "'huge' is not a message size"),
    (
        ["measure", "latency-map", "-n", "2", "--schedule", "fast"],
        "not one of isolated|rounds|serial",
    ),
    (["measure", "latency-map", "-n", "2", "--typo"], "there is no option '--typo'"),
    (["platform", "nodes:many", "-o", "p.xml"], "'nodes' needs a whole number from 1"),
    (["platform", "nodes:4 wheels:4", "-o", "p.xml"], "unknown word 'wheels:4'"),
    (["measure", "weather", "-n", "2"], "invalid choice: 'weather'"),
    (["measure", "latency-map", "-n", "2", "-o", "map.jsonl"], "map.jsonl: the file exists"),
    (["measure", "latency-map", "-n", "2", "--mpicc", "no-cc"], "no program 'no-cc'"),
    (["measure", "latency-map", "-n", "2", "--launcher", "rsh"], "there is no launcher 'rsh'"),
    (["measure", "latency-map", "-n", "2", "--launcher", "generic"], "--launcher-template"),
    (["measure", "latency-map", "-n", "2", "--launcher", "flux"], "cannot start 'flux'"),
    (["measure", "latency-map", "-n", "2", "--kill-after", "soon"], "is not a time above 0"),
    (["measure", "latency-map", "-n", "2", "--kill-after", "0"], "is not a time above 0"),
    (["measure", "latency-map", "-n", "2", "--platform", "absent.xml"], "does not exist"),
    (["measure", "latency-map", "-n", "2", "--platform", "garbage.jsonl"], "a SimGrid platform"),
    (["measure", "synthetic", "-n", "1", "--shape", "2,2", "--slow-node", "9"], "nodes are 0 to 1"),
    (["measure", "latency-map", "-n", "2", "--bytes", "1TiB"], "2 GiB or more"),
    (["show", "absurd.jsonl"], "'median' is out of range"),
    (["show", "huge.jsonl"], "no valid number of 'ranks'"),
    (["export", "map.jsonl", "--to", "csv", "-o", "map.jsonl", "--force"], "it is also the input"),
    (["platform", "nodes:4", "-o", "p.hosts"], "this suffix is reserved for the host file"),
    (["platform", "nodes:8 torus:2x2", "-o", "p.xml"], "defines the number of nodes"),
    (["show", "model.json"], "the file is a model, not a run file"),
    (["report", "pairs.csv", "-o", "r.html"], "pairs.csv:2: 'i' is 'x', not a whole number"),
    (["show", "times.csv"], "the file is a table, not a run file (isochrone fit"),
    (["show", "osu.log"], "osu.log: the file has no table of an OSU benchmark"),
    (["show", "mmpi.log"], "mmpi.log"),
    (["fit", "map.jsonl", "map.jsonl"], "none of the 2 files can be fitted"),
    (
        ["predict", "collective", "--model", "model.json", "--bytes", "8", "--ranks", "-4"],
        "'-4' is not a number of ranks",
    ),
    (
        ["predict", "collective", "--model", "model.json", "--bytes", "8", "--ranks", "0:4:2"],
        "'0:4:2' is not a number of ranks",
    ),
]


@pytest.mark.parametrize(("args", "complaint"), WRONG, ids=[" ".join(args) for args, _ in WRONG])
def test_wrong_use_is_one_line_and_exit_code_2(
    isochrone: Isochrone, tmp_path: Path, args: list[str], complaint: str
) -> None:
    header = '{"record":"run","format":1,"experiment":"latency-map","ranks":2}\n'
    pair = '{"record":"pair","i":0,"j":1,"bytes":64,"median":1e-6,"mean":1e-6,"stddev":0}\n'
    files = {
        "garbage.jsonl": "\x00\x01 this is no JSON\n",
        "empty.jsonl": "",
        "newer.jsonl": header.replace('"format":1', '"format":99'),
        "headless.jsonl": pair,
        "badpair.jsonl": header + pair.replace('"j":1', '"j":7'),
        "map.jsonl": header + pair,
        "absurd.jsonl": header + pair.replace('"median":1e-6', '"median":1e300'),
        "huge.jsonl": header.replace('"ranks":2', '"ranks":400000000'),
        "model.json": '{\n "record": "model",\n "format": 1\n}\n',
        "pairs.csv": "i,j,bytes,mean\nx,1,64,1e-6\n0,1,64,1e-6\n",
        "times.csv": "op,p,b,seconds\nbcast,4,64,1e-6\n",
        "osu.log": "\n# OSU MPI Bandwidth Test v7.1\n# Size      Bandwidth (MB/s)\n",
        "mmpi.log": "# Testing Hostname: x\n# Processors: 4 MsgLen 64 Repeats: 100\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    answer = isochrone(*args, cwd=tmp_path)
    assert answer.returncode == 2, answer.stderr
    assert complaint in answer.stderr
    assert answer.stderr.count("\n") == 1
    assert "Traceback" not in answer.stderr
    assert {f.name: f.read_text() for f in tmp_path.iterdir()} == files, "nothing lost or added"


def test_without_an_mpi_the_hint_says_how_to_get_one(isochrone: Isochrone, tmp_path: Path) -> None:
    missing = tmp_path / "mpicc"
    answer = isochrone("build", MPICC=str(missing))
    assert answer.returncode == 2
    assert "$MPICC" in answer.stderr


def test_without_simgrid_the_line_names_the_package(isochrone: Isochrone, tmp_path: Path) -> None:
    answer = isochrone("measure", "latency-map", "--launcher", "simgrid", PATH=str(tmp_path))
    assert answer.returncode == 2
    assert "libsimgrid-dev" in answer.stderr
    assert answer.stderr.count("\n") == 1


def test_a_machine_in_a_line_becomes_a_platform_and_its_hosts(
    isochrone: Isochrone, tmp_path: Path
) -> None:
    answer = isochrone("platform", "nodes:2 cores:3", "-o", "p.xml", cwd=tmp_path)
    assert answer.returncode == 0, answer.stderr
    assert (tmp_path / "p.hosts").read_text() == "node-0\n" * 3 + "node-1\n" * 3
    assert "slow-node" in isochrone("platform", "--help").stdout


def test_a_compiler_that_fails_shows_its_last_words(isochrone: Isochrone, tmp_path: Path) -> None:
    broken = tmp_path / "mpicc"
    broken.write_text("#!/bin/sh\necho 'no licence for this compiler' >&2\nexit 1\n")
    broken.chmod(0o755)
    answer = isochrone("build", MPICC=str(broken))
    assert answer.returncode == 3
    assert "no licence" in answer.stderr


def test_a_full_disk_is_one_line(isochrone: Isochrone, map_file: Path, golden: Golden) -> None:
    with Path("/dev/full").open("w") as full:
        answer = subprocess.run(
            [SCRIPTS / "isochrone", "show", map_file],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
            check=False,
        )
    assert answer.returncode == 2
    golden.measured(answer.stderr)


def test_ranks_that_fail_are_exit_code_3_with_their_last_words(
    isochrone: Isochrone, tmp_path: Path
) -> None:
    crash = tmp_path / "crash"
    crash.write_text("#!/bin/sh\necho 'node n7 went down' >&2\nexit 9\n")
    crash.chmod(0o755)
    out = tmp_path / "map.jsonl"
    args = ("--launcher", "generic", "--launcher-template", f"{crash} {{program}}", "-o", out)
    answer = isochrone("measure", "latency-map", "-n", 2, *args)
    assert answer.returncode == 3
    assert "node n7 went down" in answer.stderr
    assert "exit status 9" in answer.stderr


def test_a_probe_that_hangs_is_ended_and_its_file_kept(
    isochrone: Isochrone, tmp_path: Path, golden: Golden
) -> None:
    """A program that writes the begin of a run file and then does nothing more, for ever."""
    out = tmp_path / "map.jsonl"
    hang = tmp_path / "hang"
    header = '{"record":"run","format":1,"experiment":"latency-map","ranks":2}'
    hang.write_text(f"#!/bin/sh\necho '{header}' > '{out}'\nsleep 100000\n")
    hang.chmod(0o755)
    args = ("--launcher", "generic", "--launcher-template", f"{hang} {{program}}", "-o", out)
    answer = isochrone("measure", "latency-map", "-n", 2, "--kill-after", 2, *args)
    assert answer.returncode == 3
    golden.measured(answer.stderr)
    assert not read(out).complete
    assert not survivors(hang)


def survivors(file: Path) -> list[str]:
    """Processes that still carry the name of a file in their arguments."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = entry.read_bytes()
        except OSError:
            continue
        if bytes(file) in words:
            found.append(f"{entry}: {words!r}")
    return found
