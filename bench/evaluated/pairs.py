"""All pairs of simulated machines with a known slow component."""

from __future__ import annotations

import numpy as np

from evaluated import peers
from evaluated.section import Bed, Section, Table, isochrone, percent
from isochrone.latency_map.topology import analyse
from isochrone.measure.platforms import Platform, parse
from isochrone.runfile.file import read
from isochrone.runfile.run import Run

TITLE = "Pairs: error, disturbance, cost, and the slow component"

BASE = "nodes:16 cores:2 switches:4"
MACHINES: dict[str, tuple[str, set[str] | None]] = {
    "nothing slow": (BASE, set()),
    "node x3": (f"{BASE} slow-node:5*3", {"node-5"}),
    "pair x10": (f"{BASE} slow-pair:2-9*10", {"node-2", "node-9"}),
    "switch x10": (f"{BASE} slow-switch:1*10", {f"node-{k}" for k in range(4, 8)}),
    "link x10": ("torus:4x4 slow-link:x-5*10", None),
}
"""Machines, and the hosts of what is slow: none, or None for a link that belongs to no host."""

SCHEDULES = ("serial", "isolated", "rounds")
SIZES = (64, 1 << 18)
COLUMNS = (
    "machine", "schedule", "error 64 B", "error 256 KiB", "worst", "simulated ms", "named",
)  # fmt: skip


def evaluate(bed: Bed) -> Section:
    """Measure each machine with each schedule."""
    rows = []
    for name, (line, slow) in MACHINES.items():
        machine = parse(_with_link(line))
        platform = bed.folder / f"{name.replace(' ', '-')}.xml"
        isochrone("platform", machine.description, "-o", platform, "--force")
        ranks = len(machine.node_of_rank())
        for schedule in SCHEDULES:
            out = bed.folder / "map.jsonl"
            isochrone("measure", "latency-map", "-n", ranks, "--platform", platform, "--quiet",
                      "--schedule", schedule, "--bytes", ",".join(map(str, SIZES)),
                      "--repeats", 3, "-o", out, "--force")  # fmt: skip
            rows.append((name, schedule, *_judged(read(out), machine, slow)))
        for peer, run, seconds in peers.on(bed, platform, ranks):
            if run is not None and run.kind == "latency-map":
                rows.append((name, peer, *_judged(run, machine, slow)))
            else:
                rows.append((name, peer, "–", "–", "–", f"({seconds:.1f} s of clock)", "–"))
    return Section(
        f"{len(MACHINES)} machines of 16 to 32 ranks in SimGrid, all pairs, 64 B and 256 KiB. The "
        "truth is the sum of the latencies of the links and the size over the smallest bandwidth.",
        _found(rows), _fails(rows), [Table("pairs", COLUMNS, rows, shown=15)],
    )  # fmt: skip


def _with_link(line: str) -> str:
    """Return the line with the name of a link that the torus has."""
    if "slow-link" not in line:
        return line
    first = next(name for name in parse(line.split(" slow-link")[0]).links if name != "loopback")
    return line.replace("x-5", first)


def _judged(run: Run, machine: Platform, slow: set[str] | None) -> list[str]:
    nodes = machine.node_of_rank()
    errors, worst = [], 0.0
    for size in SIZES:
        if size not in run.message_sizes():
            errors.append("–")
            continue
        truth = np.array([[2 * machine.one_way(a, b, size) for b in nodes] for a in nodes])
        off = np.abs(run.matrix(run.statistic(), size, retested=False) / truth - 1)
        errors.append(percent(float(np.nanmean(off))))
        worst = max(worst, float(np.nanmax(off)))
    found = {frozenset(one.hosts) for one in analyse(run).slow}
    wanted = {frozenset(slow)} if slow else set()
    word = "FALSE" if found - wanted else "missed" if slow is None or wanted - found else "right"
    end = (run.end or {}).get("seconds")
    return [*errors, percent(worst), f"{1e3 * end:.3g}" if end else "–", word]


def _found(rows: list[tuple[str, ...]]) -> list[str]:
    said = []
    for schedule in SCHEDULES:
        own = [row for row in rows if row[1] == schedule]
        right = sum(row[-1] == "right" for row in own)
        said.append(f"`{schedule}`: what is slow is right on {right} of {len(own)} machines.")
    cost = {
        row[1]: float(row[5]) for row in rows if row[0] == "nothing slow" and row[1] in SCHEDULES
    }
    said.append(f"The schedule `isolated` takes {cost['serial'] / cost['isolated']:.1f} times less "
                "machine time than `serial` for the same pairs.")  # fmt: skip
    return said


def _fails(rows: list[tuple[str, ...]]) -> list[str]:
    said = []
    for word, what in (
        ("FALSE", "names something that is not slow"),
        ("missed", "does not name what is slow"),
    ):
        where = [f"{row[0]} (`{row[1]}`)" for row in rows if row[-1] == word]
        if where:
            said.append(f"It {what}: {', '.join(where)}.")
    torus = next(row for row in rows if row[:2] == ("link x10", "isolated"))
    said.append(f"On a torus `isolated` pairs share links: up to {torus[4]} off at 256 KiB. "
                "Only `serial` is right there.")  # fmt: skip
    said.append("`rounds` is disturbed by design: pairs share links, and its errors are theirs.")
    return said
