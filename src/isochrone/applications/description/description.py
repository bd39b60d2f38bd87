"""An application description as it was written; its expressions are worked out by `lowering`.

The file's format is told in docs/applications.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from isochrone.applications.description.key_path import KeyPath
from isochrone.applications.description.program import Method, Mode, Placement

__all__ = [
    "FORMAT",
    "App",
    "CollectiveSpec",
    "ComputeSpec",
    "Description",
    "ExchangeSpec",
    "Given",
    "Imbalance",
    "PhaseSpec",
    "Scalar",
    "Spread",
    "TopologySpec",
]

FORMAT: Final = "app/1"
"""What the key ``isochrone`` of a description says."""

Scalar = int | float | str
"""A number, a number with its unit, or an expression."""


@dataclass(frozen=True)
class Given:
    """A value that was written somewhere."""

    value: Scalar
    at: KeyPath = field(compare=False)


@dataclass(frozen=True)
class Spread:
    """One value, or a distribution of values.

    Attributes
    ----------
    kind
        ``constant``, or a name of `distributions.KINDS`.
    arguments
        By name; that of ``constant`` is ``value``.
    weighted
        Of ``empirical``: values and how often each occurs, relative to the others.
    """

    kind: str
    arguments: Mapping[str, Given]
    at: KeyPath = field(compare=False)
    weighted: tuple[tuple[Given, Given], ...] = ()


@dataclass(frozen=True)
class Imbalance:
    """How the ranks differ: one of the three is given.

    Attributes
    ----------
    last
        The last rank takes that many times as long as the others.
    each
        One factor is drawn for each rank.
    ranks
        Factors of some ranks.
    """

    last: Given | None = None
    each: Spread | None = None
    ranks: tuple[tuple[Given, Given], ...] = ()


@dataclass(frozen=True)
class ComputeSpec:
    """A phase of computation, or the computation within an exchange."""

    name: str
    time: Spread
    mode: Mode
    imbalance: Imbalance | None
    at: KeyPath = field(compare=False)


@dataclass(frozen=True)
class CollectiveSpec:
    """A phase that is one collective operation; `bytes` is None for one without.

    `among` are ranks of parts of the application that each do it on their own; empty: all do it
    together.
    """

    name: str
    op: str
    bytes: Spread | None
    root: Given
    grid: str
    at: KeyPath = field(compare=False)
    among: tuple[tuple[Given, ...], ...] = ()


@dataclass(frozen=True)
class TopologySpec:
    """Who talks to whom: a name of ``topologies`` and its options as they were written.

    `short` is the option that was written without its name.
    """

    name: str
    options: Mapping[str, Any]
    at: KeyPath = field(compare=False)
    short: str = ""


@dataclass(frozen=True)
class ExchangeSpec:
    """A phase of messages over a topology.

    Attributes
    ----------
    flow
        Empty: that of the topology.
    bytes, reply
        Sizes of messages; None: not given.
    compute
        Within it; None: nothing.
    tasks
        Of a farm; None: not given.
    method, path
        How the data move.
    outside
        Whether one more rank sends the first message.
    targets
        Ranks that this one sends to; empty: those at which the flow begins.
    """

    name: str
    topology: TopologySpec
    flow: str
    bytes: Spread | None
    reply: Spread | None
    compute: ComputeSpec | None
    tasks: Given | None
    method: Method
    path: str
    outside: bool
    targets: tuple[Given, ...]
    at: KeyPath = field(compare=False)


PhaseSpec = ComputeSpec | CollectiveSpec | ExchangeSpec


@dataclass(frozen=True)
class App:
    """One application; `ranks` is None for all that there are, `on` None for any of the job."""

    name: str
    ranks: Given | None
    parameters: tuple[tuple[str, Given], ...]
    iterations: Given
    background: bool
    on: tuple[Given, ...] | None
    phases: tuple[PhaseSpec, ...]
    at: KeyPath = field(compare=False)

    @property
    def outside(self) -> bool:
        """Whether it has one more rank, that starts the others."""
        return any(isinstance(phase, ExchangeSpec) and phase.outside for phase in self.phases)


@dataclass(frozen=True)
class Description:
    """Applications, and which of them run together.

    Attributes
    ----------
    runs
        ``alone``, ``pairs``, ``all``, or names of applications that run at the same time.
    document
        What all this was read from, as plain data.
    folder
        Where files that it names are looked for.
    """

    seed: int
    runs: tuple[str | tuple[str, ...], ...]
    repeats: int
    placement: Placement
    parameters: tuple[tuple[str, Given], ...]
    apps: tuple[App, ...]
    at: KeyPath = field(compare=False)
    document: Mapping[str, Any] = field(compare=False, repr=False)
    folder: Path = field(compare=False, default=Path())
