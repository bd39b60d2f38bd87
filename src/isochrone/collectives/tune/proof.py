"""Verify by short jobs that the rules of a tuning file are active.

A library may silently ignore a file, so its effect is checked:

* Open MPI: which bytes went from whom to whom within collective operations (its component
  ``pml/monitoring`` counts them), with the file, and with the algorithm forced;
* MPICH: the files that it reports as loaded (MPIR_CVAR_DEBUG_SUMMARY);
* the table of the interposer: what its report counts.
"""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Literal

import numpy as np
from msgspec import field

from isochrone.base.arrays import Floats
from isochrone.base.record import Record
from isochrone.collectives.tuning_file import LibraryRule, Written
from isochrone.collectives.tuning_table import Rule, compiled
from isochrone.measure import discovery, job
from isochrone.measure.algorithm import Forced
from isochrone.measure.job import JOB_TIMEOUT, folder_for
from isochrone.measure.setup import Setup
from isochrone.measure.tuned import settings

Verdict = Literal["active", "not active", "unknown"]

_PROOF_REPEATS = 40

_ALIKE = (0.05, 0.15)
"""Tolerated difference of two patterns, as a fraction of bytes and messages: a forced algorithm
also applies to the probe's own operations, a rule for one size does not."""

_COUNT = {
    "OMPI_MCA_pml_monitoring_enable": "2",
    "OMPI_MCA_pml_monitoring_enable_output": "3",
}
_COUNTED = re.compile(r"I\t(\d+)\t(\d+)\t(\d+) bytes\t(\d+) msgs sent.*")

_INTERPOSER = "isochrone-grid: "
_CALLS = re.compile(_INTERPOSER + r"(\w+), (\d+) ranks, .*: ([^ ,]+), (\d+) calls?,")

_NO_REPORT = "no report of the library that applies the table: is it loaded?"

_LOADED = re.compile(r"(MPIR|MPID): (.+)")
_LEVELS = {
    "MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE": "MPIR",
    "MPIR_CVAR_CH4_COLL_SELECTION_TUNING_JSON_FILE": "MPID",
}


class Seen(Record):
    """Verification of one rule.

    Attributes
    ----------
    op, ranks, bytes
        What was run.
    choice
        Algorithm or grid.
    verdict
        Whether it is active.
    why
        Reason of the verdict.
    """

    op: str
    ranks: int
    bytes: int
    choice: str
    verdict: Verdict
    why: str


class TuningJobs(Record):
    """Starts short jobs."""

    setup: Setup
    folder: Path
    number: Iterator[int] = field(default_factory=count)

    def run(
        self, ops: Sequence[str], sizes: Sequence[int], ranks: int, forced: Forced
    ) -> list[str]:
        """Run operations to their end; return the lines of the ranks.

        Raises
        ------
        InputError, MeasurementError
            If the ranks cannot be started, or fail.
        """
        path = self.folder / f"{next(self.number)}.jsonl"
        options = [
            "--op",
            ",".join(ops),
            "--bytes",
            ",".join(map(str, sizes)),
            "--repeats",
            str(_PROOF_REPEATS),
            "--retest",
            "0",
        ]
        tokens = self.setup.tokens("collective", options, ranks, path, extra=forced.options)
        variables = [f"{key}={value}" for key, value in forced.environ.items()]
        lines: list[str] = []
        job.run(["env", *variables, *tokens], timeout=JOB_TIMEOUT, run_file=path, hear=lines.append)
        return lines


def by_counting(setup: Setup, rules: Sequence[Rule], path: Path) -> list[Seen]:
    """Prove rules of a tuning table by the report of the library that applies it."""
    library = discovery.library(setup.built)
    variables = settings(library, compiled(path), os.environ, report=True)
    options = setup.launcher.environment(variables)
    forced = Forced(variables) if options is None else Forced(options=tuple(options))
    proofs = []
    with folder_for(None) as folder:
        jobs = TuningJobs(setup, folder)
        for rule in rules:
            size = rule.points[-1][0]
            lines = jobs.run([rule.op], [size], rule.ranks, forced)
            counted = [m for m in map(_CALLS.match, lines) if m]
            calls = sum(int(m[4]) for m in counted if (m[1], m[3]) == (rule.op, rule.grid))
            verdict: Verdict = "active" if calls else "not active"
            reports = [
                line.removeprefix(_INTERPOSER) for line in lines if line.startswith(_INTERPOSER)
            ]
            why = f"{calls} calls of rank 0 were on it"
            if not calls:
                why = next(iter(reports), _NO_REPORT)
            proofs.append(Seen(rule.op, rule.ranks, size, rule.grid, verdict, why))
    return proofs


