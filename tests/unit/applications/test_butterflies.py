"""Exchanges along bits of the ranks, in rows of them: their number grows with the rows."""

from __future__ import annotations

import pytest

from isochrone.applications.description.lowering import program
from isochrone.applications.description.program import Isend, Repeat
from isochrone.applications.description.reading import parse
from isochrone.applications.traces.generalizing import generalized
from isochrone.applications.traces.steps import row_of
from isochrone.applications.traces.structure import structure
from isochrone.applications.traces.trace import Calls, Event, Trace

ROWS = {4: 2, 8: 4, 16: 4, 32: 8, 64: 8}
"""Ranks in a row of the most balanced grid, the longer side."""


WAIT = Event("wait", seconds=1e-5)


def traced(ranks: int, row: int) -> Trace:
    """Sum twice along rows, from the farthest partner on, as NPB CG does; ten times."""
    found: list[Calls] = []
    for rank in range(ranks):
        found.append([])
        for _ in range(10):
            for _ in range(2):
                distance = row // 2
                while distance:
                    peer = rank ^ distance
                    found[-1] += [Event("irecv", peer, 8), Event("send", peer, 8), WAIT]
                    distance //= 2
            found[-1].append(Event("barrier", gap=1e-4))
    return Trace(found, [tuple(range(ranks))])


def test_rows_of_a_butterfly() -> None:
    rows = [(a, a ^ bit, 8.0) for a in range(16) for bit in (1, 2)]
    columns = [(a, a ^ bit, 8.0) for a in range(16) for bit in (4, 8)]
    assert row_of(rows, 16) == (4, 1)
    assert row_of(columns, 16) == (4, 4)
    assert row_of([*rows, *columns], 16) == (16, 1)
    assert row_of(rows[:-1], 16) is None, "not all ranks"
    assert row_of([(a, a ^ bit, 8.0) for a in range(16) for bit in (1, 4)], 16) is None
    assert row_of([(a, (a + 1) % 16, 8.0) for a in range(16)], 16) is None
    assert row_of([], 16) is None


@pytest.mark.parametrize("ranks", [32, 64])
def test_a_sum_along_rows_has_more_steps_on_more_ranks(ranks: int) -> None:
    structures = [structure(traced(p, ROWS[p])) for p in (4, 8, 16)]
    general = generalized(structures, "x")
    found = program(parse(general.document, "test", {"p": str(ranks)}))
    expected = sorted(2 * [5 ^ 1, 5 ^ 2, 5 ^ 4])

    def partners(steps: object) -> list[int]:
        sent = []
        for step in steps:  # type: ignore[attr-defined]
            if isinstance(step, Repeat):
                times = len(list(step.turns(0)))
                sent += partners(step.steps) * times
            elif isinstance(step, Isend):
                sent.append(step.to)
        return sent

    assert sorted(partners(found.applications[0].steps[5])) == expected
