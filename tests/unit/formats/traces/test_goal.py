"""Schedules of GOAL: what export writes is read back, and what other generators write is read."""

from __future__ import annotations

from pathlib import Path

import pytest

from isochrone.applications.description.actions import actions
from isochrone.applications.description.lowering import program
from isochrone.applications.description.point_to_point import as_messages
from isochrone.applications.description.reading import parse
from isochrone.applications.traces.trace import Trace
from isochrone.base.errors import InputError
from isochrone.formats import program as programs
from isochrone.formats.traces.goal import TRACE
from made_up.described import random_description


@pytest.mark.parametrize("seed", range(12))
def test_an_exported_schedule_comes_back(seed: int, tmp_path: Path) -> None:
    """All messages with their sizes and the computation of each rank, in blocking calls or not."""
    path = tmp_path / "x.goal"
    steps = actions(program(parse(random_description(seed, 3), "test")))
    programs.load("goal").write(steps, path)
    trace = TRACE.read([path])
    for rank, events in enumerate(trace.ranks):
        sent = [step for action in steps.of(rank) for step in as_messages(action, rank) if step.op]
        messages = [s for s in sent if s.op in ("send", "isend", "recv", "irecv")]
        assert sorted(
            (e.op.removeprefix("i"), e.peer, e.bytes) for e in events if e.op != "wait"
        ) == sorted((m.op.removeprefix("i"), m.peer, max(1, round(m.amount))) for m in messages)
        computed = sum(round(s.amount * 1e9) for s in sent if s.op in ("compute", "sleep")) / 1e9
        assert sum(e.gap for e in events) + trace.tail[rank] == pytest.approx(computed, abs=1e-12)


def of(folder: Path, text: str) -> Trace:
    path = folder / "x.goal"
    path.write_text(text)
    return TRACE.read([path])


OTHER = """num_ranks 2

rank 0 { // no labels where nothing waits
  calc 5000 cpu 0
  s1: send 10b to 1 tag 7 cpu 0 nic 0
  s2: send 20b to 1 tag 8
  c: calc 1000 cpu 1
  w: calc 500
  w requires s1 /* and
  the other */
  w requires s2
}
rank 1 {
  a: recv 10b from 0 tag 7
  b: recv 20b from -1
  b requires a
  e: calc 100
  e irequires b
}
"""


def test_what_is_required_is_waited_for(tmp_path: Path) -> None:
    """Messages are begun where they stand, computation overlaps, and one alone is blocking."""
    trace = of(tmp_path, OTHER)
    first, second = trace.ranks
    assert [(e.op, e.peer, e.bytes) for e in first] == [
        ("isend", 1, 10),
        ("isend", 1, 20),
        ("wait", -1, 0),
    ]
    assert [e.gap for e in first] == pytest.approx([5e-6, 0, 1e-6])
    assert next((e.op, e.peer, e.bytes) for e in second) == ("recv", 0, 10)
    assert trace.tail == pytest.approx([5e-7, 0], abs=1e-12)
    assert len(trace.warnings) == 1  # processors


WRONG = {
    "no ranks": "rank 0 {\nl1: calc 5\n}\n",
    "no operation": "num_ranks 1\nrank 0 {\nl1: jump 5\n}\n",
    "a label is not known": "num_ranks 1\nrank 0 {\nl1: calc 5\nl1 requires l2\n}\n",
    "a label twice": "num_ranks 1\nrank 0 {\nl1: calc 5\nl1: calc 5\n}\n",
    "a circle": "num_ranks 1\nrank 0 {\na: calc 5\nb: calc 5\na requires b\nb requires a\n}\n",
    "a peer does not exist": "num_ranks 1\nrank 0 {\nsend 5b to 3 tag 0\n}\n",
    "a rank does not exist": "num_ranks 1\nrank 4 {\ncalc 1\n}\n",
    "cut off": "num_ranks 1\nrank 0 {\nl1: calc 5\n",
    "no messages": "num_ranks 1\nrank 0 {\nl1: calc 5\n}\n",
}


@pytest.mark.parametrize("fault", WRONG)
def test_what_is_no_schedule_is_refused_in_one_line(tmp_path: Path, fault: str) -> None:
    with pytest.raises(InputError) as caught:
        of(tmp_path, WRONG[fault])
    assert "\n" not in str(caught.value)
