"""Compare as a user does: launches of two sides, their files, what fails and what cannot."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from beds.golden import Golden
from isochrone.runfile.file import read, write
from made_up.launches import launches
from made_up.sweeps import collective

Isochrone = Callable[..., subprocess.CompletedProcess[str]]
GATE = ("--fail-on", "slower:5%")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Five launches each: ``a`` and ``same`` of one machine, ``b`` 20 % slower."""
    dice = np.random.default_rng(2)
    for name, factor in (("a", 1.0), ("same", 1.0), ("b", 1.2)):
        for k, run in enumerate(launches(5, dice, factor=factor, between=0.01, within=0.02)):
            write(run, tmp_path / f"{name}-{k + 1}.jsonl")
    return tmp_path


def one_line(answer: subprocess.CompletedProcess[str], says: str) -> None:
    """Wrong use is one line on standard error, and exit code 2."""
    assert answer.returncode == 2, answer.stderr
    assert answer.stdout == ""
    assert len(answer.stderr.splitlines()) == 1
    assert says in answer.stderr


def test_it_fails_where_asked_to_with_one_line_a_part(isochrone: Isochrone, folder: Path) -> None:
    """``a.jsonl`` stands for a-1.jsonl to a-5.jsonl."""
    a, b, same = (folder / f"{name}.jsonl" for name in ("a", "b", "same"))
    good = isochrone("compare", a, same, *GATE)
    assert good.returncode == 0, good.stdout
    assert "0 slower, 0 faster" in good.stdout
    assert "than 5 %" in good.stdout
    worse = isochrone("compare", a, b, *GATE)
    assert worse.returncode == 1
    lines = [line for line in worse.stdout.splitlines() if line.startswith("slower by")]
    assert len(lines) == 1
    assert "slower by 19." in lines[0] and "all 8 points, median +" in lines[0]
    assert isochrone("compare", a, b, "--fail-on", "slower:50%").returncode == 0
    assert isochrone("compare", b, a, "--fail-on", "faster:5%").returncode == 1
    assert isochrone("compare", a, b, *GATE, "--margin", "30%").returncode == 1


def test_a_list_of_files_as_a_shell_makes_it_is_two_sides_if_its_names_are_two(
    isochrone: Isochrone, folder: Path
) -> None:
    """Quoted patterns, too; three names, or one, are refused with what to type."""
    a, b, same = (sorted(map(str, folder.glob(f"{name}-?.jsonl"))) for name in ("a", "b", "same"))
    plain = isochrone("compare", folder / "a.jsonl", folder / "b.jsonl")
    listed = isochrone("compare", *a, *b)
    assert (listed.returncode, listed.stdout) == (0, plain.stdout)
    assert listed.stderr.count("\n") == 1
    assert "a.jsonl and " in listed.stderr
    quoted = isochrone("compare", folder / "a-*.jsonl", folder / "b-[1-5].jsonl")
    assert (quoted.stdout, quoted.stderr) == (plain.stdout, "")
    for names in (a[:3], [*a, *b, *same]):
        answer = isochrone("compare", *names)
        assert (answer.returncode, answer.stdout) == (2, "")
        assert "before.jsonl after.jsonl" in answer.stderr
    assert isochrone("compare", *a, "--with-prediction", "--model", "m").returncode == 2


def test_scripts_get_all_of_it_as_one_document(isochrone: Isochrone, folder: Path) -> None:
    answer = isochrone("compare", folder / "a.jsonl", folder / "b.jsonl", *GATE, "--json")
    found = json.loads(answer.stdout)
    assert answer.returncode == 1
    keys = [*found]
    assert keys.index("points") > max(map(keys.index, ("overall", "parts", "cannot_judge")))
    assert found["counts"] == {"slower": 8, "faster": 0, "same": 0, "not known": 0}
    assert {"key", "before", "after", "ratio", "low", "high", "p", "verdict"} == set(
        found["points"][0]
    )
    assert len(found["failed"]) == 8
    assert [part["kind"] for part in found["failed_parts"]] == ["all"]
    assert found["cannot_judge"] == []
    assert found["launches"] == {"before": 5, "after": 5}
    one = isochrone("compare", folder / "a-1.jsonl", folder / "b-1.jsonl", "--json")
    point = json.loads(one.stdout)["points"][0]
    assert (point["low"], point["high"], point["p"], point["verdict"]) == (
        None,
        None,
        None,
        "not known",
    )


