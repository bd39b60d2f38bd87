"""Programs as the file that the probe reads; ``probe/experiments/app/program.h`` has its layout."""

import struct
import zlib
from array import array
from collections.abc import Iterable

from msgspec.structs import asdict

from isochrone.applications.description.program import (
    METHODS,
    MODES,
    PLACEMENTS,
    Application,
    Collective,
    Compute,
    Farm,
    Irecv,
    Isend,
    Program,
    Recv,
    Repeat,
    Send,
    Serve,
    Single,
    Step,
    Wait,
    Work,
)
from isochrone.base.errors import InputError

_MAGIC = b"iso-app5"

_KINDS = (Compute, Send, Isend, Recv, Irecv, Wait, Serve, Farm, Work, Collective, Repeat)
"""In the order of ``iso_step_kind_t``."""

_WORDS = {
    "phase": 1,
    **dict.fromkeys(("to", "source", "master", "root"), 2),
    **dict.fromkeys(("size", "request", "task"), 3),
    **dict.fromkeys(("reply", "result", "op"), 4),
    "time": 5,
    "factor": 6,
    "mode": 7,
    **dict.fromkeys(("tasks", "grid"), 8),
}
"""Which word of a step holds what; word 0 is its kind, word 9 the length of its list."""

_MAX_DECLARED_SECONDS = 1e8
"""Seconds of a computation."""


def data(program: Program) -> bytes:
    """Return a program as the probe reads it.

    Raises
    ------
    InputError
        If a message has 2 GiB, a block of a collective more than 1 GiB, or a computation takes more
        than 1e8 s; if two applications use the same file.
    """
    writer = _Writer(program)
    integers = [PLACEMENTS.index(program.placement)]
    integers += [len(program.values), len(program.applications), len(program.launches)]
    for values in program.values:
        integers += [len(writer.numbers), len(values)]
        writer.numbers.extend(values)
    for app in program.applications:
        integers += writer.application(app)
    for launch in program.launches:
        integers += [launch.repeat, len(launch.together), *launch.together]
    writer.letters += bytes(-len(writer.letters) % 4)
    sections: list[array[float] | array[int] | bytearray] = [
        writer.numbers,
        array("i", integers),
        writer.letters,
        writer.steps,
    ]
    payload = struct.pack("=Q4q", program.seed, *map(len, sections)) + b"".join(
        map(bytes, sections)
    )
    return _MAGIC + struct.pack("=Q", zlib.crc32(payload)) + payload


class _Writer:
    """The parts of a file while it is written."""

    def __init__(self, program: Program) -> None:
        self.owners: dict[str, str] = {}  # of files
        self.numbers = array("d", [1.0])
        self.factors = {1.0: 0}
        self.letters = bytearray(1)
        self.texts = {"": 0}
        self.steps = array("i")
        self.most = [max(values) for values in program.values]

    def _text(self, text: str) -> int:
        if text not in self.texts:
            self.texts[text] = len(self.letters)
            self.letters += text.encode() + b"\0"
        return self.texts[text]

    def application(self, app: Application) -> list[int]:
        """Write the steps of an application; return all else that is known of it."""
        integers = [self._text(app.name), app.ranks, app.iterations, int(app.background)]
        integers += [len(app.on), *app.on, len(app.phases)]
        for phase in app.phases:
            if phase.path and self.owners.setdefault(phase.path, app.name) != app.name:
                raise InputError(  # they would write over each other's data
                    f"the file is also used by {self.owners[phase.path]}",
                    where=f"{app.name} {phase.name}: {phase.path}",
                )
            integers += [
                self._text(phase.name),
                METHODS.index(phase.method),
                self._text(phase.path),
            ]
        for steps in app.steps:
            integers.append(len(self.steps))
            self._steps(app, steps)
        return [*integers, len(self.steps)]

    def _steps(self, app: Application, steps: Iterable[Step]) -> int:
        """Write steps; return how many they are, those that are repeated and repeats included."""
        count = 0
        for step in steps:
            count += 1
            if isinstance(step, Repeat):
                start = len(self.steps)
                words = [_KINDS.index(Repeat), step.phase, step.every, *[0] * 5, step.times, 2]
                self.steps.extend([*words, step.turn, step.of])
                self.steps[start + 5] = inner = self._steps(app, step.steps)
                count += inner
                continue
            self._check(app, step)
            words = [_KINDS.index(type(step)), *[0] * 9]
            for name, value in asdict(step).items():
                if isinstance(value, tuple):
                    words[9] = len(value)
                    words += value
                elif name == "schedule":
                    words[8] = 0 if value is None else value + 1
                elif name == "mode":
                    words[7] = MODES.index(value)
                elif name == "factor":
                    if value not in self.factors:
                        self.factors[value] = len(self.numbers)
                        self.numbers.append(value)
                    words[6] = self.factors[value]
                else:
                    words[_WORDS[name]] = self._text(value) if isinstance(value, str) else value
            self.steps.extend(words)
        return count

    def _check(self, app: Application, step: Single) -> None:
        """Refuse what no MPI can send, and what takes for ever."""
        where = f"{app.name} {app.phases[step.phase].name}"
        limit = 2**30 if isinstance(step, Collective) else 2**31 - 1
        for name in ("size", "request", "reply", "task", "result"):
            size = self.most[getattr(step, name)] if hasattr(step, name) else 0
            if size > limit:
                raise InputError(
                    f"{size:.0f} bytes: one message is below 2 GiB, one block at most 1 GiB",
                    where=where,
                )
        if isinstance(step, Compute | Serve | Farm | Work):
            longest = self.most[step.time] * getattr(step, "factor", 1.0)
            if isinstance(step, Compute) and step.schedule is not None:
                longest *= self.most[step.schedule]
            if longest > _MAX_DECLARED_SECONDS:
                raise InputError(f"a computation of {longest:g} s is too long", where=where)
