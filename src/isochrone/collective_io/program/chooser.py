"""From a recording to proposals: MPI library, calls and model."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final

from isochrone import models
from isochrone.base.documents import Hidden
from isochrone.base.errors import InputError, IsochroneError, MeasurementError
from isochrone.base.text import printable, whole_number
from isochrone.base.units import format_bytes
from isochrone.collective_io.predict.node_cost import NodeCost
from isochrone.collective_io.predict.whole_call import WholeCall
from isochrone.collective_io.program.calls import Made, message_sizes, program_calls
from isochrone.collective_io.program.choice import ompio_ways, romio_ways
from isochrone.collective_io.program.proposals import Proposal, without_given
from isochrone.collective_io.program.summary import Summary
from isochrone.collective_io.program.trials import Trials
from isochrone.measure import job
from isochrone.measure.program import launcher_words
from isochrone.models import Model
from isochrone.models.segment import Segment
from isochrone.runfile.file import read
from isochrone.runfile.run import Run


@dataclass(frozen=True)
class Chooser:
    """Chooses for one program.

    Attributes
    ----------
    trials
        How it is started.
    model
        The user's model of the machine.
    measure
        Whether the machine may be measured.
    without
        Hints that are to be left alone.
    override
        Whether hints of the user's file may be replaced.
    """

    trials: Trials
    model: Path | None
    measure: bool
    without: Collection[str] = ()
    override: bool = False

    def choose(self, run: Run, found: Summary) -> tuple[list[Proposal], Mapping[str, Any]]:
        """Return promising proposals, best first, and the report on their choice."""
        warnings = [str(one.get("text", "")) for one in run.warnings]
        if not any("cb_config_list" in one.hints for one in found.files):
            ways = ompio_ways(run.hosts, romio=_has_romio(run))
            return ways, {"library": "OMPIO", "warnings": warnings}
        calls = program_calls(run, found)
        here = machine(
            self.trials, run, message_sizes(calls), given=self.model, measure=self.measure
        )
        self.trials.report(f"Model: {here.words}")
        whole = WholeCall.calibrated(here.model, [one.call for one in calls])
        ways = romio_ways(calls, here.model or general(), whole)
        given = {key: value for one in found.files for key, value in one.given.items()}
        user = {} if self.override else self.trials.base
        left, more = without_given(ways, given, user, self.without)
        said = {
            "library": "ROMIO", "model": here, "warnings": [*warnings, *more],
            "advice": _advice(self.trials.folder, here, calls),
        }  # fmt: skip
        return left, said


def _advice(folder: Path, here: Machine, calls: Sequence[Made]) -> str | None:
    """Return advice that changes how the user starts the program.

    The order of nodes affects the exchange of the most expensive calls.
    """
    if here.file is None or not calls or not calls[0].call.collective:
        return None
    return (
        "another order of nodes (changes how you start the program): isochrone place nodes "
        f"--table {folder / 'recording.jsonl'} --model {here.file}"
    )


def _has_romio(run: Run) -> bool:
    """Whether this Open MPI has ROMIO in addition to OMPIO; version 6 has not."""
    words = run.library.library.split()
    version = next((word.lstrip("v") for word in words if word.lstrip("v")[:1].isdigit()), "")
    major = whole_number(version.partition(".")[0])
    return "Open MPI" in run.library.library and major is not None and major < 6


RUN: Final = "machine.jsonl"
MODEL: Final = "machine.json"

FAMILY: Final = "hotspot-bytes"

MINUTES: Final = 3.0
"""For which the machine is measured."""

SMALLEST, LARGEST = 4 * 1024, 4 * 1024**2
"""Messages that are measured, in bytes."""


@dataclass(frozen=True)
class Machine:
    """A model of the machine, and where it comes from.

    Attributes
    ----------
    model
        What messages cost a node; None: there is none of this machine.
    words
        Where it comes from, or why there is none.
    file
        Its file, if it has one.
    """

    model: Hidden[NodeCost | None]
    words: Annotated[str, "as why"]
    file: Path | None = None


def machine(
    trials: Trials, run: Run, messages: Sequence[int], *, given: Path | None, measure: bool
) -> Machine:
    """Return the model used for the choice.

    Parameters
    ----------
    trials
        How the program is started; its folder holds the model.
    run
        The recording: hosts and MPI of the ranks.
    messages
        Usual bytes of a message of each exchange, longest exchange first.
    given
        The user's model.
    measure
        Whether measuring is allowed.
    """
    if given is not None:
        return Machine(NodeCost(models.read(given)), f"the model {given}", given)
    if len(set(run.hosts)) < 2:
        return Machine(None, "all ranks are on one host, so orders do not matter")
    if not messages or not messages[0]:
        return Machine(None, "no messages are exchanged")
    cached = _cached(trials.folder, run)
    if cached is not None:
        return cached
    if not measure:
        return Machine(None, "the machine was not measured (as requested)")
    words = launcher_words(trials.program.command, run.notes.get("command", ""))
    if words is None:
        why = (
            "the machine was not measured: no launcher in the command was recognised (give --model)"
        )
        return Machine(None, why)
    try:
        return _measured(trials, run, words, messages)
    except (InputError, MeasurementError) as error:
        return Machine(None, f"the machine could not be measured: {error.what}")


def general() -> NodeCost:
    """Return a model of no machine: bytes through the busier direction of a node cost most."""
    terms = {"max(bi,bo)": 1e-9, "min(bi,bo)": 1e-10, "ba": 1e-10, "pe": 1e-6, "1": 1e-6}
    segment = Segment("general", list(terms), list(terms.values()))
    return NodeCost(Model([segment]))


def _cached(folder: Path, run: Run) -> Machine | None:
    """Return an earlier model, if it is of these hosts and this MPI."""
    path, model = folder / RUN, folder / MODEL
    if not (path.is_file() and model.is_file()):
        return None
    try:
        before = read(path)
        same = (before.hosts, before.library.library) == (run.hosts, run.library.library)
        return Machine(
            NodeCost(models.read(model)), f"an earlier model, {model}", model
        ) if same and before.complete else None  # fmt: skip
    except IsochroneError:  # damaged: it is measured again
        return None


def _measured(trials: Trials, run: Run, words: Sequence[str], messages: Sequence[int]) -> Machine:
    """Measure hot spots through the user's own launcher, and fit."""
    sizes = sizes_around(messages)
    named = ", ".join(format_bytes(size) for size in sizes)
    trials.report(
        f"Measuring the machine with messages of {named}: about {MINUTES:.0f} minutes "
        "(--no-measure skips this; the model is reused next time)"
    )
    path = trials.folder / RUN
    path.unlink(missing_ok=True)
    built = trials.program.probe
    options = [
        "--bytes", ",".join(map(str, sizes)), "--warmup", "1", "--repeats", "2",
        "--time-limit", f"{60 * MINUTES:.0f}",
    ]  # fmt: skip
    argv = [*words, str(built.path), "hotspot", *options, "--out", str(path.absolute())]
    # what loads libraries into the ranks of the program is not for these
    plain = {key: value for key, value in trials.program.environ.items() if key != "LD_PRELOAD"}
    job.run(argv, timeout=60 * (3 * MINUTES + 1), run_file=path, environ=plain)
    fitted = models.fit(models.load([path]), FAMILY)
    models.write(fitted, trials.folder / MODEL)
    return Machine(NodeCost(fitted), f"measured now: {printable(path, 300)}", trials.folder / MODEL)


def sizes_around(messages: Sequence[int]) -> list[int]:
    """Return sizes around the usual one, and those of the smallest and the largest exchange.

    More aggregators make messages smaller, fewer make them larger, and large messages predict small
    ones badly.
    """
    usual = messages[0]
    around = (usual // 4, usual, 2 * usual, min(messages), max(messages))
    return sorted({min(max(size, SMALLEST), LARGEST) for size in around})