def test_one_start_a_side_cannot_be_judged_unless_the_user_insists(
    isochrone: Isochrone, folder: Path
) -> None:
    for other in ("a-2.jsonl", "b-1.jsonl"):
        answer = isochrone("compare", folder / "a-1.jsonl", folder / other, *GATE)
        assert answer.returncode == 1
        assert "8 not known" in answer.stdout
        assert "cannot judge" in answer.stdout
        assert "isochrone measure … --launches 5" in answer.stdout
    pair = (folder / "a-1.jsonl", folder / "b-1.jsonl", "--one-launch")
    assert isochrone("compare", *pair, "--fail-on", "slower:10%").returncode == 1
    assert isochrone("compare", *pair, "--fail-on", "slower:50%").returncode == 0


def test_tables_of_means_are_not_the_same_because_nothing_is_known(
    isochrone: Isochrone, tmp_path: Path
) -> None:
    """OSU prints one mean a size: twice the time was once "same", and passed."""
    for name, factor in (("before", 1), ("after", 2)):
        rows = "".join(f"{8 * 2**k:<10}{factor * (1.2 + k / 10):10.2f}\n" for k in range(6))
        text = f"# OSU MPI Latency Test v7.2\n# Size          Latency (us)\n{rows}"
        (tmp_path / f"{name}.txt").write_text(text)
        isochrone("import", tmp_path / f"{name}.txt", "--from", "osu")
    answer = isochrone("compare", tmp_path / "before.jsonl", tmp_path / "after.jsonl", *GATE)
    assert answer.returncode == 1
    assert "0 same (within 5 %), 6 not known" in answer.stdout
    assert "2.000 [not known]" in answer.stdout
    assert "cannot judge" in answer.stdout


