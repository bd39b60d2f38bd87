"""What is resolved of an application while it is lowered: names, lists of values, factors."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

import numpy as np

from isochrone.applications.description import distributions
from isochrone.applications.description.description import App
from isochrone.applications.description.distributions import Spread
from isochrone.applications.description.draws import draw
from isochrone.applications.description.expression import Quantity, UnknownNameError
from isochrone.applications.description.grids import Order, coarser
from isochrone.applications.description.parameters import Parameters
from isochrone.applications.description.phases import Coarser, ComputeSpec
from isochrone.applications.description.program import MAX_RANKS
from isochrone.applications.description.quantities import (
    MAX_COMPUTATION,
    Reader,
    Scope,
    count,
    number,
    quantity,
    seconds,
)
from isochrone.applications.description.shapes import Given, KeyPath
from isochrone.base.errors import InputError


def parameters(common: Parameters, app: App, p: int) -> Scope:
    """Return what names stand for in an application of `p` ranks.

    Parameters are worked out in their order, those of the application after those of all; one of
    the application takes the place of one of all.

    Raises
    ------
    InputError
        If one of them cannot be worked out.
    """
    scope = {"p": Quantity(float(p))}
    for name, expression in chain(common.items(), app.parameters.items()):
        scope[name] = quantity(expression, scope)
    return scope


def number_of_ranks(common: Parameters, app: App, expression: Given) -> int:
    """Return the number of ranks of an application, from parameters that do not depend on it.

    Raises
    ------
    InputError
        If it cannot be worked out, or is not from 1 to `MAX_RANKS`.
    """
    scope: dict[str, Quantity] = {}
    for name, parameter in chain(common.items(), app.parameters.items()):
        try:
            scope[name] = quantity(parameter, scope)
        except InputError as error:
            if not isinstance(error.__cause__, UnknownNameError):
                raise
            scope.pop(name, None)
    try:
        return count(expression, scope, 1, MAX_RANKS)
    except InputError as error:
        if not isinstance(error.__cause__, UnknownNameError):
            raise
        hint = "ranks follow from parameters that do not depend on p"
        raise expression.at.error(error.what, hint) from None


MAX_STEPS = 2**22
"""Messages, computations and collectives of all ranks in an iteration: all are in memory."""

FACTOR = 2**32 - 1
"""Number of the draw of a rank's factor, in iteration 0 of its phase."""


@dataclass
class Values:
    """Lists of equally likely values, each kept once; and steps, counted."""

    lists: dict[tuple[float, ...], int] = field(default_factory=dict)
    steps: int = 0


@dataclass(frozen=True)
class Resolved:
    """One application with its number of ranks.

    Attributes
    ----------
    index
        Of the application.
    p
        Its ranks, without a starter outside.
    scope
        What names stand for.
    kept
        Lists of values of all applications.
    seed, folder
        Of the description.
    """

    index: int
    p: int
    scope: Scope
    kept: Values
    seed: int
    folder: Path

    def values(self, values: Sequence[float]) -> int:
        """Return the index of a list of equally likely values."""
        return self.kept.lists.setdefault(tuple(values), len(self.kept.lists))

    def spread(self, spread: Spread, read: Reader) -> int:
        """Return the index of the list of a distribution."""
        return self.values(distributions.values(spread, read, self.scope))

    def times(self, spec: ComputeSpec | None, factor: float = 1.0) -> int:
        """Return the index of the list of times of a computation, each `factor` times as long."""
        if spec is None:
            return self.values([0.0])
        times = distributions.values(spec.time, seconds, self.scope)
        return self.values([factor * time for time in times])

    def schedule(self, spec: ComputeSpec | None) -> int | None:
        """Return the index of the list of factors that are used in turn, if there are some."""
        if spec is None or not spec.schedule:
            return None
        return self.values([number(factor, self.scope) for factor in spec.schedule])

    def factors(self, spec: ComputeSpec | None, phase: int) -> list[float]:
        """Return how many times as long each rank computes.

        Raises
        ------
        InputError
            If a factor is no number, or that of no rank.
        """
        factors = [1.0] * self.p
        if spec is None:
            return factors
        if spec.among is not None:
            factors = np.isin(range(self.p), self.coarser(spec.among)).astype(float).tolist()
        imbalance = spec.imbalance
        if imbalance is None:
            return factors
        if imbalance.last is not None:
            factors[-1] = number(imbalance.last, self.scope)
        elif imbalance.each is not None:
            likely = distributions.values(imbalance.each, number, self.scope)
            factors = draw(
                self.seed, likely, self.index, list(range(self.p)), phase, 0, FACTOR
            ).tolist()
        for rank, factor in imbalance.ranks:
            factors[count(rank, self.scope, 0, self.p - 1)] = number(factor, self.scope)
        if max(factors) > MAX_COMPUTATION:
            raise spec.at.key("imbalance").error(
                f"the factor {max(factors):g} is too large", "at most a million"
            )
        return factors

    def coarser(self, spec: Coarser) -> tuple[int, ...]:
        """Return the ranks of a coarser grid."""
        dimensions = count(spec.dimensions, self.scope, 1, 4)
        apart = count(spec.apart, self.scope, 1, self.p)
        order: Order = "F" if spec.first_fastest else "C"
        return tuple(coarser(self.p, dimensions, apart, order).ravel().tolist())

    def rank(self, expression: Given) -> int:
        """Return a rank of the application.

        Raises
        ------
        InputError
            If there is none of this number.
        """
        rank = count(expression, self.scope, 0, MAX_RANKS)
        if rank >= self.p:
            raise expression.at.error(
                f"there is no rank {rank} in an application of {self.p} ranks"
            )
        return rank

    def check_steps(self, steps: int, at: KeyPath) -> None:
        """Count steps of ranks in an iteration, and refuse more than there is room for."""
        self.kept.steps += steps
        if self.kept.steps > MAX_STEPS:
            raise at.error(
                f"an iteration has {self.kept.steps} messages, computations and collectives",
                f"at most {MAX_STEPS}",
            )
