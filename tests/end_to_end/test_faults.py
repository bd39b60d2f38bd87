"""What surrounds a command fails: its folders, its output, its limits, its locale, its clock.

tests/contract/promises.toml names these tests.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from beds.faults import ISOCHRONE, isochrone, one_line, start
from beds.mpis import PATIENCE, Mpi
from isochrone.runfile.file import read, write
from made_up.latency_maps import latency_map

MEASURE = ("measure", "latency-map", "-n", "2", "--repeats", "5", "--quiet")
ODD_NAMES = ("with space", "quo'te\"s", "new\nline", "$(touch owned)", "-dash", "ünï", ";&|<>*?")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a run in it."""
    write(latency_map(["a"] * 2 + ["b"] * 2), tmp_path / "map.jsonl")
    return tmp_path


@pytest.mark.few(3)
@pytest.mark.parametrize(
    "environ",
    [
        {"HOME": "/nonexistent"},
        {"HOME": None},
        {"HOME": "/proc/1"},
        {"TMPDIR": "/nonexistent"},
        {"PATH": "/usr/bin:/bin"},
        {"LANG": None, "LC_ALL": None},
        {"COLUMNS": "1"},
        {"TERM": None},
    ],
    ids=str,
)
def test_a_measurement_needs_none_of_these(
    mpich: Mpi, tmp_path: Path, environ: dict[str, str | None]
) -> None:
    """HOME, TMPDIR, PATH, locale and terminal may be missing, as in a batch job or a container."""
    out = tmp_path / "map.jsonl"
    answer = isochrone(
        *MEASURE, "--mpicc", mpich.probe.mpicc, "-o", out, cwd=tmp_path, environ=environ
    )
    assert answer.returncode == 0, answer.stderr
    assert read(out).complete


def test_a_home_that_cannot_be_written_is_no_place_for_the_probe(
    mpich: Mpi, tmp_path: Path
) -> None:
    """Without a cache folder the probe is built where it can be, or the refusal says what to do."""
    environ = {"HOME": "/proc/1", "XDG_CACHE_HOME": None}
    answer = isochrone(
        *MEASURE, "--mpicc", mpich.probe.mpicc, "-o", "map.jsonl", cwd=tmp_path, environ=environ
    )
    assert "Traceback" not in answer.stderr
    assert answer.returncode in (0, 2, 3)