def test_sides_are_files_lists_and_folders(
    isochrone: Isochrone, folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    other = tmp_path_factory.mktemp("other")
    for k in (1, 2, 3):
        (other / f"launch-{k}").mkdir()
        (folder / f"b-{k}.jsonl").rename(other / f"launch-{k}" / "run.jsonl")
    named = ",".join(str(folder / f"a-{k}.jsonl") for k in (1, 2, 2))
    found = json.loads(isochrone("compare", named, other, "--json").stdout)
    assert found["launches"] == {"before": 2, "after": 3}  # a file given twice is one launch
    empty = folder / "empty"
    empty.mkdir()
    one_line(isochrone("compare", folder / "a-1.jsonl", empty), "neither run files")
    one_line(isochrone("compare", folder / "a-1.jsonl", folder / "c.jsonl"), "cannot be read")
    one_line(isochrone("compare", "a", "b", "--fail-on", "slow"), "slower:PERCENT")
    one_line(isochrone("compare", "a", "b", "--margin", "wide"), "not a percentage")
    one_line(isochrone("compare", "a", "b", "--launches", "3"), "this option needs --measure")


def test_folders_of_suites_are_compared_kind_by_kind(
    isochrone: Isochrone, folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Different sizes are no error: what both have is compared, the rest is named."""
    sides = [tmp_path_factory.mktemp(name) for name in ("before", "after")]
    for side, first in zip(sides, ("a", "b"), strict=True):
        (folder / f"{first}-1.jsonl").rename(side / "pair.jsonl")
    for side, sizes in zip(sides, ((8, 64), (64, 512)), strict=True):
        write(collective(sizes=sizes), side / "operations.jsonl")
    write(collective(("alltoall",), ranks=4), sides[1] / "more.jsonl")
    answer = isochrone("compare", *sides)
    assert answer.returncode == 0, answer.stderr
    assert "operations.jsonl:\ncollective: 2 points" in answer.stdout
    assert "bytes 8;" in answer.stdout
    assert "bytes 512" in answer.stdout
    assert "more.jsonl" in answer.stderr
    found = json.loads(isochrone("compare", *sides, "--json").stdout)["comparisons"]
    assert set(found) == {"pair.jsonl", "operations.jsonl"}
    assert {p["verdict"] for one in found.values() for p in one["points"]} == {"not known"}
    gate = isochrone("compare", *sides, *GATE)
    assert gate.returncode == 1
    assert "pair.jsonl: cannot judge" in gate.stdout


NULL = "synthetic -n 1 --shape 2,4"


def test_a_map_of_the_same_machine_placed_otherwise_is_no_change(
    isochrone: Isochrone, tmp_path: Path
) -> None:
    for name, more in (("block", []), ("cyclic", ["--slow-node", 2])):
        isochrone(
            "measure",
            *NULL.split(),
            "--placement",
            name,
            *more,
            "--quiet",
            "-o",
            tmp_path / f"{name}.jsonl",
        )
    answer = isochrone("compare", tmp_path / "block.jsonl", tmp_path / "cyclic.jsonl", *GATE)
    assert answer.returncode == 1
    lines = [line for line in answer.stdout.splitlines() if line.startswith("slower by")]
    assert lines == ["slower by 200.0 %: node n2: 12 pairs, median +16.0 µs"]


def test_launches_are_files_that_say_which_they_are(
    isochrone: Isochrone, tmp_path: Path, golden: Golden
) -> None:
    answer = isochrone("measure", *NULL.split(), "--launches", 3, "-o", "map.jsonl", cwd=tmp_path)
    assert answer.returncode == 0, answer.stderr
    assert "map-1.jsonl … map-3.jsonl" in answer.stdout
    files = sorted(tmp_path.iterdir())
    assert [file.name for file in files] == ["map-1.jsonl", "map-2.jsonl", "map-3.jsonl"]
    assert [read(file).notes["launch"] for file in files] == ["1/3", "2/3", "3/3"]
    again = isochrone("measure", *NULL.split(), "--launches", 3, "-o", "map.jsonl", cwd=tmp_path)
    assert again.returncode == 2
    golden.measured(again.stderr)
    printed = isochrone("measure", *NULL.split(), "--launches", 2, "--dry-run", cwd=tmp_path).stdout
    assert [f"launch={k}/2" in line for k, line in enumerate(printed.splitlines(), 1)] == [
        True,
        True,
    ]


def test_sizes_that_are_chosen_are_chosen_once(isochrone: Isochrone, tmp_path: Path) -> None:
    """Launches with sizes of their own would have no points in common."""
    answer = isochrone(
        "measure",
        "point-to-point",
        "-n",
        2,
        "--bytes",
        "auto:0:16KiB",
        "--launches",
        3,
        "--repeats",
        3,
        "--quiet",
        "-o",
        "p.jsonl",
        cwd=tmp_path,
    )
    assert answer.returncode == 0, answer.stderr
    runs = [read(tmp_path / f"p-{k}.jsonl") for k in (1, 2, 3)]
    sizes = [set(run.tables["sample"]["bytes"].tolist()) for run in runs]
    assert sizes[0] == sizes[1] == sizes[2]


def test_two_commands_are_launched_in_turns_and_compared(
    isochrone: Isochrone, tmp_path: Path
) -> None:
    slow = f"{NULL} --slow-node '1'"
    answer = isochrone(
        "compare",
        "--measure",
        NULL,
        slow,
        "--launches",
        3,
        *GATE,
        "--quiet",
        "-o",
        "kept",
        cwd=tmp_path,
    )
    assert answer.returncode == 1, answer.stderr
    assert "slower by 200.0 %: node n1: 12 pairs" in answer.stdout
    files = list((tmp_path / "kept").iterdir())
    order = [file.stem for file in sorted(files, key=lambda file: file.stat().st_mtime_ns)]
    assert order == ["a-1", "b-1", "b-2", "a-2", "a-3", "b-3"]
    assert read(tmp_path / "kept" / "b-2.jsonl").notes["launch"] == "2/3"
    again = isochrone("compare", tmp_path / "kept" / "a.jsonl", tmp_path / "kept" / "b.jsonl")
    assert "node n1: 12 pairs" in again.stdout


@pytest.mark.parametrize(
    ("first", "second", "says"),
    [
        (NULL, f"{NULL} -o x.jsonl", "-o is an option of compare"),
        (NULL, f"{NULL} --dry-run", "--dry-run is an option of compare"),
        (NULL, f"{NULL} 'open", "no closing quotation"),
        (NULL, "nothing -n 2", "invalid choice"),
        (NULL, "point-to-point -n 2", "A measures synthetic, B point-to-point"),
        (NULL, f"{NULL} --bandwidth 0", "--bandwidth must be above 0"),
        (NULL, f"{NULL}; touch hacked", "'2,4;' is not a list"),
    ],
)
def test_a_command_that_is_none_is_refused_before_anything_is_measured(
    isochrone: Isochrone, tmp_path: Path, first: str, second: str, says: str
) -> None:
    one_line(isochrone("compare", "--measure", first, second, cwd=tmp_path), says)
    assert list(tmp_path.iterdir()) == []
