"""`isochrone fit`: of many files it takes what it can use, and says what it cannot."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from beds.command_line import Command
from beds.golden import Golden
from isochrone.runfile import file as runs
from made_up.latency_maps import mmpi_example
from made_up.steps import stepped
from made_up.sweeps import collective, point_to_point


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    runs.write(mmpi_example(), tmp_path / "a-map.jsonl")
    runs.write(point_to_point(), tmp_path / "b-pair.jsonl")
    runs.write(collective(("bcast",), 4), tmp_path / "c-bcast.jsonl")
    return tmp_path


def test_a_map_among_sweeps_is_left_out_with_a_note(
    isochrone: Command, folder: Path, golden: Golden
) -> None:
    """As in `fit *.jsonl` in a folder where everything was measured."""
    answer = isochrone("fit", "a-map.jsonl", "b-pair.jsonl", "--family", "hockney", cwd=folder)
    assert answer.returncode == 0, answer.stderr
    assert "hockney model" in answer.stdout
    golden(answer.stderr)


def test_what_has_not_the_operation_asked_for_is_left_out(isochrone: Command, folder: Path) -> None:
    answer = isochrone("fit", *sorted(folder.glob("*.jsonl")), "--op", "bcast", cwd=folder)
    assert answer.returncode == 0, answer.stderr
    assert answer.stderr.count("skipped") == 2


def test_a_file_that_cannot_be_read_is_not_left_out(isochrone: Command, folder: Path) -> None:
    """It was named, and may be the one that matters."""
    (folder / "damaged.jsonl").write_text("{")
    answer = isochrone("fit", "b-pair.jsonl", "damaged.jsonl", "--family", "hockney", cwd=folder)
    assert answer.returncode == 2
    assert "damaged.jsonl:1" in answer.stderr


def test_one_file_alone_says_what_fit_takes(
    isochrone: Command, folder: Path, golden: Golden
) -> None:
    answer = isochrone("fit", "a-map.jsonl", cwd=folder)
    assert answer.returncode == 2
    golden(answer.stderr)
    assert answer.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "rows",
    [
        "b,seconds\n8,1e-6\n64,2e-6\n512,1.5e-6\n",
        "op,p,b,seconds\nbcast,2,8,1e-6\nbcast,4,64,2e-6\nbcast,8,512,1.5e-6\n",
        "b,seconds\n" + "8,1e-6\n64,2e-6\n512,1.5e-6\n" * 10,
    ],
    ids=["message", "collective", "repeated"],
)
def test_three_points_without_a_row_are_too_few_for_anything(
    isochrone: Command, tmp_path: Path, rows: str, golden: Golden
) -> None:
    """A line through them is off by a third, and its interval covers nothing."""
    (tmp_path / "three.csv").write_text(rows)
    answer = isochrone("fit", "three.csv", cwd=tmp_path)
    assert answer.returncode == 2
    assert answer.stdout == ""
    assert answer.stderr.count("\n") == 1
    golden(answer.stderr)


def test_a_named_family_needs_points_to_be_judged_by(
    isochrone: Command, tmp_path: Path, golden: Golden
) -> None:
    points = [f"{p},{b},{1e-6 * p + 1e-9 * b!r}" for p in (2, 3) for b in (8, 64)]
    (tmp_path / "few.csv").write_text("\n".join(["p,b,seconds", *points]) + "\n")
    answer = isochrone("fit", "few.csv", "--family", "gather", cwd=tmp_path)
    assert answer.returncode == 2
    golden(answer.stderr)
    assert isochrone("fit", "few.csv", "--family", "bcast-linear", cwd=tmp_path).returncode == 0


def write_steps(path: Path, ranks: tuple[int, ...], jump: float = 0.0) -> None:
    rows = stepped(ranks, jump=jump)
    lines = [",".join(rows[0]), *(",".join(map(str, row.values())) for row in rows)]
    path.write_text("\n".join(lines) + "\n")


def test_rivals_are_listed_with_what_they_say_beyond(
    isochrone: Command, tmp_path: Path, golden: Golden
) -> None:
    write_steps(tmp_path / "t.csv", (2, 4, 8, 16, 32))
    without = isochrone("fit", "t.csv", cwd=tmp_path)
    golden(without.stdout)
    brief = isochrone("fit", "t.csv", "--rivals", cwd=tmp_path).stdout.removeprefix(without.stdout)
    assert "p = 128, b = 256 KiB" in brief
    assert "log2(p)*b" in brief.replace("ceil(log2(p))", "steps")
    golden(brief.strip())


@pytest.mark.slow
def test_at_most_ten_lines_of_rivals_are_printed_the_most_probable_first(
    isochrone: Command, tmp_path: Path
) -> None:
    """Six operations with several rivals each: seven rows, and how many there are besides."""
    rows = stepped((2, 4, 8, 16, 32))
    lines = [
        ",".join(map(str, {**row, "op": f"reduce_scatter_block_number_{k}"}.values()))
        for k in range(6)
        for row in rows
    ]
    (tmp_path / "t.csv").write_text("\n".join([",".join(rows[0]), *lines]) + "\n")
    model = json.loads(isochrone("fit", "t.csv", "--json", cwd=tmp_path).stdout)
    count = sum(len(piece["rivals"]) for piece in model["pieces"])
    assert count > 7
    printed = isochrone("fit", "t.csv", "--rivals", cwd=tmp_path).stdout
    listed = printed.partition("Formulas that fit equally well")[2].rstrip().splitlines()
    assert len(listed) == 10
    assert f" {count - 7} " in listed[-1]
    weights = [int(number) for line in listed for number in re.findall(r" (\d+) %", line)]
    assert len(weights) == 7
    assert weights == sorted(weights, reverse=True)
    printed = isochrone("fit", "t.csv", "--rivals", "-v", cwd=tmp_path).stdout
    every = printed.partition("Formulas that fit equally well")[2].rstrip().splitlines()
    assert len(every) == count + 2


def test_rivals_are_in_the_document(isochrone: Command, tmp_path: Path) -> None:
    write_steps(tmp_path / "t.csv", (2, 4, 8, 16, 32))
    answer = isochrone("fit", "t.csv", "--json", "--explain", cwd=tmp_path)
    document = json.loads(answer.stdout)
    (piece,) = document["pieces"]
    assert {"family", "terms", "coefficients", "weight"} <= piece["rivals"][0].keys()
    assert all(row["sicc"] < 0 for row in document["ranking"][0]["families"][:2])
    (explained,) = document["explanation"]
    assert explained["where"] == {"op": "bcast"}
    assert len(explained["sentences"]) == 3
    assert explained["measure"]["p"] not in (2, 4, 8, 16, 32, 64)


def test_explain_says_three_sentences(isochrone: Command, tmp_path: Path, golden: Golden) -> None:
    """A tree at powers of two only: another number of ranks tells it from smooth growth."""
    write_steps(tmp_path / "t.csv", (2, 4, 8, 16, 32))
    answer = isochrone("fit", "t.csv", "--explain", "-o", "m.json", cwd=tmp_path)
    assert answer.returncode == 0, answer.stderr
    why, else_, next_ = answer.stdout.partition("Why this formula, op bcast:\n")[2].splitlines()[:3]
    golden(why)
    golden(else_)
    assert "weight" in else_
    assert next_.startswith("  Measure p = ")
    golden(next_)
    answer = isochrone(
        "predict", "collective", "--model", "m.json", "--ranks", "8", "--bytes", "8", cwd=tmp_path
    )
    assert answer.returncode == 0, answer.stderr


def test_a_family_that_was_asked_for_is_explained(
    isochrone: Command, tmp_path: Path, golden: Golden
) -> None:
    write_steps(tmp_path / "t.csv", (2, 3, 4, 6, 8, 12))
    answer = isochrone("fit", "t.csv", "--family", "tree", "--explain", cwd=tmp_path)
    golden(answer.stdout)
    assert "Measure p = 24" in answer.stdout


def test_a_known_switch_says_where_in_the_gap_it_is(
    isochrone: Command, tmp_path: Path, golden: Golden
) -> None:
    write_steps(tmp_path / "t.csv", (2, 3, 4, 6, 8, 12), jump=2e-4)
    answer = isochrone(
        "fit",
        "t.csv",
        "--split",
        "b",
        "--known-breakpoint",
        "b:12KiB,1MiB",
        "-o",
        "m.json",
        cwd=tmp_path,
    )
    assert answer.returncode == 0, answer.stderr
    assert "4 KiB and 16 KiB (assumed: 12 KiB)" in answer.stdout
    golden(answer.stdout)
    answer = isochrone(
        "predict",
        "collective",
        "--model",
        "m.json",
        "--ranks",
        "8",
        "--bytes",
        "10KiB",
        cwd=tmp_path,
    )
    golden(answer.stderr)
    answer = isochrone("fit", "t.csv", "--known-breakpoint", "b", cwd=tmp_path)
    assert answer.returncode == 2
    assert answer.stderr.count("\n") == 1


def test_the_page_says_what_extrapolation_was_worth(
    isochrone: Command, tmp_path: Path, golden: Golden
) -> None:
    write_steps(tmp_path / "t.csv", (2, 3, 4, 6, 8, 12, 16))
    answer = isochrone("fit", "t.csv", cwd=tmp_path)
    golden(answer.stdout)
    write_steps(tmp_path / "few.csv", (2, 4, 8))
    answer = isochrone("fit", "few.csv", cwd=tmp_path)
    golden(answer.stdout)


def test_the_first_line_is_the_verdict_and_v_tells_the_rest(
    isochrone: Command, folder: Path
) -> None:
    """Most want to know the formula, and whether to trust it."""
    brief = isochrone("fit", "b-pair.jsonl", "--family", "hockney", cwd=folder).stdout
    first = brief.splitlines()[0]
    assert first.startswith("hockney model")
    assert "\nDeviation: " in brief
    assert "95 % interval" not in brief
    more = isochrone("fit", "b-pair.jsonl", "--family", "hockney", "-v", cwd=folder).stdout
    assert more.splitlines()[0] == first
    assert "95 % interval" in more
    assert "|predicted - " in more


def test_the_page_has_the_formula_and_both_pictures(isochrone: Command, folder: Path) -> None:
    words = ("fit", "b-pair.jsonl", "--family", "hockney", "--page")
    answer = isochrone(*words, "m.html", cwd=folder)
    assert answer.returncode == 0, answer.stderr
    text = (folder / "m.html").read_text("utf-8")
    assert text.count('role="img"') == 2
    assert isochrone(*words, "m.html", cwd=folder).returncode == 2
    assert isochrone(*words, "nowhere/m.html", cwd=folder).returncode == 2
