"""A recording of collective I/O as the call of a prediction: its pieces, its hints, its hosts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from isochrone.base.errors import InputError
from isochrone.base.files import check_ordinary
from isochrone.base.text import whole_number
from isochrone.collective_io.results import io_recording
from isochrone.collective_io.results.io_recording import RecordedPattern
from isochrone.collective_io.workload.accesses import Accesses, made
from isochrone.collective_io.workload.call import collective_by
from isochrone.collective_io.workload.cb_config_list import DEFAULT, aggregators
from isochrone.runfile.file import read


@dataclass(frozen=True)
class RecordedAccess:
    """One pattern of a recording.

    Attributes
    ----------
    accesses
        Which rank touches which bytes.
    options
        Values for command-line options: the operation and the active hints.
    hosts
        Of each rank.
    """

    accesses: Accesses
    options: Mapping[str, Any]
    hosts: Sequence[str]


def is_recording(path: Path) -> bool:
    """Whether a file is a run file, and not a table of numbers."""
    try:
        check_ordinary(path)
        with path.open("rb") as stream:
            return stream.read(64).lstrip().startswith(b"{")
    except (OSError, InputError):
        return False


def recorded_access(path: Path, number: int | None = None) -> RecordedAccess:
    """Read a pattern of a recording; by default the one with the longest total time.

    Raises
    ------
    InputError
        If it is not a recording of collective I/O, or has no such pattern.
    """
    run = read(path)
    seconds = io_recording.seconds_by_pattern(io_recording.calls(run))
    pattern = _chosen(io_recording.patterns(run), seconds, number, str(path))
    if not pattern.whole:
        raise InputError(
            f"the recording does not hold all pieces of pattern {pattern.number}", where=str(path)
        )
    file = next(one for one in io_recording.files(run) if one.number == pattern.file)
    members = tuple(file.ranks.tolist()) if len(file.ranks) < run.size else None
    try:
        accesses = made(**pattern.pieces, ranks=run.size, members=members)
    except InputError as error:
        raise InputError(f"pattern {pattern.number} holds no access", where=str(path)) from error
    hints = io_recording.hints(run, pattern.file)
    collective = collective_by(hints, reading=pattern.op == "read")
    options = {"op": pattern.op, **_options(hints)}
    if collective is not None:
        options["collective"] = collective
    of_rank = run.hosts
    hosts = [of_rank[rank] for rank in file.ranks.tolist()]
    config = options.get("cb_config_list", DEFAULT)
    if options.get("cb_nodes") == len(aggregators(hosts, config)):
        del options["cb_nodes"]  # as many as there are by default, also where nodes are others
    return RecordedAccess(accesses, options, of_rank)


def _chosen(
    found: Sequence[RecordedPattern], seconds: Mapping[int, float], number: int | None, where: str
) -> RecordedPattern:
    if not found:
        raise InputError("no collective access in it", where=where)
    if number is None:
        return max(found, key=lambda one: seconds.get(one.number, 0.0))
    for one in found:
        if one.number == number:
            return one
    listed = ", ".join(str(one.number) for one in found[:20])
    raise InputError(f"there is no pattern {number}", where=where, hint=f"there are: {listed}")


def _options(hints: Mapping[str, str]) -> dict[str, Any]:
    """Translate hints into options of the command line."""
    numbers = {key: whole_number(value) for key, value in hints.items()}
    options: dict[str, Any] = {
        "cb_buffer_size": numbers.get("cb_buffer_size"),
        "cb_nodes": numbers.get("cb_nodes"),
        "cb_config_list": hints.get("cb_config_list"),
        "min_fdomain_size": numbers.get("romio_min_fdomain_size"),
    }
    unit = numbers.get("striping_unit") or None
    if hints.get("romio_filesystem_type", "").startswith("LUSTRE"):
        options |= {
            "driver": "lustre", "stripe_size": unit,
            "stripe_count": numbers.get("striping_factor") or None,
            "co_ratio": numbers.get("romio_lustre_co_ratio"),
        }  # fmt: skip
    else:
        options["striping_unit"] = unit
    return {key: value for key, value in options.items() if value is not None}
