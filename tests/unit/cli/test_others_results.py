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
        for launch in range(launches)
        for size in SIZES
    ]
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
    assert "--ranks N" in isochrone("fit", text).stderr
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


def test_columns_are_understood_by_their_names_and_that_is_said_once(
    isochrone: Command, tmp_path: Path, golden: Golden
) -> None:
    """Two files of one kind, of 4 and 8 ranks, as OSU prints them without its title."""
    for ranks in (4, 8):
        rows = "".join(f"{size:<10}{ranks + size / 4000:18.3f}\n" for size in SIZES)
        (tmp_path / f"bcast_{ranks}.txt").write_text(f"# Size     Avg Latency(us)\n{rows}")
    words = ("fit", "bcast_4.txt", "bcast_8.txt", "--ranks", "from-name", "--json")
    done = isochrone(*words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["pieces"][0]["fitted"]["p"] == [4, 8]
    golden(done.stderr)
    once = isochrone("compare", "bcast_4.txt", "bcast_8.txt", "--one-launch", cwd=tmp_path)
    assert once.returncode == 0, once.stderr
    assert once.stderr.count("\n") == 1


def test_each_file_of_osu_has_its_own_number_of_ranks(
    isochrone: Command, tmp_path: Path, golden: Golden
) -> None:
    """One number for two files is refused; a file that says its ranks needs none."""
    title = "# OSU MPI Broadcast Latency Test v5.8{}\n# Size  Avg Latency(us)\n"
    for ranks, said in ((4, ""), (8, ""), (16, " by isochrone, 16 ranks")):
        rows = "".join(f"{size} {ranks + size / 4000:.3f}\n" for size in SIZES)
        (tmp_path / f"osu_{ranks}.txt").write_text(title.format(said) + rows)
    four, eight, sixteen = "osu_4.txt", "osu_8.txt", "osu_16.txt"
    for words in ((four, eight, "--ranks", 4), (four, eight), (four, sixteen)):
        done = isochrone("fit", *words, cwd=tmp_path)
        assert done.returncode == 2
        golden(done.stderr)
    for words, ranks in (
        ((four, eight, "--ranks", "32,64"), [32, 64]),
        ((four, sixteen, "--ranks", 2), [2, 16]),
        ((eight, sixteen, four, "--ranks", "from-name"), [4, 16]),
    ):
        done = isochrone("fit", *words, "--family", "tree-smooth", "--json", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["pieces"][0]["fitted"]["p"] == ranks


STRANGE = {
    "empty": "",
    "header only": "Processes,Size,Latency(us)\n",
    "two sizes": "Processes,Size,msg_size,Latency(us)\n2,8,8,1.5\n",
    "text": "Processes,Size,Latency(us)\r\n2,8,abc\r\n",
    "negative": "Processes,Size,Latency(us)\n2,8,-1.5\n",
    "two units": "Processes,Size,time_us,time_ms\n2,8,1.5,0.0015\n",
    "units in cells": "Processes,Size,Latency(us)\n2,8,1.5us\n4,8,2ms\n",
    "twice": "Processes,Size,Size,Latency(us)\n2,8,8,1.5\n",
    "no header": "2,8,1.5\n4,8,2.5\n",
    "rates": "Processes,Size,Bandwidth (MB/s)\n2,8,1.5\n",
    "short line": "Processes Size Latency(us)\n2 8\n",
    "no ranks": "np,size,t\n0,8,1\n",
    "empty cells": "Processes,Size,Latency(us)\n,,\n",
    "remark": "# only a remark\n",
}


@pytest.mark.parametrize("kind", STRANGE)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_what_strangers_write_is_refused_in_one_line(
    isochrone: Command, tmp_path: Path, golden: Golden, kind: str, encoding: str
) -> None:
    (tmp_path / "t.csv").write_bytes(STRANGE[kind].encode(encoding))
    done = isochrone("fit", "t.csv", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    if encoding == "utf-8":
        golden(done.stderr)


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
            ("fit", "F", "--map-columns", "usec=b"),
            "the file is neither a run file nor a table with a column of times",
        ),
        (("fit", "F", "--map-columns", "usec=seconds:parsec"), "is not a unit of 'seconds'"),
        (("fit", "F", "--map-columns", "bytes=b,usec=seconds"), "the table has no column 'bytes'"),
        (("compare", "F", "F", "--map-columns", "size=nodes,usec=seconds"), "cannot be compared"),
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
