"""Each command imports what it needs: on a parallel file system every module costs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from isochrone.runfile.file import write
from isochrone.runfile.header import kind_of
from made_up.latency_maps import latency_map
from made_up.sweeps import point_to_point

COUNT = """
import contextlib, io, sys
from isochrone.cli.main import main
with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
    main(sys.argv[1:])
own = [name for name in sys.modules if name.startswith("isochrone")]
print(len(own), *sorted({name.partition(".")[0] for name in sys.modules} & {"numpy", "rich"}))
slow = ("scipy.", "numpy.ma.", "numpy.polynomial", "numpy.random")
print(*sorted(name for name in sys.modules if name.startswith(slow)))
print(*sorted(name for name in own if name.startswith("isochrone.models")))
"""


@pytest.mark.parametrize(
    ("command", "most", "heavy"),
    [
        (["--help"], 14, []),
        (["build", "--help"], 40, []),
        (["measure", "--help"], 40, []),
        (["measure", "latency-map", "--help"], 48, []),
        (["show", "map.jsonl"], 84, ["numpy", "rich"]),
        (["show", "sweep.jsonl"], 80, ["numpy", "rich"]),
        (["check", "map.jsonl"], 104, ["numpy", "rich"]),
    ],
)
def test_a_command_imports_few_modules(
    command: list[str], most: int, heavy: list[str], tmp_path: Path, processes: None
) -> None:
    """Upper bounds: of ours, of what takes long, and none of scipy, masked arrays and models."""
    for run, name in ((latency_map(["a"] * 4 + ["b"] * 4), "map"), (point_to_point(), "sweep")):
        run.header |= kind_of(run.experiment)  # as the probe writes it
        write(run, tmp_path / f"{name}.jsonl")
    answer = subprocess.run(
        [sys.executable, "-c", COUNT, *command],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={**os.environ, "MPICC": "none"},
        timeout=120,
        check=False,
    )
    assert answer.returncode == 0, answer.stderr
    own, scipy, models = answer.stdout.splitlines()
    count, *imported = own.split()
    assert int(count) <= most
    assert set(imported) <= set(heavy)
    assert (scipy, models) == ("", "")
