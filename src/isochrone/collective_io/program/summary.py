"""Summary of the recorded run: slow phases, possible gains, and its most expensive calls."""

from collections.abc import Sequence
from statistics import median

from msgspec.structs import replace

from isochrone.base.errors import InputError
from isochrone.base.record import Record
from isochrone.base.table import Members, grouped
from isochrone.base.text import whole_number
from isochrone.base.units import format_seconds
from isochrone.collective_io.predict.best_possible import NAMES
from isochrone.collective_io.predict.call_parts import PARTS
from isochrone.collective_io.predict.calls_of_runs import call_of
from isochrone.collective_io.predict.whole_call import MeasuredCall
from isochrone.collective_io.results import io_recording
from isochrone.collective_io.results.io_recording import RecordedCall, RecordedFile, RecordedPattern
from isochrone.collective_io.workload.call import DEFAULT
from isochrone.runfile.run import Run

LOCAL = frozenset({"tmpfs", "ramfs", "ext", "xfs", "btrfs", "zfs", "overlay"})
"""File systems of one host: memory, and local disks."""


class Summary(Record):
    """Collective I/O of one run of a program.

    Attributes
    ----------
    whole
        Seconds of the command.
    calls
        All collective reads and writes.
    patterns
        Those with most seconds first.
    seconds
        Of each pattern, by its number.
    files
        Those that were opened through MPI-IO.
    """

    whole: float
    calls: list[RecordedCall]
    patterns: list[RecordedPattern]
    seconds: dict[int, float]
    files: list[RecordedFile]

    @property
    def in_calls(self) -> float:
        """Seconds within all collective calls."""
        return sum(call.seconds for call in self.calls)

    @property
    def share(self) -> float:
        """Part of the time of the program that it spends in collective calls."""
        return min(1.0, self.in_calls / self.whole)

    @property
    def filesystems(self) -> list[str]:
        """Known kinds of the files' file systems."""
        return sorted({one.filesystem for one in self.files} - {""})

    @property
    def local_filesystems(self) -> list[str]:
        """Those that are in the memory or on a disk of one host, of files with collective calls."""
        used = {one.file for one in self.patterns}
        return sorted({one.filesystem for one in self.files if one.number in used} & LOCAL)

    def parts(self) -> dict[str, float]:
        """Return the seconds of the parts of all calls, as far as they were seen."""
        each = grouped(part for call in self.calls for part in call.parts.items())
        return {name: sum(seconds) for name, seconds in each.items()}

    def nothing_to_gain(self, least: float) -> str:
        """Reason why no setting can help; empty if one may."""
        if not self.files:
            return "the program opens no file through MPI-IO"
        if not self.calls:
            alone = any(one.independent for one in self.files)
            return (
                "the program uses MPI-IO but no collective calls (such as MPI_File_write_all), "
                "so these settings have no effect"
                if alone
                else "the program transfers no data through MPI-IO"
            )
        if self.share < least:
            return (
                f"collective I/O takes {format_seconds(self.in_calls)} of "
                f"{format_seconds(self.whole)}, {100 * self.share:.1f} % of the run: nothing "
                f"to gain"
            )
        return ""

    def best_possible(self) -> Members:
        """Gain of this launch if collective calls took no time."""
        parts = self.parts()
        left = self.whole - min(self.in_calls, 0.999 * self.whole)
        why = (
            f"collective calls take {format_seconds(self.in_calls)} of "
            f"{format_seconds(self.whole)} ({100 * self.share:.0f} %)"
        )
        largest = max(parts, key=lambda name: parts[name], default="")
        if largest:
            why += f"; longest part: {NAMES[largest]}, {format_seconds(parts[largest])}"
        return {"gain": self.whole / left, "seconds": self.in_calls, "why": why}

    def document(self) -> Members:
        """Return patterns, parts, and the largest possible gain."""
        return {
            "whole_seconds": self.whole,
            "call_seconds": self.in_calls,
            "share": self.share,
            "patterns": [
                {
                    "pattern": one.number, "file": one.file, "op": one.op, "bytes": one.bytes,
                    "pieces": one.contiguous, "calls": one.calls,
                    "seconds": self.seconds[one.number],
                } for one in self.patterns
            ],
            "parts": self.parts(),
            "filesystems": self.filesystems, "local_filesystems": self.local_filesystems,
            "best_possible": self.best_possible() if self.calls else None,
        }  # fmt: skip


def summary(run: Run, whole: float) -> Summary:
    """Read a recording; ``whole`` is the time of the command in seconds."""
    calls = io_recording.calls(run)
    seconds = io_recording.seconds_by_pattern(calls)
    patterns = [one for one in io_recording.patterns(run) if one.number in seconds]
    patterns.sort(key=lambda one: -seconds[one.number])
    return Summary(whole, calls, patterns, seconds, io_recording.files(run))


# --- the most expensive calls --------------------------------------------------------------------

# The most expensive collective calls of a recorded program, prepared for prediction.

MOST_PATTERNS = 6
ENOUGH = 0.95
"""Patterns are looked at until they have this part of the time of all calls."""


class Made(Record):
    """A collective call of the program.

    Attributes
    ----------
    call
        Measured: the median of the calls of its pattern.
    times
        Number of calls.
    config, nodes
        Active ``cb_config_list`` and ``cb_nodes``.
    """

    call: MeasuredCall
    times: int
    config: str
    nodes: int | None

    @property
    def seconds(self) -> float:
        """Of all of them."""
        return self.times * self.call.seconds


def program_calls(run: Run, found: Summary) -> list[Made]:
    """Return the most expensive calls, longest first.

    Patterns with unknown pieces or without a prediction are omitted.
    """
    listed = []
    seconds = 0.0
    for pattern in found.patterns[:MOST_PATTERNS]:
        if seconds >= ENOUGH * found.in_calls:
            break
        seconds += found.seconds[pattern.number]
        mine = [call for call in found.calls if call.pattern == pattern.number]
        file = next(one for one in found.files if one.number == pattern.file)
        try:
            listed += [_made(run, pattern, file, mine)] if pattern.whole else []
        except InputError:  # hints or pieces of a kind that is not modelled
            continue
    return listed


def _made(
    run: Run, pattern: RecordedPattern, file: RecordedFile, mine: Sequence[RecordedCall]
) -> Made:
    accesses = pattern.accesses(file, run.size)
    call = replace(
        call_of(accesses, file.hints, reading=pattern.op == "read"), members=accesses.members
    )
    config = file.hints.get("cb_config_list", DEFAULT)
    nodes = whole_number(file.hints.get("cb_nodes", "")) or None
    ranks = call.aggregators(run.hosts, config, nodes)
    parts = {
        name: median(one.parts[name] for one in mine)
        for name in PARTS if all(name in one.parts for one in mine)
    }  # fmt: skip
    whole = median(one.seconds for one in mine)
    used = ranks if call.exchanges else []
    return Made(MeasuredCall(call, run.hosts, used, whole, parts), len(mine), config, nodes)


def message_sizes(calls: Sequence[Made]) -> list[int]:
    """Return the usual bytes of a message of each exchange, that which takes longest first."""
    found = []
    for one in sorted(calls, key=lambda made: -made.seconds):
        if one.call.collective:
            kinds = one.call.call.round_kinds(len(one.call.aggregators))
            data = sum(kind.times * float(kind.traffic.bytes.sent[-1]) for kind in kinds)
            messages = sum(kind.times * float(kind.traffic.messages.sent[-1]) for kind in kinds)
            found.append(int(data / max(1.0, messages)))
    return found
