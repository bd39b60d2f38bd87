"""What a file claims is checked against what it holds before memory or time is spent.

Each command runs in a process of its own with little address space; an answer is one line and exit
code 2, with less than 300 MiB.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from fuzz.alone import judge_alone
from isochrone.runfile.file import write
from made_up import bombs, latency_maps

IMPORT = "import {file} -o out --from"
NPZ = f"{IMPORT} npz"
MAT = f"{IMPORT} matlab"
APP = "export {file} --to goal -o out --set p=4 --iterations 1"
DEEP = 100_000

BOMBS: dict[str, tuple[str, Callable[[], bytes | str]]] = {
    "npz-zeros": (NPZ, bombs.npz_of_zeros),
    "npz-small-directory": (NPZ, bombs.npz_with_a_small_directory),
    "npz-in-npz": (NPZ, bombs.npz_in_npz),
    "npz-large-window": (NPZ, bombs.npz_with_a_large_window),
    "npz-shape": (NPZ, lambda: bombs.npz({"avg.npy": bombs.header("(200000, 200000)")})),
    "npz-many-dimensions": (
        NPZ,
        lambda: bombs.npz({"avg.npy": bombs.header("(" + "9999," * 2000 + ")")}),
    ),
    "npz-small-elements": (
        NPZ,
        lambda: bombs.npz({"avg.npy": bombs.header("(3000, 3000)", "|u1") + bytes(9_000_000)}),
    ),
    "npz-long-names": (
        NPZ,
        lambda: bombs.npz(
            {"avg.npy": bombs.array(), "hosts.npy": bombs.header("(9,)", "<U99999999")}
        ),
    ),
    "mat-zeros": (MAT, bombs.mat_of_zeros),
    **{
        f"mat-{name}{suffix}": (MAT, lambda one=one, pack=pack: bombs.mat(pack(one)))
        for name, one in bombs.MATLAB.items()
        for suffix, pack in (("", bytes), ("-packed", bombs.packed))
    },
    "run-wide": ("show {file}", bombs.wide),
    "run-deep": ("show {file}", lambda: '{"record":"run","x":' + "[" * DEEP + "]" * DEEP + "}"),
    "model-deep": (
        "predict message --model {file} --bytes 8",
        lambda: '{"a":' * DEEP + "1" + "}" * DEEP,
    ),
    "orders-deep": (
        "plot {file} --view orders -o out.svg",
        lambda: "[" * DEEP + "]" * DEEP,
    ),
    "table-deep": ("run --tuning {file} -- true", lambda: "[" * DEEP + "]" * DEEP),
    "csv-one-line": ("fit {file}", lambda: "b,seconds," + "x" * 1_000_000 + "\n1,1\n"),
    "csv-many-columns": ("fit {file}", lambda: "b,seconds" + ",x" * 400_000 + "\n1,1\n"),
    "csv-long-number": ("fit {file}", lambda: "b,seconds\n1," + "1" * 900_000 + "\n"),
    "csv-long-name": (
        "fit {file}",
        lambda: f"op,b,seconds\n{'x' * 100_000},1,1\n" + "x,1,1\n" * 100_000,
    ),
    "csv-long-other": (
        "fit {file}",
        lambda: f"z,b,seconds\n{'x' * 100_000},1,1\n" + "x,1,1\n" * 100_000,
    ),
    "csv-map-one-line": (f"{IMPORT} csv", lambda: "i,j,bytes,mean," + "x" * 10**6),
    "osu-one-line": (f"{IMPORT} osu --ranks 2", lambda: "# OSU " + "1 " * 500_000),
    "imb-one-line": (f"{IMPORT} imb", lambda: "# Benchmarking " + "1 " * 500_000),
    "mmpi-one-line": (f"{IMPORT} mmpi", lambda: "1 " * 500_000),
    "run-long-host": (
        "show {file}",
        lambda: bombs.run(
            8000,
            f'{{"record":"rank","rank":0,"host":"{"x" * 400_000}"}}',
            *(f'{{"record":"rank","rank":{k},"host":"n"}}' for k in range(1, 8000)),
        ),
    ),
    "yaml-laughs": (APP, bombs.laughs),
    "yaml-deep": (APP, lambda: "isochrone: app/1\napps: " + "[" * DEEP + "]" * DEEP),
    "yaml-indented": (APP, lambda: "\n".join(" " * k + "a:" for k in range(1000))),
    "toml-deep": (
        "ISOCHRONE_SITE_CONFIG={file} config",
        lambda: "a = " + "[" * DEEP + "]" * DEEP,
    ),
    "toml-dotted": ("ISOCHRONE_SITE_CONFIG={file} config", lambda: "a." * DEEP + "a = 1"),
    "hosts": ("place nodes --hostfile {file} --rows --model ok.json", lambda: "n1:99999999\n"),
}


@pytest.mark.few(12)
@pytest.mark.parametrize("name", BOMBS)
def test_a_claim_is_refused_before_it_costs_anything(name: str, tmp_path: Path) -> None:
    """One line, exit code 2, and little memory, whatever the file says it holds."""
    command, content = BOMBS[name]
    made = content()
    (tmp_path / "input").write_bytes(made if isinstance(made, bytes) else made.encode())
    assert (tmp_path / "input").stat().st_size <= 1 << 20
    words = command.replace("{file}", "input").split()
    variables = {}
    if "=" in words[0]:
        key, _, value = words.pop(0).partition("=")
        variables[key] = value
    verdict = judge_alone(words, tmp_path, variables)
    assert not verdict.wrong, verdict
    assert verdict.code == 2, verdict


@pytest.mark.few(1)
@pytest.mark.parametrize("command", ["show input", "report input", "compare input input"])
def test_few_pairs_of_many_ranks_cost_little(command: str, tmp_path: Path) -> None:
    """A map of which hardly anything was measured is read, and no groups are looked for in it."""
    matrix = np.full((1000, 1000), np.nan)
    i, j = np.random.default_rng(1).integers(1000, size=(2, 3000))
    matrix[i, j] = matrix[j, i] = 2.0
    matrix = latency_maps.noisy(latency_maps.blank(matrix), 0.1, seed=1)
    write(latency_maps.map_of(matrix), tmp_path / "input")
    more = {"report": ["-o", "out.html"], "compare": ["--one-launch"]}
    words = command.split()
    verdict = judge_alone([*words, *more.get(words[0], [])], tmp_path, {})
    assert not verdict.wrong, verdict
    assert verdict.code == 0, verdict
