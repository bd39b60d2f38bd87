"""Any access pattern: messages and bytes are those that the real library sends."""

from __future__ import annotations

import os
import random
import subprocess
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from beds.mpis import CROWDED, PATIENCE, Mpi
from beds.recorded import built
from beds.shim import Message, Shim
from beds.tuned import Ranks
from isochrone.collective_io.cli.workload import recorded_access
from isochrone.collective_io.patterns import table
from isochrone.collective_io.workload.accesses import Accesses
from isochrone.collective_io.workload.call import Call, aggregators
from isochrone.collective_io.workload.traffic import Counts, count, layout_of
from isochrone.measure import probe

RANKS = 8


def random_table(dice: random.Random) -> list[tuple[int, ...]]:
    """Rows ``rank,offset,length,count,stride`` that do not overlap; some ranks may have none."""
    owners = dice.sample(range(RANKS), dice.randint(2, RANKS))
    rows, at = [], dice.randint(0, 300)
    for _ in range(dice.randint(4, 14)):
        if dice.random() < 0.5:  # some ranks take turns
            length, turns = dice.randint(1, 90), dice.sample(owners, dice.randint(1, len(owners)))
            times, stride = dice.randint(1, 9), length * len(turns) + dice.randint(0, 20)
            rows += [(rank, at + k * length, length, times, stride) for k, rank in enumerate(turns)]
            at += times * stride
        else:
            rows.append((dice.choice(owners), at, dice.randint(1, 900), 1, 0))
            at += rows[-1][2]
        at += dice.choice([0, 0, dice.randint(1, 400)])
    # a rank without data stands at the first byte of the file, which ROMIO takes for its begin
    rows += [(rank, 0, 0, 1, 0) for rank in set(range(RANKS)) - {row[0] for row in rows}]
    dice.shuffle(rows)
    return rows


def expected(accesses: Accesses, call: Call, servers: Sequence[int]) -> Counter[Message]:
    """Return every message of a write: from whom to whom, and how many bytes."""
    windows = call.windows(len(servers))
    runs = accesses.touches(windows.start, windows.end)
    held: Counter[tuple[int, int]] = Counter()
    for window, first, last, size, _ in zip(*(c.tolist() for c in runs), strict=True):
        held.update({(window, rank): size for rank in range(first, last)})
    return Counter(
        (rank, servers[int(windows.domain[window])], size) for (window, rank), size in held.items()
    )


def of_nodes(messages: Counter[Message], hosts: Sequence[str]) -> list[list[int]]:
    """Sum up by node: messages within, in, out, and the bytes of each."""
    names = list(dict.fromkeys(hosts))
    found = [[0] * 6 for _ in names]
    for (sender, receiver, size), times in messages.items():
        a, b = names.index(hosts[sender]), names.index(hosts[receiver])
        for node, side in [(a, 0)] if a == b else [(a, 2), (b, 1)]:
            found[node][side] += times
            found[node][side + 3] += times * size
    return found


def total(call: Call, hosts: Sequence[str], servers: Sequence[int]) -> list[list[int]]:
    """Return the same as `of_nodes` as it is predicted."""
    layout = layout_of(hosts)
    counts = Counts.none(layout.nodes)
    for kind in call.round_kinds(len(servers)):
        counts = counts.plus(count(kind.traffic, layout, servers), kind.times)
    return np.array(counts).T.round(6).tolist()


@pytest.mark.few(3)
@pytest.mark.parametrize("seed", range(12))
def test_messages_and_bytes_of_random_tables_are_those_of_romio(
    mpich_shim: Shim, mpich: Mpi, tmp_path: Path, seed: int
) -> None:
    """One to eight aggregators, buffers that fit nothing, gaps, and ranks without any data."""
    dice = random.Random(seed)
    path, log = tmp_path / "table", tmp_path / "log"
    path.write_text("".join(" ".join(map(str, row)) + "\n" for row in random_table(dice)))
    accesses = table.read(path, RANKS)
    cores = dice.choice([(4, 2, 1, 1), (3, 3, 2), (1,) * 8, (2, 1, 1, 4)])
    hosts = [f"f{k}" for k, size in enumerate(cores) for _ in range(size)]
    nodes, buffer = seed % 8 + 1, dice.choice([None, 97, 512, 1000])
    hints = {
        "cb_nodes": nodes,
        "cb_config_list": "*:*",
        "romio_cb_write": "enable",
        "romio_cb_read": "enable",
    }
    hints |= {} if buffer is None else {"cb_buffer_size": buffer}
    (tmp_path / "hints").write_text("".join(f"{k} {v}\n" for k, v in hints.items()))
    for rank in range(RANKS):  # one that sends nothing writes none
        Path(f"{log}.{rank}").touch()
    program = built(mpich, tmp_path, "table_io")
    words = [str(program), str(tmp_path / "data"), str(path)]
    around = mpich_shim.around(words, log=log, nodes=",".join(map(str, cores)))
    command = Ranks(mpich, RANKS, tuple(around)).command()
    environ = {**os.environ, **CROWDED, "ROMIO_HINTS": str(tmp_path / "hints")}
    subprocess.run(command, check=True, timeout=PATIENCE, env=environ)
    seen = mpich_shim.traffic(RANKS, log)
    call = Call(accesses, buffer=buffer)
    servers = aggregators(hosts, "*:*", nodes)
    written = expected(accesses, call, servers)
    assert seen.written == written
    assert seen.read == Counter(
        {(receiver, sender, size): n for (sender, receiver, size), n in written.items()}
    )
    assert total(call, hosts, servers) == of_nodes(seen.written, hosts)


def seen_by(accesses: Accesses) -> list[object]:
    """Return what a prediction sees of accesses: file domains, and who has what in each."""
    found: list[object] = [accesses.extent, accesses.interleaved]
    for nodes, buffer in ((1, None), (3, 512), (8, 97)):
        call = Call(accesses, buffer=buffer)
        windows = call.windows(nodes)
        found += [windows.start.tolist(), windows.end.tolist()]
        found.append(expected(accesses, call, range(nodes)))
    return found


@pytest.mark.parametrize("seed", [1, 4, 6])
def test_a_recorded_table_is_the_table(mpich: Mpi, tmp_path: Path, seed: int) -> None:
    """Also where ranks have no data: where they stand moves the file domains."""
    rows = random_table(random.Random(seed))
    assert any(not row[2] for row in rows)
    path, out = tmp_path / "table", tmp_path / "run.jsonl"
    path.write_text("".join(" ".join(map(str, row)) + "\n" for row in rows))
    words = str(built(mpich, tmp_path, "table_io")), str(tmp_path / "data"), str(path)
    library = str(probe.build_library(mpich.probe.mpicc, "io"))
    command = Ranks(mpich, RANKS, words).command(LD_PRELOAD=library, ISOCHRONE_IO_RECORD=str(out))
    subprocess.run(command, check=True, timeout=PATIENCE, env={**os.environ, **CROWDED})
    recorded = recorded_access(out).accesses
    assert seen_by(recorded) == seen_by(table.read(path, RANKS))
