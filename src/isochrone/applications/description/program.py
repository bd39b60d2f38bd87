"""What every rank of described applications does: the steps of one iteration, in order.

A description (who, when, what) is worked out into a `Program` once. Everything after that works
on programs: the probe runs one (``text`` is the file it reads), a prediction plays it through with
models for clocks, and exports write it for simulators of others.

Where ranks wait for each other, the step says so and nothing else does: the phases of a rank follow
each other without a barrier.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal, get_args

from isochrone.base.record import Record

MAX_RANKS = 2**16
"""Of a program; draws number receivers up to 2**20."""

Mode = Literal["cpu", "spin", "sleep"]
MODES = get_args(Mode)
"""How a rank computes: processor time used up (feels contention), wall-clock time, asleep."""

Method = Literal["message", "shared-memory", "posix-file", "mpi-file", "put", "get"]
METHODS = get_args(Method)
"""How data move; with one other than ``message``, an empty message says that they are there."""


Ranks = tuple[int, ...]


class Compute(Record):
    """Compute: `time` is a list of values in seconds, drawn by (app, rank, phase, iteration, 0).

    `schedule` is a list of factors that are used in turn, iteration by iteration.
    """

    phase: int
    time: int
    factor: float = 1.0
    mode: Mode = "cpu"
    schedule: int | None = None


class Send(Record):
    """Send to rank `to`, blocking; `size` is a list of values in bytes.

    Drawn by (app, sender, phase, iteration, receiver).
    The n-th message (from 0) of one sender to one receiver in a phase and iteration adds n * 2**20
    to the last part of the key, at both.
    """

    phase: int
    to: int
    size: int


class Recv(Record):
    """Receive from rank `source`, blocking; its size is drawn as the sender's."""

    phase: int
    source: int
    size: int


class Isend(Record):
    """Begin to send; done after the next `Wait`."""

    phase: int
    to: int
    size: int


class Irecv(Record):
    """Begin to receive; done after the next `Wait`."""

    phase: int
    source: int
    size: int


class Wait(Record):
    """Wait for all that was begun."""

    phase: int


class Serve(Record):
    """Answer one request of each client, whoever asks first: receive, compute, send.

    A request is drawn as the client's message, a reply as that of this rank to the client, the
    time by (app, server, phase, iteration, client). A client does `Send` and `Recv`.
    """

    phase: int
    clients: Ranks
    request: int
    reply: int
    time: int
    mode: Mode = "cpu"


class Farm(Record):
    """Hand out `tasks` tasks: one to each worker, then the next one to whoever returned a result.

    Task t (from 0) has ``task`` bytes drawn by (app, master, phase, iteration, t); its result
    ``result`` bytes drawn by (app, master, phase, iteration, 2**20 + t). Before it hands out task
    t, the master computes a time drawn by (app, master, phase, iteration, 2**21 + t). When none is
    left, each worker learns so from an empty message.
    """

    phase: int
    workers: Ranks
    tasks: int
    task: int
    result: int
    time: int
    mode: Mode = "cpu"


class Work(Record):
    """Receive tasks, compute, return results, until an empty message ends it.

    Task t takes a time drawn by (app, master, phase, iteration, t), whoever does it; times
    `factor`.
    """

    phase: int
    master: int
    task: int
    result: int
    time: int
    factor: float = 1.0
    mode: Mode = "cpu"


class Collective(Record):
    """A collective operation of the application, or of its ranks `among` (in this order).

    `op` and its bytes (of a block) are as in ``measure collective``; drawn by (app, 0, phase,
    iteration, 0). `root` is a rank of the application. `grid` is empty, or a grid as two phases
    (``4x4``, ``nodes``).
    """

    phase: int
    op: str
    size: int
    root: int = 0
    grid: str = ""
    among: Ranks = ()


class Repeat(Record):
    """Steps that are done `times` times, in each `every`-th iteration of what is around them.

    For the draws of these steps, the iteration is the number of times they were done before. Of a
    loop whose turns differ, each turn is a repeat of its own: turn `turn` of `of`. `phase` is the
    first phase of the loop.
    """

    times: int
    every: int
    steps: tuple[Step, ...]
    phase: int
    turn: int
    of: int

    def turns(self, iteration: int) -> range:
        """Return the iterations of its steps within one iteration of what is around them."""
        if (iteration + 1) % self.every:
            return range(0)
        first = iteration // self.every * self.of + self.turn
        return range(first, first + self.times)


Single = Compute | Send | Recv | Isend | Irecv | Wait | Serve | Farm | Work | Collective
"""A step that repeats no others."""

Step = Single | Repeat


def flat(steps: Iterable[Step]) -> Iterator[Single]:
    """Yield steps in order, those that are repeated once."""
    for step in steps:
        if isinstance(step, Repeat):
            yield from flat(step.steps)
        else:
            yield step


class Phase(Record):
    """One phase of an application: its name in results, and how its data move.

    `path` is the file of ``posix-file`` and ``mpi-file``.
    """

    name: str
    method: Method = "message"
    path: str = ""


class Application(Record):
    """One application: `steps[r]` is what its rank r does in each iteration.

    A background application repeats its iterations until all others of a launch are done. `on` are
    ranks of the job that it was asked to run on; empty: any. `omitted` is the share of its run time
    that has no step, `uncertainty` a relative half width of its time, 95 %. `bounded` are
    operations that were recorded, with their time (s), for predictions without a model of them.
    """

    name: str
    phases: tuple[Phase, ...]
    steps: tuple[tuple[Step, ...], ...]
    iterations: int
    background: bool = False
    on: Ranks = ()
    omitted: float = 0.0
    uncertainty: float = 0.0
    bounded: tuple[tuple[str, float], ...] = ()

    @property
    def ranks(self) -> int:
        """Number of its ranks."""
        return len(self.steps)


class Launch(Record):
    """Applications (indices, ascending) that run at the same time, in one repetition."""

    repeat: int
    together: tuple[int, ...]


Placement = Literal["disjoint", "shared-nodes", "shared-cores"]
PLACEMENTS = get_args(Placement)


class Program(Record):
    """Applications and the order in which they run, alone and together.

    Attributes
    ----------
    seed
        Of all draws.
    values
        Lists of equally likely values, seconds or bytes, to which steps refer by index.
    applications, launches
        What runs, and when.
    placement
        Whether applications share nodes or cores.
    """

    seed: int
    values: tuple[tuple[float, ...], ...]
    applications: tuple[Application, ...]
    launches: tuple[Launch, ...] = ()
    placement: Placement = "disjoint"

    @property
    def ranks(self) -> int:
        """Ranks that all its applications need at once."""
        return sum(a.ranks for a in self.applications)
