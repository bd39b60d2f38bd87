"""From a recording to ways that are worth a try: which library, which calls, which model."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from isochrone.base.text import whole_number
from isochrone.collective_io.predict.measured_calls import MeasuredCall
from isochrone.collective_io.predict.node_cost import NodeCost
from isochrone.collective_io.predict.whole_call import WholeCall
from isochrone.collective_io.program.calls import Made, message_sizes, program_calls
from isochrone.collective_io.program.choice import ompio_ways, romio_ways
from isochrone.collective_io.program.machine import Machine, general, machine
from isochrone.collective_io.program.proposals import Proposal, without_given
from isochrone.collective_io.program.summary import Summary
from isochrone.collective_io.program.trials import Trials
from isochrone.runfile.run import Run

__all__ = ["Chooser"]


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
        """Return promising ways, best first, and what the report says of how they were chosen."""
        warnings = [str(one.get("text", "")) for one in run.warnings]
        if not any("cb_config_list" in one.hints for one in found.files):
            ways = ompio_ways(run.hosts, romio=_has_romio(run))
            return ways, {"library": "OMPIO", "warnings": warnings}
        calls = program_calls(run, found)
        here = machine(
            self.trials, run, message_sizes(calls), given=self.model, measure=self.measure
        )
        self.trials.tell(f"Model: {here.words}")
        ways = romio_ways(calls, here.model or general(), calibrated(calls, here.model))
        given = {key: value for one in found.files for key, value in one.given.items()}
        user = {} if self.override else self.trials.base
        left, more = without_given(ways, given, user, self.without)
        said = {
            "library": "ROMIO", "model": here, "warnings": [*warnings, *more],
            "advice": _advice(self.trials.folder, here, calls),
        }  # fmt: skip
        return left, said


def calibrated(calls: list[Made], model: NodeCost | None) -> WholeCall:
    """Return what predicts whole calls, fitted to the parts of those that were recorded."""
    measured: list[MeasuredCall] = [one.call for one in calls]
    return WholeCall.calibrated(model, measured)


def _advice(folder: Path, here: Machine, calls: Sequence[Made]) -> str | None:
    """Return what may help, too, but changes how the user starts the program.

    The order of nodes matters to what is exchanged in the calls that take most of the time.
    """
    if here.file is None or not calls or not calls[0].call.collective:
        return None
    return (
        "another order of nodes, which changes how you start the program: isochrone place nodes "
        f"--table {folder / 'recording.jsonl'} --model {here.file}"
    )


def _has_romio(run: Run) -> bool:
    """Whether this Open MPI has ROMIO beside OMPIO; version 6 has none."""
    words = run.library.library.split()
    version = next((word.lstrip("v") for word in words if word.lstrip("v")[:1].isdigit()), "")
    major = whole_number(version.partition(".")[0])
    return "Open MPI" in run.library.library and major is not None and major < 6
