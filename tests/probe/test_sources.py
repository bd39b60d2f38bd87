"""The sources of the probe: what the folders are for can only be seen if includes go one way."""

from __future__ import annotations

import re

from beds.mpis import ROOT

PROBE = ROOT / "probe"
ORDER = [
    "base",
    "machine",
    "experiment.h",
    "runfile",
    "messages",
    "sampling",
    "global_clock",
    "grid",
    "collectives",
    "preload",
    "interposer",
    "recording",
    "recorder",
    "io_recorder",
    "experiments",
    "alone",
    "main.c",
]
"""A folder or file includes from those before it."""


def test_includes_go_one_way() -> None:
    files = [file.relative_to(PROBE) for file in PROBE.rglob("*.[ch]") if "build" not in file.parts]
    for file in files:
        own = file.parts[0]
        for name in re.findall(r'^#include "(.*)"', (PROBE / file).read_text(), re.MULTILINE):
            assert (PROBE / name).is_file(), f"{file} includes {name}, without its folder"
            other = name.partition("/")[0]
            assert ORDER.index(other) <= ORDER.index(own), f"{file} includes {name}"


def test_experiments_do_not_include_each_other() -> None:
    for file in (PROBE / "experiments").rglob("*.[ch]"):
        own = file.relative_to(PROBE).parts[:2]
        for name in re.findall(r'^#include "(experiments/.*)"', file.read_text(), re.MULTILINE):
            assert tuple(name.split("/")[:2]) == own, f"{file} includes {name}"


def test_random_numbers_come_from_one_place() -> None:
    """SplitMix64 stood in three files."""
    with_it = [
        file.name for file in PROBE.rglob("*.[ch]") if "bf58476d1ce4e5b9" in file.read_text()
    ]
    assert with_it == ["random.h"]
