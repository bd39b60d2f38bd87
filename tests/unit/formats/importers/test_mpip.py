"""Reports of mpiP: times of ranks and call sites, and what a shorter report still has."""

from __future__ import annotations

from pathlib import Path

import pytest

from beds.command_line import run_here
from beds.mpis import ROOT
from isochrone.applications.results.recording import operations, rank_times, trace
from isochrone.base.errors import InputError
from isochrone.runfile.any_file import read
from isochrone.runfile.run import Run

TEXT = (ROOT / "tests/golden/mpip/report.txt").read_text("utf-8")


def _run(folder: Path, text: str) -> Run:
    path = folder / "app.2.17.1.mpiP"
    path.write_text(text, "utf-8")
    return read(path)


def test_times_of_ranks_and_call_sites(tmp_path: Path) -> None:
    run = _run(tmp_path, TEXT)
    assert [(r.seconds, r.communication, r.computation, r.calls) for r in rank_times(run)] == [
        (10, 2, 8, 160),
        (10, 4, 6, 160),
    ]
    assert [
        (o.op, o.bytes, o.calls, o.moved, o.seconds, o.most, o.code) for o in operations(run)
    ] == [
        ("waitall", 0, 100, 0, pytest.approx(4.0), 0.09, "stencil.c:50 (exchange)"),
        ("allreduce", 8, 20, 160, pytest.approx(1.0), 0.07, "0x40586e"),
        ("isend", 1024, 200, 204800, pytest.approx(0.5), 0.005, "stencil.c:42 (exchange)"),
    ]
    assert run.hosts == ["n1", "n2"]
    assert (run.header["started"], run.size) == ("2026-02-03T04:05:06Z", 2)


def test_a_report_without_its_longest_part_has_the_slowest_call_sites(tmp_path: Path) -> None:
    """Only three digits of sizes are there; of old versions, not the number of calls."""
    short = TEXT.split("---\n@--- Callsite Time", maxsplit=1)[0]
    found = {o.op: o for o in operations(_run(tmp_path, short))}
    assert [(o.calls, o.seconds, o.most) for o in found.values()] == [
        (100, 4.0, 0),
        (20, 1.0, 0),
        (200, 0.5, 0),
    ]
    assert (found["isend"].bytes, found["isend"].moved) == (1020, 205000)
    old = short.replace("      Count    COV", "    COV").replace("        100   0.20", "    0.20")
    assert {o.op: o.calls for o in operations(_run(tmp_path, old))}["waitall"] == 0


def test_a_report_has_no_order_of_calls(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        trace(_run(tmp_path, TEXT))


@pytest.mark.parametrize(
    "text",
    [
        TEXT.replace("   0         10          2    20.00\n", ""),
        TEXT.replace("         10          2    20.00", "        -10          2    20.00"),
        TEXT.replace("MPI Time (seconds)", "Task Time Statistics (seconds)"),
        TEXT.replace("Waitall              3    *    100", "Waitall              3    *    1.5"),
    ],
)
def test_what_is_damaged_is_refused_in_one_line(text: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        _run(tmp_path, text)
    assert "\n" not in str(caught.value)


def test_a_report_is_shown_with_shares_of_its_call_sites(tmp_path: Path) -> None:
    path = tmp_path / "report.mpiP"
    path.write_text(TEXT, "utf-8")
    answer = run_here("show", str(path))
    assert answer.returncode == 0
    row = next(line for line in answer.stdout.splitlines() if line.startswith("waitall"))
    assert row.split()[-3:] == ["20.0%", "stencil.c:50", "(exchange)"]
