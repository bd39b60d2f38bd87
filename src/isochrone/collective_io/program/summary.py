"""Summary of the recorded run: slow phases, possible gains, and its most expensive calls."""

from collections.abc import Sequence
from statistics import median

from isochrone.base.errors import InputError
from isochrone.base.record import Members, Record
from isochrone.base.table import grouped
from isochrone.base.text import whole_number
from isochrone.base.units import format_seconds
from isochrone.collective_io.causes.rules import causes
from isochrone.collective_io.predict.best_possible import NAMES
from isochrone.collective_io.predict.call_parts import PARTS
from isochrone.collective_io.predict.whole_call import MeasuredCall
from isochrone.collective_io.results import io_recording
from isochrone.collective_io.results.io_recording import RecordedCall, RecordedFile, RecordedPattern
from isochrone.collective_io.results.io_times import Account, account, call_times
from isochrone.collective_io.workload.call import DEFAULT, call_of
from isochrone.runfile.run import Run

LOCAL = frozenset({"tmpfs", "ramfs", "ext", "xfs", "btrfs", "zfs", "overlay"})
"""File systems of one host: memory, and local disks."""


_WORTH = 0.05
"""Share of the run from which on waiting for late ranks is named."""

_START = 0.01
"""Share of a launch that is not access to files, at least: it starts, and ends."""


class Summary(Record):
    """Collective I/O of one run of a program.

    Attributes
    ----------
    whole
        Seconds of the command.
    calls
        All collective reads and writes whose times were recorded.
    patterns
        Those with most seconds first.
    seconds
        Of each pattern, by its number.
    files
        Those that were opened through MPI-IO.
    account
        All seconds in MPI-IO; None if it was not called.
    unmodelled
        Whether there were nonblocking or ordered collectives, of which no model predicts the times.
    remedy
        Of the cause of most seconds, if no setting is one.
    """

    whole: float
    calls: list[RecordedCall]
    patterns: list[RecordedPattern]
    seconds: dict[int, float]
    files: list[RecordedFile]
    account: Account | None = None
    unmodelled: bool = False
    remedy: str = ""

    @property
    def in_calls(self) -> float:
        """Seconds in MPI-IO of the rank with most."""
        return self.account.seconds if self.account else 0.0

    @property
    def waiting(self) -> float:
        """Seconds of it that the rank that waits most waits for others to come."""
        parts = self.account.parts if self.account else []
        return max((part.most for part in parts if part.part == "waiting"), default=0.0)

    @property
    def transfer(self) -> float:
        """Seconds in MPI-IO of the rank with most, without what it waits for others to come."""
        return min(self.whole, self.account.busy) if self.account else 0.0

    @property
    def share(self) -> float:
        """Part of the time of the program that its accesses take."""
        return self.transfer / self.whole

    @property
    def filesystems(self) -> list[str]:
        """Known kinds of the files' file systems."""
        return sorted({file.filesystem for file in self.files} - {""})

    @property
    def local_filesystems(self) -> list[str]:
        """Those that are in the memory or on a disk of one host, of files that were accessed."""
        used = {pattern.file for pattern in self.patterns}
        used |= {file.number for file in self.files if file.independent or self.unmodelled}
        return sorted({file.filesystem for file in self.files if file.number in used} & LOCAL)

    def parts(self) -> dict[str, float]:
        """Return the seconds of the parts of all calls, as far as they were seen."""
        by_part = grouped(
            named_seconds for call in self.calls for named_seconds in call.parts.items()
        )
        return {name: sum(seconds) for name, seconds in by_part.items()}

    def nothing_to_gain(self, min_share: float) -> str:
        """Reason why no setting can help; empty if one may."""
        if not self.files:
            return "the program opens no file through MPI-IO"
        if self.unmodelled:
            return ""
        if not self.calls and not any(file.independent for file in self.files):
            return "the program transfers no data through MPI-IO"
        if self.share < min_share:
            late = f", and waiting for late ranks {format_seconds(self.waiting)}"
            return (
                f"access to files takes {format_seconds(self.transfer)} of "
                f"{format_seconds(self.whole)}, {100 * self.share:.1f} % of the run"
                f"{late if self.waiting > self.transfer else ''}: nothing to gain"
            )
        return ""

    def best_possible(self) -> Members:
        """Gain of this launch if its accesses took no time."""
        part_seconds = self.parts()
        why = (
            f"access to files takes {format_seconds(self.transfer)} of "
            f"{format_seconds(self.whole)} ({100 * self.share:.0f} %)"
        )
        if self.waiting > _WORTH * self.whole:
            why += f"; waiting for late ranks, {format_seconds(self.waiting)}, is not part of it"
        largest = max(part_seconds, key=lambda name: part_seconds[name], default="")
        if self.remedy:
            why += f"; {self.remedy}"
        elif largest:
            why += f"; longest part: {NAMES[largest]}, {format_seconds(part_seconds[largest])}"
        left = max(self.whole - self.transfer, _START * self.whole)
        return {"gain": self.whole / left, "seconds": self.transfer, "why": why}

    def document(self) -> Members:
        """Return patterns, parts, and the largest possible gain."""
        return {
            "whole_seconds": self.whole,
            "call_seconds": self.in_calls,
            "share": self.share,
            "patterns": [
                {
                    "pattern": pattern.number,
                    "file": pattern.file,
                    "op": pattern.op,
                    "bytes": pattern.bytes,
                    "pieces": pattern.contiguous,
                    "calls": pattern.calls,
                    "seconds": self.seconds[pattern.number],
                }
                for pattern in self.patterns
            ],
            "parts": self.parts(),
            "filesystems": self.filesystems,
            "local_filesystems": self.local_filesystems,
            "best_possible": self.best_possible() if self.transfer else None,
        }


