"""What every trace format promises; a new format is tested by being there."""

from __future__ import annotations

from pathlib import Path

import pytest

from isochrone.applications.description.lowering import program
from isochrone.applications.description.reading import parse
from isochrone.applications.traces.deriving import describe
from isochrone.base import registry
from isochrone.base.errors import InputError
from isochrone.formats import trace as traces
from made_up import traces as written
from made_up.programs_run import Seen

FORMATS = traces.names()

PHASES = [
    {"compute": "1ms"},
    {"exchange": {"topology": {"halo": {"shape": [2, 2], "periodic": False}}, "bytes": 1000}},
    {"bcast": {"bytes": 320, "root": 2}},
    {"exchange": {"topology": "pipeline", "bytes": 64, "compute": "200us"}},
    {"allreduce": {"bytes": 16}},
]
WRITERS = {
    "liballprof": lambda folder, seen, events: written.liballprof(folder, events),
    "dumpi": lambda folder, seen, events: written.dumpi(folder, events),
    "simgrid-ti": lambda folder, seen, events: [written.simgrid_ti(folder, events)],
    "otf2": lambda folder, seen, events: [written.otf2_archive(folder, events, seen.groups)],
}
"""Writers of small traces in formats of others; that of our own is tested where it is written."""


def test_every_format_says_what_it_is_in_its_first_line() -> None:
    """The list of formats in the help is made of these lines."""
    for name in FORMATS:
        first = (registry.load("formats.traces", name).__doc__ or "").splitlines()[0]
        assert first.endswith(".")
        assert len(first) <= 100


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("data", [b"", b"\0" * 200, b"PK\x03\x04" + b"x" * 200, b"\xff\xfe1\n2,3"])
def test_what_is_not_of_the_format_gives_one_line(name: str, data: bytes, tmp_path: Path) -> None:
    """The wrong --from is an everyday mistake: one line, no traceback."""
    path = tmp_path / "trace-0.txt"
    path.write_bytes(data)
    with pytest.raises(InputError) as caught:
        traces.load(name).read([path])
    assert "\n" not in str(caught.value)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("name", FORMATS)
def test_a_file_that_is_not_there_gives_one_line(name: str, tmp_path: Path) -> None:
    path = tmp_path / "trace-0.txt"
    with pytest.raises(InputError, match=r"trace-0\.txt"):
        traces.load(name).read([path])


@pytest.mark.parametrize("name", WRITERS)
def test_a_program_comes_back_from_its_trace(name: str, tmp_path: Path) -> None:
    """Phases, sizes, roots, iterations and computation are those of the program it was made of."""
    app = {"name": "x", "ranks": 4, "iterations": 40, "phases": PHASES}
    seen = Seen(program(parse({"isochrone": "app/1", "apps": [app]}, "test")), noise=0.0)
    events = [seen.events(rank) for rank in range(4)]
    document, warnings = describe(traces.load(name).read(WRITERS[name](tmp_path, seen, events)))
    (found,) = document["apps"]
    assert found["iterations"] == 40
    assert [next(iter(phase)) for phase in found["phases"]] == [
        "compute",
        "exchange",
        "bcast",
        "exchange",
        "allreduce",
    ]
    for phase, truth in zip(found["phases"], PHASES, strict=True):
        (kind,) = truth
        if kind in ("bcast", "allreduce"):
            assert phase == truth
        elif kind == "exchange":
            assert phase[kind]["topology"] == truth[kind]["topology"]
            assert phase[kind]["bytes"] == truth[kind]["bytes"]
    assert found["phases"][0]["compute"].startswith(("1.00", "999", "1ms"))
    assert warnings == []
