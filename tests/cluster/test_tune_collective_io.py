"""Tuning a program between several hosts: what is proposed there is what ROMIO then does."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from beds.mpis import CROWDED, SCRIPTS, find_mpi
from beds.recorded import built
from cluster.running import Cluster
from isochrone.collective_io.workload.call import aggregators
from isochrone.runfile.file import read
from made_up.jobs import UNEVEN


@pytest.mark.full
@pytest.mark.timeout(600)
def test_an_order_of_aggregators_is_proposed_and_in_force(
    cluster: Callable[..., Cluster], tmp_path: Path
) -> None:
    made, mpi = cluster(UNEVEN), find_mpi("mpich-wheel")
    program = built(mpi, tmp_path, "io_program")
    start = (mpi.probe.mpicc.with_name("mpiexec"), "-f", made.hostfile("mpich"), "-n", sum(UNEVEN))
    words = ("-m", "isochrone", "tune", "collective-io", "-o", tmp_path / "out", "--no-measure")
    trials = ("--launches", 2, "--min-io-share", 0, "--json", "--")
    file = (program, tmp_path / "data", "tiles", 262144, 1)
    answer = made.run(SCRIPTS / "python", *words, *trials, *start, *file, environ=CROWDED)
    assert answer.returncode == 0, answer.stderr
    found = json.loads(answer.stdout)
    listed = {one["name"]: one["hints"].get("cb_config_list", "*") for one in found["choices"]}
    orders = {name: config for name, config in listed.items() if config.startswith("n")}
    assert orders
    for name, config in orders.items():
        run = read(tmp_path / f"out/runs/{name}-1.jsonl")
        table = run.tables["hint"]
        in_force = dict(zip(table["key"].tolist(), table["value"].tolist(), strict=True))
        wanted = aggregators(run.hosts, config, int(in_force["cb_nodes"]))
        assert in_force["romio_aggregator_list"].split() == [str(rank) for rank in wanted]
