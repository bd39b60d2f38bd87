"""Time-independent traces of SimGrid: what actions mean, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from isochrone.applications.traces.trace import Event
from isochrone.base.errors import InputError
from isochrone.formats.traces.simgrid_ti import TRACE

MERGED = """0 init
1 init
0 compute 2000
1 compute 1000
0 send 1 0 100 1
1 recv 0 0 100 1
0 isend 1 7 8
1 irecv 0 7 8
0 wait 0 1 7
1 wait 0 1 7
0 reduce 4 0 1 0
1 reduce 4 0 1 0
0 gather 16 16 1 6 6
1 gather 16 16 1 6 6
0 alltoallV 64 32 32 64 32 32
1 alltoallV 64 32 32 64 32 32
0 compute 500
1 finalize
0 finalize
"""


def of(folder: Path, text: str) -> list[list[Event]]:
    path = folder / "x.ti"
    path.write_text(text)
    return [[*events] for events in TRACE.read([path]).ranks]


def test_a_file_with_all_ranks_has_their_calls(tmp_path: Path) -> None:
    """Sizes are numbers of elements of a type, bytes without one; computation is 1 ns each."""
    first, second = of(tmp_path, MERGED)
    assert [(e.op, e.peer, e.bytes, e.root) for e in first] == [
        ("send", 1, 400, -1),
        ("isend", 1, 8, -1),
        ("wait", -1, 0, -1),
        ("reduce", -1, 32, 1),
        ("gather", -1, 16, 1),
        ("alltoall", -1, 64, -1),
    ]
    assert [e.gap for e in first] == pytest.approx([2e-6, 0, 0, 0, 0, 0])
    assert second[0].gap == pytest.approx(1e-6)
    assert TRACE.read([tmp_path / "x.ti"]).tail == pytest.approx([5e-7, 0])


WRONG = {
    "a rank is missing": "0 init\n0 barrier\n2 init\n2 barrier\n",
    "an action is not known": "0 init\n0 teleport 1\n",
    "a number is missing": "0 init\n0 send 1\n1 init\n",
    "a number is negative": "0 init\n0 compute -5\n0 barrier\n",
    "a peer does not exist": "0 init\n0 send 5 0 8\n1 init\n1 barrier\n",
    "a listed file does not exist": "rank-0.txt\nrank-1.txt\n",
    "nothing is done": "0 init\n0 finalize\n",
}


@pytest.mark.parametrize("fault", WRONG)
def test_what_is_no_trace_is_refused_in_one_line(tmp_path: Path, fault: str) -> None:
    with pytest.raises(InputError) as caught:
        of(tmp_path, WRONG[fault])
    assert "\n" not in str(caught.value)


def test_an_error_names_the_file_of_the_rank(tmp_path: Path) -> None:
    (tmp_path / "rank-0.txt").write_text("0 init\n0 barrier\n0 teleport 1\n")
    with pytest.raises(InputError) as caught:
        of(tmp_path, "rank-0.txt\n")
    assert str(caught.value).startswith(f"{tmp_path / 'rank-0.txt'}:3:")
