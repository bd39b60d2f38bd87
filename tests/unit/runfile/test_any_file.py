"""Any file of measured times is known by what is in it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from beds.golden import Golden
from beds.mpis import ROOT
from isochrone.base.errors import InputError
from isochrone.formats import exporter as exporters
from isochrone.runfile import any_file
from isochrone.runfile import importer as importers
from isochrone.runfile.file import write
from isochrone.runfile.importer import Wanted
from made_up.latency_maps import latency_map
from made_up.sweeps import point_to_point

GOLDEN = ROOT / "tests/golden"


def example(name: str, folder: Path) -> Path:
    """Return a file of an import format: one that others wrote, or an export."""
    if name == "matrix":
        return ROOT / "examples/tables/gpus.txt"
    if (GOLDEN / name).is_dir():
        return sorted((GOLDEN / name).glob("p*.*" if name == "mmpi" else "*"))[-1]
    path = folder / "exported"
    exporters.load(name).write(latency_map(["a", "b", "b"]), path)
    return path


@pytest.mark.parametrize("name", importers.names())
def test_every_import_format_is_known_by_its_content_whatever_the_file_is_called(
    name: str, tmp_path: Path
) -> None:
    misleading = tmp_path / "run.jsonl"
    misleading.write_bytes(example(name, tmp_path).read_bytes())
    assert any_file.foreign(misleading) == name
    assert all(run.about.imported for run in any_file.read_all(misleading, Wanted(ranks=4)))


def test_a_table_is_found_behind_what_a_batch_system_printed(tmp_path: Path) -> None:
    path = tmp_path / "job.out"
    before = "".join(f"[node{k:04}] module load cuda # size count\n" for k in range(500))
    path.write_text(before + (GOLDEN / "nccl-tests/all-reduce-2.17.txt").read_text())
    assert any_file.read(path).experiment == "collective"


def test_a_run_file_that_quotes_another_program_stays_a_run_file(tmp_path: Path) -> None:
    run = point_to_point(sizes=(8, 64), repeats=2)
    run.header["notes"] = {"remark": "\n# OSU MPI Latency Test v5.8\n"}
    write(run, tmp_path / "run.jsonl")
    assert any_file.foreign(tmp_path / "run.jsonl") == ""
    assert any_file.read(tmp_path / "run.jsonl").kind == "sweep"


def test_a_pipe_is_refused_and_never_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError):
        any_file.read(tmp_path / "pipe")


def test_what_cannot_be_read_is_said(tmp_path: Path, golden: Golden) -> None:
    with golden.refusal():
        any_file.read(tmp_path / "nowhere")


@pytest.mark.parametrize("text", ['{\n "command": ["mpiexec"]\n}\n', '{"ranks": 4}\n', "[1,\n2]\n"])
def test_a_json_document_is_refused_as_what_it_is(text: str, tmp_path: Path) -> None:
    """What `show --json` prints, or a report of `tune`, on one line or on several."""
    path = tmp_path / "report.json"
    path.write_text(text)
    with pytest.raises(InputError, match="JSON document"):
        any_file.read(path)
