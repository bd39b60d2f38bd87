"""GOAL, the schedules of LogGOPSim and ATLAHS (text); computation in ns, collectives as messages.

The grammar is that of LogGOPSim's txt2bin: ``num_ranks``, blocks ``rank N { … }``, operations
``label: calc N``, ``label: send Nb to N tag N``, ``label: recv Nb from N tag N``, and dependencies
``label requires label``. Collective operations become messages, by the algorithms of
`isochrone.applications.description.point_to_point`.
"""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from isochrone.applications.description.actions import Action, Actions
from isochrone.applications.description.point_to_point import as_messages
from isochrone.base.files import whole_file
from isochrone.formats.program import ProgramFormat

EMPTY_BYTES = 1
"""Bytes of an empty message: LogGOPSim charges for all bytes but the first."""


def write(actions: Actions, path: Path, *, speed: float | None = None) -> list[Path]:
    """Write a schedule."""
    with whole_file(path) as stream:
        stream.write(f"num_ranks {actions.ranks}\n".encode())
        for rank in range(actions.ranks):
            stream.write(f"\nrank {rank} {{\n".encode())
            stream.writelines(line.encode() for line in _Schedule().lines(actions, rank))
            stream.write(b"}\n")
    return [path]


class _Schedule:
    """The operations of one rank so far."""

    def __init__(self) -> None:
        self.count = 0
        self.last: str | None = None  # what all that follows must wait for
        self.open: list[str] = []
        self.tags: Counter[tuple[str, int]] = Counter()

    def lines(self, actions: Actions, rank: int) -> Iterator[str]:
        """Yield the lines of a rank."""
        for action in actions.of(rank):
            for message in as_messages(action, rank):
                yield from self._operation(message)
        yield from self._wait()

    def _operation(self, action: Action) -> Iterator[str]:
        if action.op == "wait":
            yield from self._wait()
        elif action.op in ("compute", "sleep"):
            yield from self._blocking(f"calc {round(action.amount * 1e9)}")
        else:
            sends = action.op in ("send", "isend")
            way = "to" if sends else "from"
            tag = self.tags[way, action.peer]
            self.tags[way, action.peer] += 1
            verb = "send" if sends else "recv"
            text = f"{verb} {max(EMPTY_BYTES, round(action.amount))}b {way} {action.peer} tag {tag}"
            if action.op in ("isend", "irecv"):
                yield from self._begin(text)
            else:
                yield from self._blocking(text)

    def _label(self) -> str:
        self.count += 1
        return f"l{self.count}"

    def _begin(self, text: str) -> Iterator[str]:
        """Write an operation that nothing waits for yet."""
        label = self._label()
        yield f"{label}: {text}\n"
        if self.last is not None:
            yield f"{label} requires {self.last}\n"
        self.open.append(label)

    def _blocking(self, text: str) -> Iterator[str]:
        yield from self._begin(text)
        self.last = self.open.pop()

    def _wait(self) -> Iterator[str]:
        """Let what follows wait for all that was begun."""
        if not self.open:
            return
        label = self._label()
        yield f"{label}: calc 0\n"
        for open_label in self.open:
            yield f"{label} requires {open_label}\n"
        if self.last is not None:
            yield f"{label} requires {self.last}\n"
        self.last, self.open = label, []


PROGRAM = ProgramFormat(suffix=".goal", write=write)
