"""Why MPI-IO is slow: recordings whose cause is known by how they were made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from isochrone.base.record import Members
from isochrone.collective_io.causes.accesses import SMALL
from isochrone.collective_io.causes.rules import RULES, Cause, causes
from isochrone.collective_io.program.summary import summary
from isochrone.collective_io.results.io_times import account, parts_of, table
from isochrone.runfile.run import Rank, Run
from made_up.io_recordings import io_recording, spent
from made_up.sweeps import table_of

RANKS = 4
MIB = 1024**2


def everyone(call: str, seconds: float, op: str | None = None, **more: Any) -> list[Members]:
    return [spent(call, rank, seconds, op, **more) for rank in range(RANKS)]


def recording(*rows: list[Members], hints: Mapping[str, str] | None = None) -> Run:
    """Record only these seconds, and no patterns, of 10 s of a program."""
    header = {"experiment": "io-recording", "kind": "io-recording", "ranks": RANKS}
    tables = {
        "file": table_of([{"file": 0, "name": "out", "opens": 1, "filesystem": "lustre"}]),
        "time": table_of([row for some in rows for row in some]),
        "hint": table_of(
            [
                {"file": 0, "key": key, "value": value}
                for key, value in (hints or {"x": "y"}).items()
            ]
        ),
    }
    places = [Rank(rank, "n", 0) for rank in range(RANKS)]
    return Run(header, places, tables, [], {"seconds": 10.0, "complete": True})


def collective(calls: int, nbytes: int, pieces: int, access: float) -> list[Members]:
    """Write for 4 s, in which the file is accessed for so long."""
    return everyone(
        "collective",
        4.0,
        "write",
        calls=calls,
        bytes=calls * nbytes,
        access=access,
        pieces=calls * pieces,
        span=calls * RANKS * nbytes,
    )


def independent(calls: int, nbytes: int, pieces: int) -> list[Members]:
    return everyone(
        "independent",
        4.0,
        "write",
        calls=calls,
        bytes=calls * nbytes,
        access=4.0,
        pieces=calls * pieces,
        span=100 * calls * nbytes,
    )


LATE = [
    spent(
        "collective",
        rank,
        4.0 * (rank != 3),
        "write",
        calls=6,
        bytes=6 * MIB,
        pieces=6 * 256,
        waiting=3.9 * (rank != 3),
        last=6 * (rank == 3),
        late=3.9 * (rank == 3),
    )
    for rank in range(RANKS)
]
ONE_HAS_DATA = [
    spent(
        "collective",
        rank,
        4.0,
        "write",
        calls=4,
        bytes=32 * MIB * (rank == 0),
        pieces=4 * (rank == 0),
        empty=4 * (rank != 0),
        access=2.0,
    )
    for rank in range(RANKS)
]

CASES = {
    "late-ranks": [LATE],
    "metadata": [everyone("open", 3.0, calls=60), everyone("set-size", 1.0, calls=60)],
    "sync": [everyone("sync", 4.0, calls=20)],
    "small-independent": [independent(4000, 512, 1)],
    "strided-independent": [independent(3, 512000, 2000)],
    "shared-pointer": [everyone("shared", 4.0, "write", calls=40, bytes=40)],
    "size-imbalance": [ONE_HAS_DATA],
    "small-collective": [collective(400, 512, 1, 0.5)],
    "contiguous-exchange": [collective(4, 8 * MIB, 1, 0.5)],
    "exchange": [collective(3, MIB, 256, 0.5)],
    "unseen-pieces": [collective(100, 65536, 0, 0.5)],
    "file-system": [collective(3, MIB, 256, 3.5)],
}


def first(run: Run) -> Cause:
    return causes(run)[0]


@pytest.mark.parametrize("name", CASES)
def test_the_cause_comes_first(name: str) -> None:
    found = first(recording(*CASES[name]))
    assert found.name == name
    assert found.remedy
    assert found.seconds <= 4.0


def test_every_cause_is_found_in_a_recording() -> None:
    """A piece that begins within a stripe needs the pieces, which a pattern has."""
    run = io_recording()
    run.tables["hint"] = table_of([{"file": 0, "key": "striping_unit", "value": "65536"}])
    names = {cause.name for cause in causes(run)}
    assert "misaligned" in names
    assert names | set(CASES) == {rule.name for rule in RULES}


def test_no_second_is_in_two_causes() -> None:
    """All kinds of calls together: what is explained is no more than what there is."""
    run = recording(*(rows for some in CASES.values() for rows in some))
    found = causes(run)
    assert sum(cause.share for cause in found) <= 1
    assert [cause.seconds for cause in found] == sorted((c.seconds for c in found), reverse=True)
    assert sum(cause.share for cause in causes(io_recording())) <= 1


def test_what_one_rank_accesses_alone_can_be_saved_of_the_program() -> None:
    """4 of 10 s, though it is 1 s of the mean rank: the others may wait for it."""
    of_one = [row for row in independent(4, 8 * MIB, 1) if row["rank"] == 0]
    found = first(recording(of_one))
    assert (found.name, found.seconds) == ("file-system", pytest.approx(1.0))
    assert found.gain == pytest.approx(10 / 6)
    assert "1 rank of 4" in found.why


def test_the_bound_of_tuning_names_what_no_setting_changes() -> None:
    """Opening files again and again, but not buffering that can be switched off."""
    why = {
        name: summary(recording(*CASES[name]), 10.0).best_possible()["why"]
        for name in ("metadata", "small-collective")
    }
    assert "mostly metadata" in why["metadata"]
    assert "mostly" not in why["small-collective"]


def test_a_call_that_is_made_once_can_be_saved_in_no_part() -> None:
    assert causes(recording(everyone("open", 3.0), everyone("sync", 1.0))) == []
    (few,) = causes(recording(everyone("open", 3.0, calls=3)))
    assert few.seconds == pytest.approx(2.0)
    assert few.gain == pytest.approx(10 / 8)


def test_a_small_access_is_what_drishti_calls_small() -> None:
    """Half and twice the limit would say otherwise."""
    assert SMALL == MIB
    for nbytes, name in ((SMALL - 1, "small-independent"), (SMALL, "file-system")):
        assert first(recording(independent(100, nbytes, 1))).name == name


def test_the_numbers_are_those_of_the_recording() -> None:
    late = first(recording(LATE))
    assert late.numbers == {"rank": 3, "calls": 6, "late_seconds": 3.9}
    assert late.seconds == pytest.approx(3.9 * 3 / 4)
    small = first(recording(independent(4000, 512, 1)))
    assert (small.numbers["calls"], small.numbers["bytes"]) == (4000, 512)
    imbalance = first(recording(ONE_HAS_DATA))
    assert (imbalance.numbers["active_ranks"], imbalance.numbers["ranks"]) == (1, 4)
    assert imbalance.share == pytest.approx(3 / 4)


def test_settings_are_those_of_the_library() -> None:
    romio = first(recording(CASES["small-collective"][0], hints={"romio_cb_write": "automatic"}))
    assert "romio_cb_write=disable" in romio.settings
    ompio = first(recording(CASES["small-collective"][0]))
    assert ompio.settings == ["OMPI_MCA_fcoll=individual"]


def test_patterns_divide_the_seconds_of_a_direction() -> None:
    """Of 3 writes that wait 0.1 s for a rank: 2.1 s of 0.7 s each; and the read apart."""
    exchange = next(cause for cause in causes(io_recording()) if cause.name == "exchange")
    waits = 0.3 * 3 / 4
    assert exchange.seconds == pytest.approx(3.0 - waits - 0.6 + 0.9 - 0.2)


def shares(run: Run) -> Iterator[float]:
    found = account(run)
    assert found is not None
    return (part.share for part in found.parts)


def test_the_parts_of_a_call_are_no_longer_than_the_call() -> None:
    """Access of others and waiting may overlap in damaged or odd recordings."""
    rows = everyone("collective", 1.0, "write", waiting=0.8, access=0.9)
    rows += everyone("close", 1.0, waiting=3.0)
    run = recording(rows)
    assert sum(shares(run)) == pytest.approx(1)
    divided = parts_of(table(run))
    assert sum(divided.values()) == pytest.approx(table(run)["seconds"])
    assert divided["access"][:RANKS] == pytest.approx(0.2)


def test_a_recording_without_times_has_no_account() -> None:
    run = io_recording()
    del run.tables["time"]
    assert account(run) is None
    assert causes(run) == []