@pytest.mark.parametrize("locale", ["C", "POSIX"])
def test_a_narrow_locale_loses_characters_and_nothing_else(folder: Path, locale: str) -> None:
    """µ and · cannot be written there."""
    environ = {"LC_ALL": locale, "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    answer = isochrone("show", "map.jsonl", cwd=folder, environ=environ)
    assert answer.returncode == 0, answer.stderr
    assert "latency-map" in answer.stdout


@pytest.mark.few(3)
@pytest.mark.parametrize(
    ("closed", "code"), [(">&-", 0), ("2>&-", 0), (">&- 2>&-", 0), (">/dev/full", 2), ("<&-", 0)]
)
def test_output_may_be_closed_or_full(folder: Path, closed: str, code: int) -> None:
    """Cron jobs and daemons close what they do not need; a full disk is said."""
    answer = isochrone("show", "map.jsonl", cwd=folder, limits=f"exec {closed};")
    assert answer.returncode == code, answer.stderr
    assert "Traceback" not in answer.stderr


@pytest.mark.full
def test_few_open_files_are_enough(mpich: Mpi, tmp_path: Path) -> None:
    """A limit of 64 is that of some login nodes."""
    answer = isochrone(
        *MEASURE,
        "--mpicc",
        mpich.probe.mpicc,
        "-o",
        "map.jsonl",
        cwd=tmp_path,
        limits="ulimit -n 64;",
    )
    assert answer.returncode == 0, answer.stderr
    report = isochrone("report", "map.jsonl", "-o", "r.html", cwd=tmp_path, limits="ulimit -n 64;")
    assert report.returncode == 0, report.stderr


@pytest.mark.parametrize("kilobytes", [350_000, 500_000])
def test_too_little_memory_is_said_in_a_line(folder: Path, kilobytes: int) -> None:
    """Login nodes limit the memory of a process."""
    answer = isochrone(
        "report", "map.jsonl", "-o", "r.html", cwd=folder, limits=f"ulimit -v {kilobytes};"
    )
    assert "Traceback" not in answer.stderr
    assert answer.returncode in (0, 2)
    assert (folder / "r.html").exists() == (answer.returncode == 0)


@pytest.mark.few(2)
@pytest.mark.parametrize("name", ODD_NAMES)
def test_names_of_files_are_names_and_nothing_else(folder: Path, name: str) -> None:
    """Blanks, quotes, line breaks and words of a shell in the name of a folder."""
    inner = folder / name
    inner.mkdir()
    (folder / "map.jsonl").rename(inner / "map.jsonl")
    for words in (
        ("show", inner / "map.jsonl"),
        ("report", inner / "map.jsonl", "-o", inner / "r.html"),
        ("plot", inner / "map.jsonl", "-o", inner / "p.png"),
        ("export", inner / "map.jsonl", "--to", "csv", "-o", inner / "o.csv"),
    ):
        answer = isochrone(*words, cwd=folder)
        assert answer.returncode == 0, answer.stderr
    assert sorted(path.name for path in inner.iterdir()) == [
        "map.jsonl",
        "o.csv",
        "p.png",
        "r.html",
    ]
    assert sorted(path.name for path in folder.iterdir()) == [name]


def test_a_name_that_is_no_text_comes_out_as_it_went_in(folder: Path) -> None:
    """Names of files are bytes."""
    inner = Path(os.fsdecode(os.fsencode(folder) + b"/\xff\xfe"))
    inner.mkdir()
    answer = subprocess.run(
        [ISOCHRONE, "export", folder / "map.jsonl", "--to", "csv", "-o", inner / "o.csv"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )
    assert answer.returncode == 0, answer.stderr
    assert (inner / "o.csv").exists()
    assert b"Traceback" not in answer.stderr


def _gone(folder: Path) -> Path:
    return folder / "gone" / "x"


def _full(folder: Path) -> Path:
    return Path("/dev/full")


@pytest.mark.few(4)
@pytest.mark.parametrize("where", [_gone, _full])
@pytest.mark.parametrize(
    "words",
    [
        ("report",),
        ("plot",),
        ("export", "--to", "csv"),
        ("export", "--to", "npz"),
        ("export", "--to", "matlab"),
        ("check", "--hosts-out"),
        ("check", "--junit"),
        ("check", "--openmetrics"),
        ("check", "--page"),
    ],
    ids=" ".join,
)
def test_what_cannot_be_written_is_a_line(
    folder: Path, words: tuple[str, ...], where: Callable[[Path], Path]
) -> None:
    """A folder that is not there, a disk that is full: what was there before stays."""
    output = () if words[0] == "check" else ("-o",)
    if words[0] == "plot" and where is _full:
        pytest.skip("the format of a picture is in its name, and no full device is called x.png")
    target = f"{where(folder)}.png" if words[0] == "plot" else str(where(folder))
    answer = isochrone(words[0], "map.jsonl", *words[1:], *output, target, cwd=folder)
    one_line(answer, 2)
    assert [path.name for path in folder.iterdir()] == ["map.jsonl"]


def test_of_two_runs_into_one_file_one_is_refused(mpich: Mpi, tmp_path: Path) -> None:
    """And the other is whole."""
    words = [*MEASURE, "--mpicc", mpich.probe.mpicc, "-o", "map.jsonl"]
    started = [start(*words, cwd=tmp_path) for _ in range(3)]
    said = [(one.communicate(timeout=PATIENCE)[1], one.returncode) for one in started]
    assert sorted(code for _, code in said)[0] == 0, said
    assert all(code in (0, 2) for _, code in said), said
    assert read(tmp_path / "map.jsonl").complete


def test_a_forced_run_leaves_the_old_file_to_whoever_still_writes_it(
    mpich: Mpi, tmp_path: Path
) -> None:
    """Once both wrote into one file, and neither could be read."""
    (tmp_path / "map.jsonl").write_text("of another command\n")
    (tmp_path / "same").hardlink_to(tmp_path / "map.jsonl")
    words = [*MEASURE, "--mpicc", mpich.probe.mpicc, "-o", "map.jsonl", "--force"]
    process = start(*words, cwd=tmp_path)
    assert process.wait(timeout=PATIENCE) == 0
    assert read(tmp_path / "map.jsonl").complete
    assert (tmp_path / "same").read_text().startswith("of another")
