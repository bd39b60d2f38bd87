"""An application played until the time of its iterations is known."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from isochrone.applications.description.program import Farm, Program, Serve, Step
from isochrone.applications.simulate.collectives import Meetings, OperationTime
from isochrone.applications.simulate.drawing import Draws
from isochrone.applications.simulate.events import Clock
from isochrone.applications.simulate.mail import Mail
from isochrone.applications.simulate.network import Network
from isochrone.applications.simulate.ranks import MessageCost, Parts, Ranks
from isochrone.base.errors import InputError

__all__ = ["LEAST", "Clocks", "Played", "play"]

LEAST: Final = 24
"""Iterations that are played at least, for a prediction."""

_ENOUGH: Final = 0.001
"""An iteration's time is known well enough at this relative standard error."""

_BLOCKS: Final = 8
"""Parts of the iterations played whose means say how sure their mean is."""


@dataclass(frozen=True)
class Clocks:
    """What takes how long."""

    operation: OperationTime
    message: MessageCost
    parts: Parts
    node_of: list[int]
    at_once: bool


@dataclass
class Played:
    """What was played of an application.

    Attributes
    ----------
    ends
        When all ranks had done each iteration, in seconds, shape (played,).
    phases
        Seconds in each phase, a mean over ranks, shape (played, phases).
    iterations
        That were asked for.
    """

    ends: NDArray[np.float64]
    phases: NDArray[np.float64]
    iterations: int
    ranks: int = field(default=1)

    @property
    def steady(self) -> int:
        """The iteration from which on the time of one is taken."""
        return len(self.ends) // 3

    @property
    def each(self) -> tuple[float, float]:
        """Seconds of a further iteration, and the standard error of that."""
        return _mean_and_error(self.ends, self.steady)

    @property
    def seconds(self) -> float:
        """Of all iterations."""
        return float(self.ends[-1]) + (self.iterations - len(self.ends)) * self.each[0]

    @property
    def error(self) -> float:
        """Standard error of `seconds`, for not having played all iterations."""
        left = self.iterations - len(self.ends)
        return left * self.each[1] if left else 0.0

    @property
    def phase_seconds(self) -> NDArray[np.float64]:
        """Seconds of each phase in an iteration, a mean over ranks and all iterations."""
        rest = self.iterations - len(self.ends)
        later = self.phases[self.steady :].mean(axis=0)
        return np.asarray((self.phases.sum(axis=0) + rest * later) / self.iterations)


def play(
    program: Program, app: int, clocks: Clocks, *, least: int = LEAST, most: int = 100_000
) -> Played:
    """Play one application alone.

    Parameters
    ----------
    least
        Iterations, unless there are fewer.
    most
        Steps of ranks after which it is enough.

    Raises
    ------
    InputError
        If its ranks wait for each other for ever.
    """
    application = program.applications[app]
    ranks = application.ranks
    clock = Clock()
    network = Network(clock, clocks.node_of)
    spent = np.zeros((64, len(application.phases)))
    missing: dict[int, int] = {}
    ends: list[float] = []

    def note(phase: int, iteration: int, seconds: float) -> None:
        nonlocal spent
        if iteration >= len(spent):
            spent = np.concatenate([spent, np.zeros_like(spent)])
        spent[iteration, phase] += seconds

    def finished(iteration: int) -> None:
        left = missing.pop(iteration, ranks) - 1
        if left:
            missing[iteration] = left
        else:
            ends.append(clock.now)

    one = Ranks(
        application, clock, Mail(clock, network, at_once=clocks.at_once),
        Meetings(clock, clocks.operation, ranks), Draws(program.seed, program.values, app),
        clocks.message, note, clocks.parts,
    )  # fmt: skip
    for rank in range(ranks):
        clock.start(one.run(rank, application.iterations, finished))
    work = max(sum(map(_work, application.steps)), 1)
    stopped = clock.play(_stop(ends, application.iterations, least, most // work))
    if not stopped and len(ends) < application.iterations:
        raise InputError(
            f"'{application.name}': its ranks wait for each other for ever in iteration "
            f"{len(ends) + 1}",
            hint="messages that wait for their receiver may need the flow exchange",
        )
    return Played(np.array(ends), spent[: len(ends)] / ranks, application.iterations, ranks)


def _work(steps: Sequence[Step]) -> int:
    """Return how much there is to be played of a rank: steps, and those within steps."""
    return sum(
        3 * len(step.clients) if isinstance(step, Serve)
        else 3 * step.tasks if isinstance(step, Farm)
        else 1
        for step in steps
    )  # fmt: skip


def _stop(ends: list[float], iterations: int, least: int, most: int) -> Callable[[], bool]:
    """Return what says that enough was played: the time of an iteration is steady."""
    looked = 0

    def stop() -> bool:
        nonlocal looked
        done = len(ends)
        if done < least or done < looked * 1.2 or done >= iterations:
            return False
        if done >= most:
            return True
        looked = done
        mean, error = _mean_and_error(np.array(ends), done // 3)
        return error <= _ENOUGH * mean

    return stop


def _mean_and_error(ends: NDArray[np.float64], first: int) -> tuple[float, float]:
    """Return the mean time of iterations from ``first`` on, and its standard error.

    Iterations that follow each other are alike in what delays them, so the error is that of the
    means of a few long parts.
    """
    rest = ends[first:]
    if len(rest) < 2:
        return float(ends[-1] / len(ends)), math.nan
    mean = float((rest[-1] - rest[0]) / (len(rest) - 1))
    parts = np.linspace(0, len(rest) - 1, min(_BLOCKS, len(rest) - 1) + 1).astype(int)
    means = np.diff(rest[parts]) / np.diff(parts)
    if len(means) < 2:
        return mean, math.nan
    return mean, float(np.std(means, ddof=1) / math.sqrt(len(means)))
