"""Which file the ranks write is read from the probe's own options, never from the launcher's."""

from __future__ import annotations

from pathlib import Path

import pytest

from isochrone.measure.data_file import data_file

PROBE = ["mpiexec", "-n", "4", "/cache/isochrone-probe"]


@pytest.mark.parametrize(
    ("tokens", "expected"),
    [
        ([*PROBE, "tile-io", "--file", "/scratch/f", "--keep"], "/scratch/f"),
        ([*PROBE, "tile-io", "--file=/scratch/f=1"], "/scratch/f=1"),
        ([*PROBE, "tile-io", "--file", "a", "--file", "b"], "b"),
        ([*PROBE, "tile-io", "--file", "lustre:/scratch/f"], "/scratch/f"),
        ([*PROBE, "tile-io", "--phase", "exchange"], None),
        (["flux", "run", "--file", "/etc/mine", *PROBE, "latency-map"], None),
        (["make", "--file", "Makefile"], None),
        ([*PROBE, "tile-io", "--file"], None),
    ],
)
def test_the_file_of_the_ranks(tokens: list[str], expected: str | None) -> None:
    assert data_file(tokens) == (Path(expected) if expected else None)