def summary(run: Run, wall_seconds: float) -> Summary:
    """Read a recording; ``wall_seconds`` is the time of the command in seconds."""
    made = io_recording.calls(run)
    calls = [call for call in made if not call.nonblocking]
    seconds = io_recording.seconds_by_pattern(calls)
    patterns = [pattern for pattern in io_recording.patterns(run) if pattern.number in seconds]
    patterns.sort(key=lambda pattern: -seconds[pattern.number])
    ordered = any(row.call == "ordered" for row in call_times(run))
    unmodelled = len(calls) < len(made) or ordered
    files = io_recording.files(run)
    first = next(iter(causes(run)), None)
    remedy = "" if first is None or first.settings else f"mostly {first.name}: {first.remedy}"
    total = account(run)
    return Summary(wall_seconds, calls, patterns, seconds, files, total, unmodelled, remedy)


# --- the most expensive calls --------------------------------------------------------------------

# The most expensive collective calls of a recorded program, prepared for prediction.

MOST_PATTERNS = 6
MIN_PATTERNS_SHARE = 0.95
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


def program_calls(run: Run, recorded: Summary) -> list[Made]:
    """Return the most expensive calls, longest first.

    Patterns with unknown pieces or without a prediction are omitted.
    """
    listed = []
    seconds = 0.0
    for pattern in recorded.patterns[:MOST_PATTERNS]:
        if seconds >= MIN_PATTERNS_SHARE * sum(recorded.seconds.values()):
            break
        seconds += recorded.seconds[pattern.number]
        mine = [call for call in recorded.calls if call.pattern == pattern.number]
        file = next(file for file in recorded.files if file.number == pattern.file)
        try:
            listed += [_made(run, pattern, file, mine)] if pattern.whole else []
        except InputError:  # hints or pieces of a kind that is not modelled
            continue
    return listed


def _made(
    run: Run, pattern: RecordedPattern, file: RecordedFile, mine: Sequence[RecordedCall]
) -> Made:
    reading = pattern.op == "read"
    call = call_of(pattern.accesses(file, run.size), file.hints, reading=reading)
    config = file.hints.get("cb_config_list", DEFAULT)
    nodes = whole_number(file.hints.get("cb_nodes", "")) or None
    ranks = call.aggregators(run.hosts, config, nodes)
    columns = {name: [call.parts[name] for call in mine if name in call.parts] for name in PARTS}
    parts = {name: median(times) for name, times in columns.items() if len(times) == len(mine)}
    used, seconds = ranks if call.exchanges else [], median(call.seconds for call in mine)
    return Made(MeasuredCall(call, run.hosts, used, seconds, parts), len(mine), config, nodes)


def message_sizes(calls: Sequence[Made]) -> list[int]:
    """Return the usual bytes of a message of each exchange, that which takes longest first."""
    sizes = []
    for program_call in sorted(calls, key=lambda call: -call.seconds):
        if program_call.call.collective:
            kinds = program_call.call.call.round_kinds(len(program_call.call.aggregators))
            data = sum(kind.times * float(kind.traffic.bytes.sent[-1]) for kind in kinds)
            messages = sum(kind.times * float(kind.traffic.messages.sent[-1]) for kind in kinds)
            sizes.append(int(data / max(1.0, messages)))
    return sizes
