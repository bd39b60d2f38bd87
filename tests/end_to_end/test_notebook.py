"""The notebook of examples/ works as it is: its cells run one after the other."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from beds.mpis import ROOT, Mpi

NOTEBOOK = ROOT / "examples/latency-map.ipynb"


def test_the_cells_find_the_slow_node(
    mpich: Mpi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the words of the analysis, by the data frame and by the array of xarray."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPICC", str(mpich.probe.mpicc))
    cells: dict[str, Any] = {}
    document = json.loads(NOTEBOOK.read_text())
    for cell in document["cells"]:
        if cell["cell_type"] == "code":
            assert cell["outputs"] == []  # what is shown is what a reader measures
            exec(compile("".join(cell["source"]), NOTEBOOK.name, "exec"), cells)
    assert cells["slow"] == ["n5"]
    assert cells["slowest"] == "n5"
    assert cells["by_host"].index[0] == "n5"
    assert cells["table"].num_rows == len(cells["run"].pairs())
    assert cells["matrix"].sizes == {"bytes": 2, "i": 32, "j": 32}
    assert cells["figure"].axes
    shown = [cells[name]._repr_html_() for name in ("run", "found", "model", "predicted")]
    assert all(text.startswith("<") for text in shown)
