"""No line of any output ends in blanks: they are copied into logs, diffs and documents."""

from __future__ import annotations

from pathlib import Path

import pytest

from beds.command_line import Command
from isochrone.cli.main import parser
from isochrone.cli.parser import load_all
from isochrone.runfile import file as runs
from made_up.latency_maps import mmpi_example
from made_up.sweeps import collective, point_to_point

HELPS = [one.prog.split()[1:] for one in load_all(parser())]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("blanks")
    runs.write(mmpi_example(), found / "map.jsonl")
    runs.write(point_to_point(), found / "pair.jsonl")
    runs.write(collective(("bcast",), 4), found / "bcast.jsonl")
    (found / "times.csv").write_text(
        "b,seconds\n" + "".join(f"{b},{1e-6 + 1e-9 * b}\n" for b in (1, 8, 64, 512, 4096, 9999))
    )
    return found


@pytest.mark.parametrize(
    "words",
    [
        ["show", "map.jsonl"],
        ["show", "pair.jsonl"],
        ["show", "bcast.jsonl"],
        ["fit", "times.csv", "--family", "hockney"],
        ["fit", "times.csv", "-v"],
        ["fit", "pair.jsonl", "--family", "hockney", "--rivals", "--explain", "-v"],
        ["compare", "pair.jsonl", "pair.jsonl"],
        [
            "predict",
            "collective-io",
            "--nodes",
            "4,4,2,2,1,1,1,1",
            "--tiles",
            "4x4",
            "--model",
            str(Path(__file__).parents[2] / "examples/models/tachyon-i.json"),
        ],
        ["config"],
        ["--help"],
        *([*words, "--help"] for words in HELPS),
    ],
    ids=" ".join,
)
def test_no_line_ends_in_a_blank(isochrone: Command, folder: Path, words: list[str]) -> None:
    answer = isochrone(*words, cwd=folder)
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout.strip()
    for line in (answer.stdout + answer.stderr).splitlines():
        assert line == line.rstrip()
