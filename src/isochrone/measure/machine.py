"""What of this host decides how far measurements can be trusted, and what to change first."""

import os
import shutil
from collections import Counter
from pathlib import Path
from typing import Literal

import msgspec

from isochrone.measure import launcher as launchers

BUSY = 0.2
"""Load average for each processor from which others would disturb the ranks."""

SHARED_MEMORY = 64 * 1024**2
"""Bytes of /dev/shm that an MPI library needs at least: containers often have just this."""

_SLOW_CLOCKS = ("hpet", "acpi_pm", "jiffies")
"""Clock sources that take a microsecond or more to read."""

_STEADY = ("performance",)
"""Governors of processors that keep their frequency."""


Verdict = Literal["ok", "advice", "problem", "unknown"]


class Check(msgspec.Struct, frozen=True):
    """One thing that was looked at.

    Attributes
    ----------
    verdict
        ``ok``; ``advice``: better changed before measuring; ``problem``: nothing can be measured;
        ``unknown``: the machine does not say.
    found
        What is there.
    advice
        What to do; empty if it is well.
    """

    name: str
    verdict: Verdict
    found: str
    advice: str = ""


_Found = tuple[Verdict, str] | tuple[Verdict, str, str]
"""The members of a check but for its name."""


def checks(root: Path = Path("/")) -> list[Check]:
    """Look at this host: processors, frequency, clock, load, memory that ranks share.

    Parameters
    ----------
    root
        Where ``proc``, ``sys`` and ``dev`` are.
    """
    findings: dict[str, _Found] = {
        "processors": _processors(),
        "frequency governor": _governor(root),
        "turbo": _boost(root),
        "hardware threads": _threads(root),
        "clock": _clock(root),
        "load": _load(root),
        "processor quota": _quota(root),
        "shared memory": _shared_memory(root / "dev/shm"),
    }
    return [Check(name, *finding) for name, finding in findings.items()]


def _processors() -> _Found:
    count, cores = launchers.processors(os.environ), launchers.cores(os.environ)
    if count is None:
        return "unknown", "the batch system starts the ranks on other hosts"
    text = f"{count} processors" + (f" of {cores} cores" if cores else "")
    if count == 1:
        return "advice", text, "two ranks would share it: use another host"
    return "ok", text


def _governor(root: Path) -> _Found:
    files = (root / "sys/devices/system/cpu").glob("cpu[0-9]*/cpufreq/scaling_governor")
    governors = Counter(filter(None, map(_read, files)))
    if not governors:
        return "unknown", "not shown (usual in virtual machines)"
    text = ", ".join(f"{name} on {count}" for name, count in governors.most_common())
    if set(governors) <= set(_STEADY):
        return "ok", text
    return "advice", text, "cpupower frequency-set -g performance (or srun --cpu-freq=performance)"


def _boost(root: Path) -> _Found:
    cpu = root / "sys/devices/system/cpu"
    boost, no_turbo = _read(cpu / "cpufreq/boost"), _read(cpu / "intel_pstate/no_turbo")
    if boost is None and no_turbo is None:
        return "unknown", "not shown"
    if boost == "1" or no_turbo == "0":
        return (
            "advice",
            "on: the frequency depends on load and temperature",
            "turn it off to compare runs, or compare alternate launches (compare --measure)",
        )
    return "ok", "off"


def _threads(root: Path) -> _Found:
    active = _read(root / "sys/devices/system/cpu/smt/active")
    if active is None:
        return "unknown", "not shown"
    several = "several a core: ranks are bound to cores by default"
    return "ok", several if active == "1" else "one a core"


def _clock(root: Path) -> _Found:
    name = _read(root / "sys/devices/system/clocksource/clocksource0/current_clocksource")
    if name is None:
        return "unknown", "the clock source is not shown"
    if name in _SLOW_CLOCKS:
        return "advice", name, "boot with clocksource=tsc: reading this one is slow"
    return "ok", name


def _load(root: Path) -> _Found:
    fields = (_read(root / "proc/loadavg") or "").split()
    count = len(os.sched_getaffinity(0))
    try:
        load = float(fields[0])
    except (IndexError, ValueError):
        return "unknown", "not shown"
    text = f"{load:.2f} on {count} processors in the last minute"
    if load > BUSY * count:
        return (
            "advice",
            text,
            "other programs disturb the ranks: wait, or ask for the host alone (srun --exclusive)",
        )
    return "ok", text


def _quota(root: Path) -> _Found:
    group = (_read(root / "proc/self/cgroup") or "").rpartition("::")[2].strip("/")
    folder = root / "sys/fs/cgroup" / group
    names = [folder, *(p for p in folder.parents if (root / "sys/fs/cgroup") in (p, *p.parents))]
    for quota in (_read(name / "cpu.max") for name in names):
        if quota and not quota.startswith("max"):
            return (
                "advice",
                f"cpu.max is {quota}",
                "the container stops ranks in between: remove its limit of processor time",
            )
    return "ok", "none"


def _shared_memory(folder: Path) -> _Found:
    try:
        usage = shutil.disk_usage(folder)
    except OSError:
        return (
            "advice",
            f"there is no {folder}",
            "MPI libraries need it between ranks of a host: mount a tmpfs there",
        )
    text = f"{usage.free / 2**30:.1f} GiB free of {usage.total / 2**30:.1f} GiB in {folder}"
    if usage.free < SHARED_MEMORY:
        return "advice", text, "MPI_Init may fail: free some, or give the container --shm-size=1g"
    return "ok", text


def _read(path: Path) -> str | None:
    """Return the text of a small file without its last newline; None if it cannot be read."""
    try:
        return path.read_text(errors="replace")[:4096].strip()
    except OSError:
        return None
