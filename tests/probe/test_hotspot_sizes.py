"""Hot spots of several sizes on a real MPI; which points, and their times: tests/simulated."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from beds.shim import Shim


def test_several_sizes_and_all_nodes_busy_in_one_run(mpich_shim: Shim, tmp_path: Path) -> None:
    """Short exchanges follow each other in one sample, whose time is that of one."""
    run = mpich_shim.run(
        "hotspot",
        "--bytes",
        "64,4KiB",
        "--repeats",
        "2",
        "--warmup",
        "1",
        "--max-intra",
        "1",
        ranks=4,
        out=tmp_path / "h.jsonl",
        nodes="2,1,1",
    )
    assert run.complete
    table = run.tables["sample"]
    assert set(table["bytes"].tolist()) == {64, 4096}
    assert set(table["shape"]) == {"star", "ring"}
    assert {warning["code"] for warning in run.warnings} >= {"unreachable"}
    assert 1 < np.nanmax(table["batch"]) <= 64, "of those that were short, on a busy machine too"
