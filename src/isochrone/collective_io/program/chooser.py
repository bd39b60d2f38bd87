"""From a recording to proposals: MPI library, calls, model and settings to try."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated

from isochrone import models
from isochrone.base.documents import Hidden
from isochrone.base.errors import InputError, IsochroneError, MeasurementError
from isochrone.base.record import Members, Record
from isochrone.base.text import printable
from isochrone.base.units import format_bytes
from isochrone.collective_io.orders.collective_choice import choices
from isochrone.collective_io.orders.setting import GIVEN, Setting, SettingCosts
from isochrone.collective_io.predict.node_cost import NodeCost
from isochrone.collective_io.predict.whole_call import WholeCall, independent_features
from isochrone.collective_io.program.summary import Made, Summary, message_sizes, program_calls
from isochrone.collective_io.program.trials import Proposal, Trials, without_given
from isochrone.measure import job
from isochrone.measure.open_mpi import installed
from isochrone.measure.program import launcher_words
from isochrone.models import Model
from isochrone.models.formulas.segment import Segment
from isochrone.runfile.file import read
from isochrone.runfile.run import Run


class Chooser(Record):
    """Chooses for one program.

    Attributes
    ----------
    trials
        How it is started.
    model
        The user's model of the machine.
    measure
        Whether the machine may be measured.
    override
        Whether hints of the user's file may be replaced.
    """

    trials: Trials
    model: Path | None
    measure: bool
    override: bool = False

    def choose(self, run: Run, recorded: Summary) -> tuple[list[Proposal], Members]:
        """Return promising proposals, best first, and the report on their choice."""
        warnings = [str(warning.get("text", "")) for warning in run.warnings]
        if run.origin == "imported":  # its hints are not known
            romio = "Open MPI" not in self.trials.program.says
        else:
            romio = any("cb_config_list" in file.hints for file in recorded.files)
        if not romio:
            ways = ompio_ways(run.hosts, *installed(self.trials.program.probe.mpicc))
            return ways, {"library": "OMPIO", "warnings": warnings}
        calls = program_calls(run, recorded)
        machine = self.machine(run, message_sizes(calls))
        self.trials.report(f"Model: {machine.words}")
        call_model = WholeCall.calibrated(machine.model, [call.call for call in calls])
        ways = romio_ways(calls, machine.model or general(), call_model)
        ways += unbuffered_ways(recorded)
        given_hints = {key: value for file in recorded.files for key, value in file.given.items()}
        user = {} if self.override else self.trials.base
        left, hint_warnings = without_given(ways, given_hints, user)
        advice = None
        # the order of nodes affects the exchange, here that of the most expensive calls
        if machine.file is not None and calls and calls[0].call.collective:
            advice = (
                "another order of nodes (changes how you start the program): isochrone place nodes "
                f"--table {self.trials.recording} --model {machine.file}"
            )
        report = {
            "library": "ROMIO",
            "model": machine,
            "warnings": [*warnings, *hint_warnings],
            "advice": advice,
        }
        return left, report

    def machine(self, run: Run, messages: Sequence[int]) -> Machine:
        """Return the model used for the choice.

        Parameters
        ----------
        run
            The recording: hosts and MPI of the ranks.
        messages
            Usual bytes of a message of each exchange, longest exchange first.
        """
        if self.model is not None:
            return Machine(NodeCost(models.read(self.model)), f"the model {self.model}", self.model)
        if len(set(run.hosts)) < 2:
            return Machine(None, "all ranks are on one host, so orders do not matter")
        if not messages or not messages[0]:
            return Machine(None, "no messages are exchanged")
        cached = _cached(self.trials.folder, run)
        if cached is not None:
            return cached
        if not self.measure:
            return Machine(None, "the machine was not measured (as requested)")
        launcher = launcher_words(self.trials.program.command, run.notes.get("command", ""))
        if launcher is None:
            return Machine(
                None,
                "the machine was not measured: no launcher in the command was recognised "
                "(give --model)",
            )
        try:
            return _measured(self.trials, launcher, messages)
        except (InputError, MeasurementError) as error:
            return Machine(None, f"the machine could not be measured: {error.what}")


RUN = "machine.jsonl"
MODEL = "machine.json"

FAMILY = "hotspot-bytes"

MINUTES = 3.0
"""For which the machine is measured."""

SMALLEST, LARGEST = 4 * 1024, 4 * 1024**2
"""Messages that are measured, in bytes."""


class Machine(Record):
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


def general() -> NodeCost:
    """Return a model of no machine: bytes through the busier direction of a node cost most."""
    terms = {"max(bi,bo)": 1e-9, "min(bi,bo)": 1e-10, "ba": 1e-10, "pe": 1e-6, "1": 1e-6}
    segment = Segment("general", list(terms), list(terms.values()))
    return NodeCost(Model([segment]))


def _cached(folder: Path, run: Run) -> Machine | None:
    """Return an earlier model, if it is of these hosts and this MPI."""
    model = folder / MODEL
    with suppress(IsochroneError):  # missing or damaged: it is measured again
        earlier = read(folder / RUN)
        same = (earlier.hosts, earlier.library.library) == (run.hosts, run.library.library)
        if same and earlier.complete:
            return Machine(NodeCost(models.read(model)), f"an earlier model, {model}", model)
    return None


def _measured(trials: Trials, launcher: Sequence[str], messages: Sequence[int]) -> Machine:
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
    listed = ",".join(map(str, sizes))
    limit = f"--time-limit {60 * MINUTES:.0f}"
    options = f"--bytes {listed} --warmup 1 --repeats 2 {limit}".split()
    argv = [*launcher, str(built.path), "hotspot", *options, "--out", str(path.absolute())]
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
    typical = messages[0]
    around = (typical // 4, typical, 2 * typical, min(messages), max(messages))
    return sorted({min(max(size, SMALLEST), LARGEST) for size in around})


# --- settings to try -----------------------------------------------------------------------------

# Candidate settings for the collective calls of a program.
#
# One hints file applies to all files of a program, so each setting is predicted for all calls
# together. Predictions are rough: a few different settings are returned, and measurements decide.

MAX_SETTINGS = 4
"""Settings to try at most."""

SEARCHED = 2
"""Calls, those with most seconds, whose own best settings are searched."""

MIN_TRIED_GAIN = 1.03
"""Predicted gain below which a setting is not tried: no proof of a few starts would find it."""

LARGE = 64 * 1024
"""Mean bytes of a piece from which on ranks on their own need no data sieving."""


def romio_ways(calls: Sequence[Made], model: NodeCost, call_model: WholeCall) -> list[Proposal]:
    """Return promising settings of ROMIO, the one with the shortest predicted time first."""
    collective = [program_call for program_call in calls if program_call.call.collective]
    if not collective:  # ROMIO made all calls without buffering
        ops = sorted(
            {"read" if program_call.call.call.reading else "write" for program_call in calls}
        )
        hints = {f"romio_cb_{op}": "enable" for op in ops}
        on = Proposal("collective buffering on", hints)
        return [on, _independent(calls)] if calls else []
    return [*_buffered(collective, model, call_model)[: MAX_SETTINGS - 1], _independent(collective)]


def _buffered(calls: Sequence[Made], model: NodeCost, call_model: WholeCall) -> list[Proposal]:
    """Return settings with collective buffering that are predicted to be faster than the given."""
    present_seconds = _predicted(calls, GIVEN, call_model)
    compared: list[Setting] = []
    for call in (program_call.call for program_call in calls[:SEARCHED]):
        costs = SettingCosts(call.call, call.by_rank, model, call_model)
        with suppress(InputError):  # too many hosts, a driver without these hints
            compared += [best.setting for best in choices(costs, seconds=SEARCH)]
    tried = []
    for setting in dict.fromkeys(compared):
        if setting.collective is not None or (setting.buffer or 0) > LARGEST_BUFFER:
            continue
        with suppress(InputError):  # a list that yields no aggregator of a file, too many windows
            seconds = _predicted(calls, setting, call_model)
            if present_seconds > MIN_TRIED_GAIN * seconds:
                tried.append((seconds, setting))
    tried.sort(key=lambda candidate: (candidate[0], len(levers(candidate[1]))))
    scale = sum(program_call.seconds for program_call in calls) / present_seconds
    # the best setting, and the best of those that change fewer or other things
    chosen = []
    changed: list[frozenset[str]] = []
    for seconds, setting in tried:
        if not any(earlier <= levers(setting) for earlier in changed):
            chosen.append(_proposed(setting, scale * seconds))
            changed.append(levers(setting))
    return chosen[:MAX_SETTINGS]


def _predicted(calls: Sequence[Made], setting: Setting, call_model: WholeCall) -> float:
    """Return the predicted seconds of all calls in a setting."""
    total = 0.0
    for program_call in calls:
        call, hosts = setting.of(program_call.call.call), program_call.call.by_rank
        ranks, same = program_call.call.aggregators, setting.config == GIVEN.config
        if not same or setting.nodes is not None:
            ranks = call.aggregators(
                hosts, program_call.config if same else setting.config, setting.nodes
            )
        total += program_call.times * call_model.predict(call, hosts, ranks).seconds
    return total


def _independent(calls: Sequence[Made]) -> Proposal:
    """Return the proposal without collective buffering.

    Its time is measured, not predicted: it ranges from 10 times as fast to 10 times as slow. Large
    pieces are not collected in a buffer (which locks, reads and writes back the gaps).
    """
    features = [independent_features(program_call.call.call) for program_call in calls]
    large = all(
        quantities["bytes"] >= LARGE * quantities["pieces"] * quantities["ranks"]
        for quantities in features
    )
    hints: dict[str, str] = {}
    for program_call in calls:
        op = "read" if program_call.call.call.reading else "write"
        hints |= dict.fromkeys([f"romio_cb_{op}", *[f"romio_ds_{op}"] * large], "disable")
    return Proposal("collective buffering off: independent access by every rank", hints)


def unbuffered_ways(recorded: Summary) -> list[Proposal]:
    """Return settings of ROMIO for accesses whose calls no model describes.

    Accesses of single ranks to pieces with gaps are fast or slow with data sieving, which reads,
    changes and writes back all that lies between. Nonblocking collectives have buffers as others.
    """
    hints: dict[str, str] = {}
    for file in recorded.files:
        for access in file.independent:
            present = file.hints.get(f"romio_ds_{access.op}", "automatic")
            hints[f"romio_ds_{access.op}"] = "enable" if present == "disable" else "disable"
    state = {"disable": "off", "enable": "on"}
    ways = [
        Proposal(f"data sieving {state[value]} ({name[9:]})", {name: value})
        for name, value in hints.items()
    ]
    if recorded.unmodelled:
        for value, label in state.items():
            cb_hints = {f"romio_cb_{op}": value for op in ("read", "write")}
            ways.append(Proposal(f"collective buffering {label}", cb_hints))
    return ways


COLLECTIVE = ("vulcan", "dynamic_gen2", "dynamic", "two_phase", "individual")
"""Components of OMPIO for collective accesses, of Open MPI 4 and 5. The last has no aggregators."""

SIEVING = ("fbtl_posix_read_datasieving", "fbtl_posix_write_datasieving")


def ompio_ways(
    hosts: Sequence[str], components: Collection[str], parameters: Mapping[str, str]
) -> list[Proposal]:
    """Return settings of Open MPI that have an effect: its own component, or its ROMIO.

    OMPIO ignores host names, and has no order of aggregators.

    Parameters
    ----------
    hosts
        Of each rank.
    components, parameters
        Of this installation. What it does not have is not proposed.
    """
    ways = {
        f"{name[3:]} in place of OMPIO": {"OMPI_MCA_io": name[3:]}
        for name in sorted(components)
        if name.startswith("io:romio")
    }
    for count in (len(set(hosts)), len(hosts)):
        option = {"OMPI_MCA_io_ompio_num_aggregators": str(count)}
        ways[f"OMPIO with {count} aggregators"] = option
    for name in COLLECTIVE:
        if f"fcoll:{name}" in components:
            without = " (without aggregators)" if name == "individual" else ""
            ways[f"OMPIO with fcoll {name}{without}"] = {"OMPI_MCA_fcoll": name}
    sieving = {f"OMPI_MCA_{name}": "0" for name in SIEVING if parameters.get(name, "0") != "0"}
    if sieving:
        ways["OMPIO without data sieving"] = sieving
    return [Proposal(description, environ=environ) for description, environ in ways.items()]


LARGEST_BUFFER = 256 * 1024**2
"""Of a buffer: every aggregator needs that much memory."""

SEARCH = 4.0
"""Seconds of a search for one call."""


def levers(setting: Setting) -> frozenset[str]:
    """Return what a setting changes; ROMIO's own list changes nothing."""
    several = re.search(r":([2-9]|[1-9]\d|\*$)", setting.config) or setting.nodes is not None
    changes = {
        "order": not setting.config.startswith("*"),
        "number": several,
        "buffer": setting.buffer is not None,
        "stripes": setting.stripes is not None,
    }
    return frozenset(name for name, changed in changes.items() if changed)


def _proposed(setting: Setting, expected: float) -> Proposal:
    """Return the hints that a setting changes, with a description."""
    clauses, hints = [], setting.hints()
    if setting.config == GIVEN.config:
        del hints["cb_config_list"]
    else:
        order = "order of " if "order" in levers(setting) else ""
        clauses.append(f"{order}aggregators {setting.config}")
    if setting.nodes is not None:
        clauses.append(f"{setting.nodes} aggregators")
    if setting.buffer is not None:
        clauses.append(f"buffers of {format_bytes(setting.buffer)}")
    if setting.stripes is not None:
        size = format_bytes(setting.stripes.size)
        clauses.append(f"{setting.stripes.count} stripes of {size} (of a new file)")
    return Proposal(", ".join(clauses) or "unchanged", hints, expected=expected)
