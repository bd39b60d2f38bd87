"""What `isochrone doctor` reads of a host: synthetic trees of /proc and /sys with known answers."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from isochrone.measure.machine import checks

CPU = "sys/devices/system/cpu"
CLOCK = "sys/devices/system/clocksource/clocksource0/current_clocksource"


def verdict(root: Path, name: str) -> str:
    (found,) = [one for one in checks(root) if one.name == name]
    assert bool(found.advice) == (found.verdict in ("advice", "problem"))
    return found.verdict


@pytest.mark.parametrize(
    ("name", "file", "text", "expected"),
    [
        ("frequency governor", f"{CPU}/cpu0/cpufreq/scaling_governor", "performance\n", "ok"),
        ("frequency governor", f"{CPU}/cpu1/cpufreq/scaling_governor", "powersave\n", "advice"),
        ("turbo", f"{CPU}/cpufreq/boost", "1", "advice"),
        ("turbo", f"{CPU}/cpufreq/boost", "0", "ok"),
        ("turbo", f"{CPU}/intel_pstate/no_turbo", "0", "advice"),
        ("turbo", f"{CPU}/intel_pstate/no_turbo", "1", "ok"),
        ("hardware threads", f"{CPU}/smt/active", "1", "ok"),
        ("clock", CLOCK, "tsc", "ok"),
        ("clock", CLOCK, "hpet", "advice"),
        ("load", "proc/loadavg", "0.00 0.00 0.00 1/99 1", "ok"),
        ("load", "proc/loadavg", f"{os.cpu_count()}.5 0 0 1/99 1", "advice"),
        ("load", "proc/loadavg", "damaged", "unknown"),
        ("processor quota", "sys/fs/cgroup/cpu.max", "50000 100000", "advice"),
        ("processor quota", "sys/fs/cgroup/cpu.max", "max 100000", "ok"),
    ],
)
def test_what_a_host_shows_is_judged(
    tmp_path: Path, name: str, file: str, text: str, expected: str
) -> None:
    (tmp_path / file).parent.mkdir(parents=True)
    (tmp_path / file).write_text(text)
    assert verdict(tmp_path, name) == expected


@pytest.mark.parametrize("name", ["frequency governor", "turbo", "hardware threads", "clock"])
def test_what_a_host_does_not_show_is_unknown(tmp_path: Path, name: str) -> None:
    assert verdict(tmp_path, name) == "unknown"


def test_the_quota_of_a_group_above_counts(tmp_path: Path) -> None:
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/self/cgroup").write_text("0::/slice/job\n")
    (tmp_path / "sys/fs/cgroup/slice/job").mkdir(parents=True)
    (tmp_path / "sys/fs/cgroup/slice/job/cpu.max").write_text("max 100000")
    (tmp_path / "sys/fs/cgroup/slice/cpu.max").write_text("20000 100000")
    assert verdict(tmp_path, "processor quota") == "advice"


def test_without_shared_memory_mpi_may_fail(tmp_path: Path) -> None:
    assert verdict(tmp_path, "shared memory") == "advice"
