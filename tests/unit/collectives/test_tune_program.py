"""Tuning the collectives of a program: what is measured, what is tried first, and what is kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from isochrone.base.errors import MeasurementError
from isochrone.collectives.tune import program as tuning
from isochrone.collectives.tune.program import TunedProgram, Used, Wish, grids_of, tune, used
from isochrone.measure.algorithm import Algorithms, Forced
from isochrone.runfile.file import write
from made_up.tuning import launch

MPI = "Open MPI v5.0.11, package: x"
SIZES = (64, 1024)


def test_only_what_all_ranks_call_is_measured() -> None:
    """Blocks of sums are whole doubles; what some of the ranks do is said apart from it."""
    calls = [
        ("allreduce", 13, 4, 8, 4.0),
        ("allreduce", 8, 4, 4, 2.0),
        ("bcast", 13, 4, 4, 8.0),
        ("bcast", 8, 2, 4, 4.0),
        ("barrier", 0, 4, 4, 9.0),
        ("isend", 8, -1, 4, 9.0),
    ]
    assert used(calls, 4) == ([Used("bcast", 13, 1, 2.0), Used("allreduce", 8, 3, 1.5)], 1.0)


@pytest.mark.parametrize(
    ("ranks", "nodes", "grids"),
    [(7, 1, []), (4, 4, ["2x2"]), (12, 3, ["nodes", "3x4", "4x3", "2x6"]), (2, 1, [])],
)
def test_grids_are_those_nearest_to_a_square(ranks: int, nodes: int, grids: list[str]) -> None:
    assert grids_of(ranks, nodes) == grids


Times = Mapping[str, Mapping[str, float]]
"""Factors of the library and of grids, by the algorithm that is forced ("": none)."""


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., TunedProgram]:
    """Tune a program on a machine of which everything is known."""

    def run(times: Times, whole: Callable[[Mapping[str, str]], float]) -> TunedProgram:
        def measure(argv: Sequence[str], *, run_file: Path, **_: Any) -> None:
            assert argv[:2] == ["mpiexec", "-n"]
            note = next((word for word in argv if word.startswith("algorithm=")), "algorithm=")
            forced = note.removeprefix("algorithm=")
            name = forced.partition("=")[2]
            if name not in times:
                raise MeasurementError("it cannot be used")
            seed = sum(map(ord, run_file.name))
            made = launch(
                times[name], seed=seed, sizes=SIZES, noise=0.01, algorithm=forced, library=MPI
            )
            write(made, run_file)

        family = Algorithms(
            fits=lambda _: True,
            known=lambda _: {"allgather": ("ring", "linear")},
            force=lambda _, __: Forced(),
        )
        monkeypatch.setattr(tuning.algorithms, "family_of", lambda _: family)
        monkeypatch.setattr(tuning.job, "run", measure)
        monkeypatch.setattr(tuning.discovery, "library", lambda _: tmp_path / "library.so")
        (tmp_path / "runs").mkdir()
        program = SimpleNamespace(
            probe=SimpleNamespace(library=MPI, mpicc=Path("mpicc"), path=Path("probe")),
            environ={},
            run=lambda _, variables, *__: whole(variables),
        )
        operations = [Used("allgather", size, 100, 1.0) for size in SIZES]
        document = TunedProgram(["mpiexec", "-n", "16", "./app"], 16, 2.0, 0.5, operations, 0.0)
        words, wish = ["mpiexec", "-n", "16"], Wish(3, 60.0, 0.05)
        recorded = launch({"library": 1.0}, library=MPI)
        tune(program, words, recorded, tmp_path, wish, document, lambda _: None)  # type: ignore[arg-type]
        return document

    return run


EQUAL = {"library": 1.0, "4x4": 1.0}


def test_a_file_of_the_library_is_preferred(machine: Callable[..., TunedProgram]) -> None:
    """An algorithm that cannot be used is left out; a grid that would do as well is not tried."""
    found = machine(
        {"": {"library": 1.0, "4x4": 0.6}, "ring": {"library": 0.6}},
        lambda variables: 1.0 if any("OMPI" in key for key in variables) else 2.0,
    )
    assert found.kept == "library"
    assert [way.name for way in found.ways] == ["library"]
    assert {one.choice.name for one in found.ways[0].savings} == {"ring"}
    assert found.ways[0].gain is not None
    assert found.ways[0].gain.ratio == pytest.approx(2)
    assert all(file.is_file() for file in found.ways[0].files)


def test_a_table_is_tried_where_the_library_has_nothing(
    machine: Callable[..., TunedProgram],
) -> None:
    found = machine(
        {"": {"library": 1.0, "4x4": 0.6}, "ring": {"library": 1.5}},
        lambda variables: 1.0 if "ISOCHRONE_TUNING" in variables else 2.0,
    )
    assert found.kept == "table"
    assert found.ways[0].use[0].startswith("isochrone exec --tuning")


def test_what_does_not_make_the_program_faster_is_not_kept(
    machine: Callable[..., TunedProgram],
) -> None:
    found = machine({"": {"library": 1.0, "4x4": 0.6}, "ring": {"library": 0.6}}, lambda _: 2.0)
    assert found.kept is None
    assert found.why
    assert [bool(way.why) for way in found.ways] == [True]


def test_nothing_is_tried_where_nothing_saves_time(machine: Callable[..., TunedProgram]) -> None:
    found = machine({"": EQUAL, "ring": {"library": 1.0}, "linear": {"library": 1.1}}, lambda _: 2)
    assert (found.kept, found.ways) == (None, [])
    assert found.why