def by_file(
    setup: Setup, rules: Sequence[LibraryRule], written: Written, seen_by: str
) -> list[Seen]:
    """Prove rules of a library's own file, as `TuningFile.seen_by` says."""
    prove = _by_messages if seen_by == "messages" else _by_loading
    with folder_for(None) as folder:
        jobs = TuningJobs(setup, folder)
        return [prove(jobs, rule, written) for rule in rules]


def _by_loading(jobs: TuningJobs, rule: LibraryRule, written: Written) -> Seen:
    """Verify a rule of MPICH by the files it reports as loaded."""
    environ = {**written.environ, "MPIR_CVAR_DEBUG_SUMMARY": "1"}
    lines = jobs.run([rule.op], [rule.measured], rule.ranks, Forced(environ))
    loaded = {m[1]: m[2] for m in map(_LOADED.fullmatch, lines) if m}
    missing = [
        Path(path).name
        for name, path in written.environ.items()
        if name in _LEVELS and loaded.get(_LEVELS[name]) != path
    ]
    if not loaded:
        return _seen(rule, "unknown", "this MPICH does not report its files")
    if missing:
        return _seen(rule, "not active", f"MPICH has not loaded {' and '.join(missing)}")
    return _seen(rule, "active", "MPICH reports that it has loaded the files with this rule")


def _seen(rule: LibraryRule, verdict: Verdict, why: str) -> Seen:
    return Seen(rule.op, rule.ranks, rule.measured, rule.algorithm, verdict, why)


def _by_messages(jobs: TuningJobs, rule: LibraryRule, written: Written) -> Seen:
    """Prove a rule of Open MPI by the bytes that ranks send each other."""
    forced = jobs.setup.force(f"{rule.op}={rule.algorithm}")
    ours = _pattern(jobs, rule, written.environ, "with")
    wanted = _pattern(jobs, rule, forced.environ, "forced")
    if ours is None or wanted is None:
        return _seen(rule, "unknown", "this Open MPI does not count messages (pml/monitoring)")
    if not _alike(ours, wanted):
        return _seen(rule, "not active", "messages differ from those of the forced algorithm")
    default = _pattern(jobs, rule, {}, "without")
    if default is not None and _alike(default, wanted):
        return _seen(rule, "unknown", "messages are the same without the file")
    return _seen(rule, "active", "messages are those of the algorithm, and differ without the file")


def _pattern(
    jobs: TuningJobs, rule: LibraryRule, environ: Mapping[str, str], name: str
) -> Floats | None:
    """Return parts of bytes and messages from each rank to each other; None: not counted."""
    base = jobs.folder / f"{name}-{next(jobs.number)}"
    environment = {**environ, **_COUNT, "OMPI_MCA_pml_monitoring_filename": str(base)}
    jobs.run([rule.op], [rule.measured], rule.ranks, Forced(environment))
    traffic = np.zeros((2, rule.ranks, rule.ranks))
    for rank in range(rule.ranks):
        file = base.with_name(f"{base.name}.{rank}.prof")
        if not file.is_file():
            return None
        for line in map(_COUNTED.fullmatch, file.read_text(errors="replace").splitlines()):
            if line and max(int(line[1]), int(line[2])) < rule.ranks:
                traffic[:, int(line[1]), int(line[2])] += float(line[3]), float(line[4])
    return np.asarray(traffic / np.maximum(traffic.sum(axis=(1, 2), keepdims=True), 1))


def _alike(left: Floats, right: Floats) -> bool:
    return bool(np.all(np.abs(left - right).sum(axis=(1, 2)) <= _ALIKE))
