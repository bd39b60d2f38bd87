"""Measured calls out of run files: what was accessed, by whom it was served, how long it took."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from beds.golden import Golden
from isochrone.base.table import Table, TableBuilder
from isochrone.collective_io.patterns.tiles import tile_io
from isochrone.collective_io.predict.call_parts import fit
from isochrone.collective_io.predict.calls_of_runs import measured_calls
from isochrone.collective_io.predict.whole_call import MeasuredCall, observation
from isochrone.collective_io.workload.call import Call
from isochrone.runfile.run import Rank, Run
from made_up.io_machines import MIB, hosts, random_machine, tile_run

KIB = 1024
HINTS = {
    "cb_nodes": "2",
    "cb_buffer_size": str(4 * MIB),
    "cb_config_list": "n2,*:1",
    "romio_cb_write": "automatic",
    "striping_unit": "0",
}
TIMES = (0.30, 0.20, 0.22)


def table(rows: list[dict[str, Any]]) -> Table:
    builder = TableBuilder()
    builder.extend(rows)
    return builder.build()


def recording(hints: dict[str, str], members: str | None = None, library: str = "MPICH") -> Run:
    """A program on 4 ranks of 2 nodes that writes 3 times, ranks in turns: 1 KiB each, 64 times."""
    own = [0, 1, 2, 3] if members is None else [1, 2, 3]
    file = {"file": 0, "name": "f", "opens": 1} | ({} if members is None else {"ranks": members})
    header = {
        "record": "run",
        "format": 1,
        "experiment": "io-recording",
        "kind": "io-recording",
        "options": {},
        "mpi": {"library": library, "standard": "4.1"},
        "ranks": 4,
        "clock": {"source": "MPI_Wtime", "granularity": 1e-9, "cost": 1e-8, "simulated": False},
    }
    tables = {
        "file": table([file]),
        "hint": table([{"file": 0, "key": key, "value": value} for key, value in hints.items()]),
        "pattern": table(
            [
                {
                    "pattern": 0,
                    "file": 0,
                    "op": "write",
                    "bytes": len(own) * 64 * KIB,
                    "pieces": 64 * len(own),
                    "calls": 3,
                }
            ]
        ),
        "piece": table(
            [
                {
                    "pattern": 0,
                    "rank": rank,
                    "offset": k * KIB,
                    "length": KIB,
                    "count": 64,
                    "stride": len(own) * KIB,
                }
                for k, rank in enumerate(own)
            ]
        ),
        "call": table(
            [
                {
                    "call": k,
                    "pattern": 0,
                    "shift": 0,
                    "name": "MPI_File_write_all",
                    "seconds": time,
                    "offsets": 0.01,
                    "counts": 0.02,
                    "exchange": time / 2,
                    "file": 0.03,
                    "rounds": 1,
                    "late": 0.001,
                }
                for k, time in enumerate(TIMES)
            ]
        ),
    }
    ranks = [Rank(k, host, k // 2) for k, host in enumerate(("n1", "n1", "n2", "n2"))]
    return Run(header, ranks, {k: v for k, v in tables.items() if len(v)}, [], {"complete": True})


def only(run: Run) -> MeasuredCall:
    (found,) = measured_calls([run])
    return found


def test_a_recorded_pattern_is_a_call_with_its_hints() -> None:
    found = only(recording(HINTS))
    assert found.call.buffer == 4 * MIB
    assert not found.call.reading
    assert found.aggregators == [2, 0]  # n2 stands first in the list of hosts
    assert found.seconds == 0.22
    assert found.parts["exchange"] == 0.11
    assert found.parts["late"] == 0.001
    assert found.call.pattern.extent == (0, 256 * KIB)


def test_the_list_of_aggregators_that_romio_reports_is_believed() -> None:
    """What ROMIO says it took counts more than what its hints mean."""
    assert only(recording(HINTS | {"romio_aggregator_list": "1 3"})).aggregators == [1, 3]


def test_ranks_of_a_file_that_others_did_not_open_are_numbered_as_in_the_run() -> None:
    found = only(recording(HINTS | {"romio_aggregator_list": "1 0"}, members="1-3"))
    assert found.aggregators == [2, 1]
    assert found.call.pattern.extent == (0, 192 * KIB)


def test_without_collective_buffering_nobody_serves() -> None:
    found = only(recording(HINTS | {"romio_cb_write": "disable"}))
    assert not found.collective
    seen = observation(found, None)
    assert seen.seconds == {"independent": 0.22}


def test_a_recording_without_hints_of_romio_is_refused_in_a_line(golden: Golden) -> None:
    """OMPIO says nothing of aggregators: nothing can be concluded for other settings."""
    with golden.refusal():
        measured_calls([recording({}, library="Open MPI v5")])


def test_tiles_are_read_as_the_probe_divides_them_if_nothing_is_said() -> None:
    machine, by_rank = random_machine(5), hosts((4, 4))
    call = Call(tile_io(4, 2, (512, 512), 4), buffer=4 * MIB)
    measured = replace(machine.measured(call, by_rank, [0, 4]), seconds=10.0)
    run = tile_run(measured, HINTS)
    del run.header["options"]["tiles"]
    assert only(run).call == call
    assert only(run).aggregators == [0, 4]


def test_calls_that_scatter_widen_the_interval() -> None:
    """Repetitions 30 % apart, of one launch: another launch is not closer than that."""
    machine = random_machine(5)
    call = only(recording(HINTS)).call
    calm = machine.measured(call, ["n1", "n1", "n2", "n2"], [0, 2])
    wild = replace(calm, scatter=dict.fromkeys(calm.parts, 0.5))
    widths = []
    for one in (calm, wild):
        seen = observation(one, machine.model)
        found = fit([seen]).ask(False, "exchange", seen.features)
        assert found is not None
        widths.append(found.high / found.low)
    assert widths[1] > 1.5 * widths[0]
