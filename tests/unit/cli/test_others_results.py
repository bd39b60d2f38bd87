"""`fit` and `compare` take what other programs printed, and tables of one's own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from beds.command_line import Command
from beds.golden import Golden
from beds.mpis import ROOT
from isochrone.runfile.file import write
from made_up.sweeps import point_to_point

GOLDEN = ROOT / "tests/golden"
SIZES = [2**k for k in range(3, 20)]


def semicolons(folder: Path, name: str, factor: float = 1.0, launches: int = 1) -> Path:
    """Write a table as a spreadsheet in a country with decimal commas does: 2 µs + b / (4 GB/s)."""
    path = folder / name
    rows = [
        f"{size};{factor * (2 + size / 4000) * (1 + launch / 1000):.5f};{launch}".replace(".", ",")
        for launch in range(launches) for size in SIZES
    ]  # fmt: skip
    path.write_text("\n".join(["size;usec;launch", *rows, ""]))
    return path


def osu(folder: Path, name: str) -> Path:
    path = folder / name
    rows = "".join(f"{size:<10}{2 + size / 4000:18.2f}\n" for size in SIZES)
    path.write_text(f"# OSU MPI Latency Test v7.2\n# Size          Latency (us)\n{rows}")
    return path


def test_fit_takes_the_text_of_osu_by_its_content(isochrone: Command, tmp_path: Path) -> None:
    done = isochrone("fit", osu(tmp_path, "what.ever"), "--family", "hockney", "--json")
    assert done.returncode == 0, done.stderr
    alpha, beta = json.loads(done.stdout)["pieces"][0]["coefficients"]
    assert alpha == pytest.approx(2e-6, rel=0.02)
    assert beta == pytest.approx(1 / 4e9, rel=0.02)


def test_fit_takes_nccl_and_collectives_of_which_the_ranks_are_said(isochrone: Command) -> None:
    assert isochrone("fit", GOLDEN / "nccl-tests/all-reduce-2.17.txt").returncode == 0
    text = GOLDEN / "osu/collectives-5.8.txt"
    assert "give --ranks N" in isochrone("fit", text).stderr
    assert (
        isochrone("fit", text, "--ranks", 8, "--op", "allreduce", "--family", "hockney").returncode
        == 0
    )


def test_fit_takes_columns_with_decimal_commas(isochrone: Command, tmp_path: Path) -> None:
    path = semicolons(tmp_path, "t.csv")
    done = isochrone("fit", path, "--map-columns", "size=b,usec=seconds:us", "--json")
    assert done.returncode == 0, done.stderr
    alpha, beta = json.loads(done.stdout)["pieces"][0]["coefficients"]
    assert alpha == pytest.approx(2e-6, rel=0.01)
    assert beta == pytest.approx(1 / 4e9, rel=0.01)


def test_compare_takes_tables_with_launches(isochrone: Command, tmp_path: Path) -> None:
    """Five launches a side, of which the second takes 1.5 times as long: slower at every size."""
    before = semicolons(tmp_path, "a.csv", launches=5)
    after = semicolons(tmp_path, "b.csv", 1.5, launches=5)
    words = ("compare", before, after, "--map-columns", "size=b,usec=seconds:us", "--json")
    done = isochrone(*words)
    assert done.returncode == 0, done.stderr
    points = json.loads(done.stdout)["points"]
    assert {point["verdict"] for point in points} == {"slower"}
    assert isochrone(*words, "--fail-on", "slower:10%").returncode == 1


def test_an_exported_table_of_several_pairs_is_not_taken_for_one(
    isochrone: Command, tmp_path: Path, golden: Golden
) -> None:
    """Pairs are no repetitions of each other."""
    write(point_to_point(pairs=((0, 1), (0, 3))), tmp_path / "run.jsonl")
    isochrone("export", "run.jsonl", "--to", "csv", cwd=tmp_path)
    done = isochrone("compare", "run.csv", "run.csv", cwd=tmp_path)
    assert done.returncode == 2
    golden(done.stderr)
    write(point_to_point(), tmp_path / "one.jsonl")
    isochrone("export", "one.jsonl", "--to", "csv", cwd=tmp_path)
    assert isochrone("compare", "one.csv", "one.csv", cwd=tmp_path).returncode == 0


def test_compare_show_and_plot_take_the_text_of_others(isochrone: Command, tmp_path: Path) -> None:
    text = osu(tmp_path, "a.txt")
    assert isochrone("compare", text, osu(tmp_path, "b.txt")).returncode == 0
    assert "imported" in isochrone("show", text).stdout
    assert isochrone("export", text, "--to", "csv", "-o", tmp_path / "a.csv").returncode == 0
    done = isochrone("plot", text, "-o", tmp_path / "a.svg")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (
            ("fit", "F", "--map-columns", "size=b"),
            "the file is neither a run file nor a CSV table with a column 'seconds'",
        ),
        (("fit", "F", "--map-columns", "usec=seconds:parsec"), "is not a unit of 'seconds'"),
        (("fit", "F", "--map-columns", "bytes=b,usec=seconds"), "the table has no column 'bytes'"),
        (("compare", "F", "F", "--map-columns", "size=nodes,usec=seconds"), "cannot be compared"),
        (("compare", "F", "F"), "the file is a table, not a run file"),
        (("fit", "F"), "the file is neither a run file nor a CSV table with a column 'seconds'"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_what_cannot_be_read_is_one_line(
    isochrone: Command, tmp_path: Path, words: tuple[str, ...], says: str
) -> None:
    path = semicolons(tmp_path, "t.csv")
    done = isochrone(*(path if word == "F" else word for word in words))
    assert done.returncode == 2
    assert says in done.stderr
    assert done.stderr.count("\n") == 1
