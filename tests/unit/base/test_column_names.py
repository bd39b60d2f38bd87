"""Columns are what their names say, in the words and units that people write; no others are."""

from __future__ import annotations

import pytest

from isochrone.base.column_names import understood


@pytest.mark.parametrize(
    ("names", "variable"),
    [
        (
            "Processes,nprocs,np,ranks,procs,p,P,#procs,# of processes,Number of ranks,num_ranks",
            "p",
        ),
        ("nRanks,MPI ranks,comm_size,world size,ntasks,rank count", "p"),
        ("Size,MessageSize,bytes,msg_size,# Size,#bytes,Size (bytes),Message Length,nbytes,B", "b"),
        ("nodes,Nodes,num_nodes,node count", "nodes"),
        ("ppn,PPN,ranks per node,ntasks_per_node", "ppn"),
        ("Collective,operation,coll,MPI function", "op"),
        ("time,Latency,t,elapsed,wall_time,duration,run time", "seconds"),
    ],
)
def test_a_quantity_goes_by_several_names(names: str, variable: str) -> None:
    for name in names.split(","):
        found = understood(name)
        assert found is not None, name
        assert (found.variable, found.factor, found.unit) == (variable, 1.0, ""), name


@pytest.mark.parametrize(
    ("names", "unit", "factor", "statistic"),
    [
        (
            "Latency(us),latency_us,time [usec],t/µs,us,latency (μs),LatencyUs,microseconds",
            "µs",
            1e-6,
            "",
        ),
        ("avg_latency_us,Avg Latency(us),t_avg[usec],mean time (us),avg(us)", "µs", 1e-6, "mean"),
        ("p50_us,median_latency_us", "µs", 1e-6, "median"),
        ("t_min[usec],MinLatency(us)", "µs", 1e-6, "min"),
        ("t_max[usec],Max Latency(us)", "µs", 1e-6, "max"),
        ("ms,time_ms,milliseconds,msec,LatencyMs", "ms", 1e-3, ""),
        ("ns,elapsed_ns,latency [nsec]", "ns", 1e-9, ""),
        ("seconds,time (s),t_sec,Seconds", "s", 1.0, ""),
    ],
)
def test_times_have_the_unit_and_statistic_that_their_name_says(
    names: str, unit: str, factor: float, statistic: str
) -> None:
    for name in names.split(","):
        found = understood(name)
        assert found is not None, name
        assert found.variable == "seconds", name
        assert (found.unit, found.factor, found.statistic) == (unit, factor, statistic), name


@pytest.mark.parametrize(
    ("name", "unit", "factor"),
    [
        ("Size [KiB]", "KiB", 1024),
        ("SizeKiB", "KiB", 1024),
        ("size_kb", "kB", 1000),
        ("msg size (MB)", "MB", 10**6),
        ("bytes in GiB", "GiB", 2**30),
    ],
)
def test_sizes_have_the_unit_that_their_name_says(name: str, unit: str, factor: int) -> None:
    found = understood(name)
    assert found is not None
    assert (found.variable, found.unit, found.factor) == ("b", unit, factor)


@pytest.mark.parametrize(
    "name",
    [
        "Bandwidth (MB/s)",
        "B/s",
        "sync time (us)",
        "rank",
        "node",
        "rep",
        "#repetitions",
        "Algorithm",
        "p95_us",
        "stddev",
        "std (us)",
        "max size",
        "size (us)",
        "time (KiB)",
        "s",
        "m",
        "latency_p99_us",
        "avg min time (us)",
        "count",
        "cores",
        "n",
        "",
        "#",
        "root",
    ],
)
def test_what_is_not_quite_a_quantity_is_none(name: str) -> None:
    """A word more, a unit of something else, or one of many: it stays an unknown column."""
    assert understood(name) is None


def test_only_a_latency_without_unit_is_called_one() -> None:
    """OSU prints latencies in µs, and people copy them without the unit."""
    named = {name: understood(name) for name in ("Latency", "latency_us", "time")}
    assert [name for name, found in named.items() if found and found.latency] == ["Latency"]
