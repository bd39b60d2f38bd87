"""What a latency map would call slow is measured again, alone, before it is called so.

The map that was just measured is read as `show` will read it. If a part would be named none of
whose pairs was measured again, the probe is started once more for some of them and for healthy
ones, each pair alone on the machine; what it finds is added to the run file. The new
reading may name other parts, so this is repeated until everything named was seen twice, or time or
rounds are used up.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from isochrone.base.errors import InputError, Interrupted, MeasurementError
from isochrone.latency_map.thresholds import MAX_STARTS
from isochrone.measure.algorithm import NOTE
from isochrone.measure.launchable import Launchable
from isochrone.runfile.file import insert, read
from isochrone.runfile.run import Run

if TYPE_CHECKING:
    from isochrone.latency_map.retests import Retests


KIND = "latency-map"

Start = Callable[[Sequence[str], Path], None]
"""Starts the probe as before, with options that override earlier ones; follows it to its end."""


Further = Callable[[Run], Sequence[tuple[int, int]]]
"""Returns pairs of ranks i < j of a map that are suspected for other reasons."""

Follow = Callable[[list[str], Path, str, float | None], None]
"""Runs a launcher to its end: its tokens, the run file, what to call it, seconds it may take."""


def confirm(
    path: Path, start: Start, tell: Callable[[str], None], further: Further = lambda _: ()
) -> Run:
    """Measure again, alone, what a map would call slow; return what its file then holds.

    Parameters
    ----------
    path
        The run file of the map; it is left as it was if the probe cannot be started again.
    start
        Starts the probe with these options after the user's, which writes the file named.
    tell
        Receives in a few words what is done, and why something is not.
    further
        What else to measure again.

    Raises
    ------
    InputError
        If the run file cannot be read or written.
    Interrupted
        If a signal ended it; says that the map is whole.
    """
    run = read(path)
    for _ in range(MAX_STARTS):
        if not _may_be_confirmed(run):
            break
        chosen = _chosen(run, further)
        if not chosen.suspected:
            break
        pairs = chosen.pairs
        left = _seconds_left(run)
        if left is not None and left <= 0:
            tell(f"the time limit leaves none to measure {len(pairs)} pairs again")
            break
        controls = f", {len(chosen.controls)} of them healthy" if chosen.controls else ""
        tell(f"re-measuring {len(pairs)} pairs, one at a time{controls}")
        again = _measure(path, run, start, pairs, left, tell)
        if again is None:
            break
        rows = [row for row in again.tables["pair"].rows() if row.get("retest")]
        end = again.end or {}
        record = {"record": "launch", "started": again.about.started, "pairs": len(pairs)}
        insert(
            path,
            [record, *({"record": "pair", **row} for row in rows)],
            seconds=float(end.get("seconds", 0.0)),
        )
        run = read(path)
        if not again.complete:
            tell("the time limit ended it before all of them were measured again")
            break
    return run


def measured(
    job: Launchable,
    path: Path,
    *,
    follow: Follow,
    tell: Callable[[str], None],
    title: str = "",
    launch: str = "",
    force: bool = False,
    further: Further = lambda _: (),
) -> Run:
    """Launch; what a map would call slow is measured again, alone, before the run is returned.

    Parameters
    ----------
    job
        The measurement.
    path
        The run file.
    follow
        Runs the launcher to its end, as `isochrone.measure.setup.follow`, and shows the title.
    tell
        Receives in a few words what is measured again.
    title
        What it is called while it is measured.
    launch
        Which of several launches it is: ``2/5``.
    force
        Whether an existing file may be overwritten.
    further
        As of `confirm`.

    Raises
    ------
    IsochroneError
        As `isochrone.measure.setup.follow` and `confirm`.
    """
    tokens = job.tokens(path, force=force, launch=launch)
    started = monotonic()
    try:
        follow(tokens, path, title or job.experiment, job.timeout)
    except MeasurementError as error:
        refusal = job.forced.refusal
        if not (refusal and any(refusal in line for line in error.details)):
            raise
        raise MeasurementError(
            f"{job.notes[NOTE]} does not support these numbers of ranks and nodes, or these sizes",
            where="--algorithm",
        ) from error
    left = job.timeout and max(1.0, job.timeout - (monotonic() - started))

    def start(options: Sequence[str], out: Path) -> None:
        tokens = job.with_options(*options).tokens(out, force=True)
        follow(tokens, out, "re-measuring", left)

    return confirm(path, start, tell, further)


def _chosen(run: Run, further: Further) -> Retests:
    """Return what to measure again; nothing of a map that is too large to be read."""
    from isochrone.latency_map.retests import Retests, to_measure_again
    from isochrone.latency_map.topology import analyse

    try:
        retests = [to_measure_again(run, analyse(run, size)) for size in run.message_sizes()]
    except InputError:
        return Retests()
    # a launch measures all sizes
    suspected = dict.fromkeys(
        [*(pair for retest in retests for pair in retest.suspected), *further(run)]
    )
    controls = dict.fromkeys(pair for retest in retests for pair in retest.controls)
    return Retests(tuple(suspected), tuple(pair for pair in controls if pair not in suspected))


def _may_be_confirmed(run: Run) -> bool:
    """Whether it is a map of a machine that is there, ended by itself or by its time limit."""
    wanted = run.options.get("retest")
    return (
        run.kind == KIND
        and run.origin in ("measured", "simulated")
        and run.end is not None
        and isinstance(wanted, int)
        and wanted > 0
        and not run.options.get("pairs")
    )


def _seconds_left(run: Run) -> float | None:
    """Return what is left of the time limit of the map; None if it has none."""
    limit, used = run.options.get("time-limit"), (run.end or {}).get("seconds", 0.0)
    if not isinstance(limit, int | float) or limit <= 0:
        return None
    return float(limit) - float(used)


def _measure(
    path: Path,
    run: Run,
    start: Start,
    pairs: Sequence[tuple[int, int]],
    left: float | None,
    tell: Callable[[str], None],
) -> Run | None:
    """Measure pairs again; None if the ranks fail, or came to other hosts than before."""
    options = ["--pairs", ",".join(f"{i}-{j}" for i, j in pairs)]
    options += [] if left is None else ["--time-limit", f"{left:.6g}"]
    # next to the run file, because rank 0 may be on another machine and has to see it
    second = path.with_name(f"{path.name}.again")
    try:
        start(options, second)
        again = read(second)
    except Interrupted as error:
        error.hint = f"the map in {path} is complete, but suspects were not measured again"
        raise
    except (InputError, MeasurementError) as error:
        error.hint = ""  # it may say that the second file is kept
        tell(f"suspects could not be measured again: {error}")
        return None
    finally:
        second.unlink(missing_ok=True)
    if again.hosts != run.hosts:
        tell("not measured again: the ranks are on other hosts than before")
        return None
    return again if "pair" in again.tables else None
