"""The binary file of LinkTest 1.2, written by the program itself with six ranks and SIONlib 1.7."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from beds.mpis import ROOT
from isochrone.base.errors import InputError
from isochrone.formats.importers.linktest import IMPORTER
from isochrone.runfile.any_file import foreign

FILE = ROOT / "tests/golden/linktest/pingpong_results_bin.sion"
SLOWEST = {(5, 2): 5331.5056, (4, 2): 4427.0675, (0, 5): 634.5828, (3, 4): 5929.4673}
"""What the program printed: µs of the second measurements of pairs."""


def test_times_are_those_of_the_program() -> None:
    """Both directions, the second measurements, size, repetitions and hosts."""
    run = IMPORTER.run(FILE)
    assert (run.size, run.message_sizes(), run.hosts) == (6, [4096], ["vm"] * 6)
    assert run.options["repeats"] == 3
    pairs = run.pairs()
    again = pairs.flag("retest")
    assert (np.sum(~again), np.sum(again)) == (15, 6)
    first = ~again & (pairs["i"] == 0) & (pairs["j"] == 1)
    assert pairs["forward"][first] == pytest.approx([3132.75098e-6], rel=1e-8)
    assert pairs["reverse"][first] == pytest.approx([5100.42999e-6], rel=1e-8)
    both = pairs["forward"] + pairs["reverse"]
    np.testing.assert_allclose(both[~again], pairs["median"][~again])
    for (i, j), us in SLOWEST.items():
        at = again & (pairs["i"] == min(i, j)) & (pairs["j"] == max(i, j))
        assert pairs["median"][at] == pytest.approx([2e-6 * us], rel=1e-7)


def test_it_is_recognised_by_its_content() -> None:
    assert foreign(FILE) == "linktest"


@pytest.mark.parametrize(
    ("before", "after"), [(b"LKTST\1", b"LKTST\2"), (b"LKTST\1\0\0\0\2", b"     \1\0\0\0\2")]
)
def test_other_versions_and_other_sion_files_are_refused(
    tmp_path: Path, before: bytes, after: bytes
) -> None:
    """Of LinkTest 2, the error names the reader that the program brings."""
    path = tmp_path / "other.sion"
    path.write_bytes(FILE.read_bytes().replace(before, after))
    with pytest.raises(InputError) as error:
        IMPORTER.run(path)
    assert "linktest.readSION" in error.value.hint


@pytest.mark.parametrize("length", [20, 4100, 4720, 6200])
def test_a_file_that_is_cut_is_refused(tmp_path: Path, length: int) -> None:
    path = tmp_path / "cut.sion"
    path.write_bytes(FILE.read_bytes()[:length])
    with pytest.raises(InputError):
        IMPORTER.run(path)
