"""Collective I/O on a cluster of namespaces: measured, predicted, changed, measured again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from cost import ISOCHRONE, cost
from scipy.stats import spearmanr

from beds.mpis import Mpi
from cluster import lifetime
from cluster.measuring import hostfile, measure
from cluster.plan import Plan
from cluster.running import Cluster
from isochrone import models
from isochrone.base.units import format_seconds
from isochrone.collective_io.patterns.tiles import tile_io
from isochrone.collective_io.predict.node_cost import CallCost, NodeCost, predict
from isochrone.collective_io.workload.call import Call, aggregators
from isochrone.collective_io.workload.traffic import layout_of
from isochrone.measure.probe import Probe
from isochrone.runfile.run import Run
from made_up.jobs import TABLE_II, TACHYON, UNEVEN, random_job, shuffled

ROOT = Path(__file__).parents[1]
RATE = "200mbit"
TILE = ("--tiles", "4x4", "--tile", "1024x1024", "--element", "4")
MESSAGE = "2MiB"
"""Half a tile; the hot spot is measured with messages of this size, too. In the queues of busy
links, acknowledgements wait for up to 50 ms: much of the time of smaller messages."""

GRID = ("--bytes", MESSAGE, "--balance", "free", "--max-intra", "1", "--max-inter", "7")
"""Once each in two minutes. Up to two messages within the node and seven each way; the tiles make
up to four and eight, for which the plane through these points is drawn on."""

TURNS = 3
"""Launches of each order of nodes."""


def collective_io(built: Probe, folder: Path) -> None:
    """Fit the cost of a busy node, predict orders of nodes, and improve on the given one."""
    if built.library.startswith("Open MPI"):
        print("\ncollective I/O is measured with MPICH, whose library it is about")
    elif why := lifetime.obstacle():
        print(f"\ncollective I/O is not measured: {why}")
    else:
        with lifetime.cluster(Plan(UNEVEN, RATE)) as on:
            mpi, model = Mpi("mpich", built), folder / "hot-spot.json"
            fit_hotspot(on, mpi, folder, model)
            orders_of_nodes(on, mpi, folder, model)
            order_of_aggregators(on, mpi, folder, model)
    searches(folder)


def fit_hotspot(on: Cluster, mpi: Mpi, folder: Path, model: Path) -> None:
    """Measure a busy node for two minutes and draw the plane through its points."""
    out = folder / "hot-spot.jsonl"
    limits = ("--warmup", 1, "--repeats", 2, "--time-limit", 120)
    run = measure(on, mpi, out, *GRID, *limits, experiment="hotspot")
    for family in ("hotspot", "hotspot-directional"):
        cost([ISOCHRONE, "fit", out, "--family", family, "--force", "-o", model])
        (segment,) = models.read(model).segments
        words = zip(segment.coefficients, segment.terms, strict=True)
        formula = " + ".join(f"{value * 1e3:.2f} ms {term}" for value, term in words)
        print(
            f"\nA busy node, {segment.points} points, {len(run.tables['sample'])} exchanges of "
            f"{MESSAGE}, {RATE}:\n  {family}: {formula}; R2 = {segment.r2:.4f}"
        )


def orders_of_nodes(on: Cluster, mpi: Mpi, folder: Path, model: Path) -> None:
    """Compare what is predicted for ten orders with what their exchange takes, in turns."""
    orders = {**TABLE_II, **shuffled(6)}
    times: dict[str, list[float]] = {name: [] for name in orders}
    said: dict[str, float] = {}
    for turn in range(TURNS):
        for name, order in orders.items():
            hosts = hostfile(on, order, folder / "hosts")
            out = folder / f"tiles-{turn}-{name}.jsonl"
            options = ("--phase", "exchange", *TILE, "--repeats", 2)
            run = measure(on, mpi, out, *options, experiment="tile-io", hosts=hosts)
            times[name].append(exchange(run))
            said[name] = predicted(run, model).seconds
    found = {name: float(np.median(launches)) for name, launches in times.items()}
    print(f"\nExchange of 4x4 tiles, messages of {MESSAGE}, medians of {TURNS} launches in turns:")
    for name, order in orders.items():
        off, nodes = said[name] / found[name] - 1, ",".join(map(str, order))
        spread = f"{min(times[name]) * 1e3:.0f} .. {max(times[name]) * 1e3:.0f}"
        measured = f"{found[name] * 1e3:4.0f} ms ({spread})"
        print(f"  {name:9} {nodes}  predicted {said[name] * 1e3:4.0f} ms {off:+6.1%}  {measured}")
    pairs = [(said[name], found[name]) for name in orders]
    rank = float(spearmanr(*zip(*pairs, strict=True)).statistic)
    deviation = np.mean([abs(a / b - 1) for a, b in pairs])
    print(f"  rank correlation {rank:.3f} (limit: at least 0.9)")
    print(f"  average deviation {deviation:.1%} (limit 10 %)")


def exchange(run: Run) -> float:
    """Return the median time of the exchange when writing."""
    table = run.tables["sample"]
    return float(np.median(table["seconds"][table["op"] == "write"]))


def predicted(run: Run, model: Path) -> CallCost:
    """Predict the exchange of a run from where its ranks are."""
    layout = layout_of(run.hosts)
    servers = aggregators(run.hosts)
    kinds = Call(tile_io(4, 4)).round_kinds(len(servers))
    return predict(kinds, layout, servers, NodeCost(models.read(model)))


def order_of_aggregators(on: Cluster, mpi: Mpi, folder: Path, model: Path) -> None:
    """Let the command line choose the hosts that serve the file, and prove what it gains."""
    words = ["place", "aggregators", "--hostfile", on.hostfile("mpich"), *TILE, "--model", model]
    words += ["--measure", "--launches", 7, "--repeats", 3, "--mpicc", mpi.probe.mpicc]
    words += ["--json", "--force", "-o", folder / "romio-hints"]
    answer = on.run(ISOCHRONE, *words, timeout=300)
    if answer.returncode:
        raise RuntimeError(answer.stderr)
    found = json.loads(answer.stdout)
    gain = found["measured"]
    before, after = (format_seconds(gain[side]) for side in ("given", "proposed"))
    print(f"\nplace aggregators: cb_config_list {found['cb_config_list']}")
    print(f"  predicted {found['given_cost'] / found['cost']:.2f} times as fast")
    print(
        f"  measured {before} to {after}: {gain['ratio']:.2f} times as fast, 95 % interval "
        f"{gain['low']:.2f} .. {gain['high']:.2f}, {gain['launches']} launches each, in turns "
        "(limit: at least 1.6)"
    )


def searches(folder: Path) -> None:
    """Search for orders of few and of many nodes; time it."""
    print("\nplace nodes (limits: 420 orders proven; 1,024 nodes 2 %, 10 s; 10,240 60 s, 2 GiB):")
    jobs = {"420 orders": ([*UNEVEN], 4, 4)}
    for nodes, across in ((1024, 16), (1024, 64), (1024, 256), (10240, 64), (10240, 512)):
        jobs[f"{nodes} nodes, tiles {across} across"] = random_job(nodes, 64, across)
    for name, (cores, x, y) in jobs.items():
        nodes, out = folder / "nodes", folder / "order.json"
        nodes.write_text("".join(f"m{k}:{count}\n" for k, count in enumerate(cores)))
        argv = [ISOCHRONE, "place", "nodes", "--hostfile", nodes, "--tiles", f"{x}x{y}"]
        seconds, memory = cost([*argv, "--model", TACHYON, "--dry-run", "--json"], out)
        found: dict[str, Any] = json.loads(out.read_text())
        sure = "proven the best" if found["proven"] else f"gap {found['gap']:.2%}"
        gain = found["given_cost"] / found["cost"]
        print(f"  {name:29} {sure:15} {gain:.2f}x  {seconds:5.1f} s  {memory:5.0f} MiB")
