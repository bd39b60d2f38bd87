"""An application description as it was written; its expressions are worked out by `lowering`.

The file's format is in docs/applications.md; these types say what it may hold, to the reader
and to the schema.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from isochrone.applications.description import shapes
from isochrone.applications.description.parameters import Bounds, Parameters
from isochrone.applications.description.phases import (
    PHASES,
    ExchangeSpec,
    PhaseSpec,
    RepeatSpec,
    leaves,
)
from isochrone.applications.description.program import Placement
from isochrone.applications.description.shapes import (
    ZERO,
    Declared,
    Given,
    Givens,
    KeyPath,
    Most,
    Name,
    Schema,
    Whole,
)
from isochrone.base.record import Members

FORMAT = "app/1"
"""What the key ``isochrone`` of a description says."""

RUNS = ("alone", "pairs", "all")
"""Words for which applications run together."""


@dataclass(frozen=True, kw_only=True)
class Place(Declared):
    """Ranks of the job that an application is asked to run on; None: any."""

    ranks: Givens | None = None


@dataclass(frozen=True, kw_only=True)
class App(Declared):
    """One application; `ranks` is None for all, `recorded` the only number that it is for."""

    name: Annotated[str, Name]
    ranks: Given | None = None
    recorded: Given | None = None
    parameters: Parameters = field(default_factory=Parameters)
    iterations: Given
    background: bool = False
    place: Place | None = None
    omitted: Given = ZERO
    uncertainty: Given = ZERO
    bounded: Bounds = field(default_factory=Bounds)
    phases: Annotated[tuple[PhaseSpec, ...], PHASES]
    REF: ClassVar = "app"

    @property
    def on(self) -> Givens | None:
        """Ranks of the job; None: any."""
        return self.place.ranks if self.place else None

    @property
    def outside(self) -> bool:
        """Whether it has one more rank, that starts the others."""
        return any(
            isinstance(phase, ExchangeSpec) and phase.outside for phase in leaves(self.phases)
        )

    @classmethod
    def read(cls, value: object, at: KeyPath) -> App:
        """Return one; phases without a name have their key as one, made unique."""
        app = shapes.declared(cls, value, at)
        owners: dict[str, str] = {}
        for phase in leaves(app.phases):
            phase_path = phase.at.path.rpartition(".")[0]
            if phase.name in owners:
                raise replace(phase.at, path=f"{phase_path}.name").error(
                    f"the name '{phase.name}' is already used by {owners[phase.name]}"
                )
            owners |= {phase.name: phase_path.partition(".")[2]} if phase.name else {}

        def named(phase: PhaseSpec) -> PhaseSpec:
            if isinstance(phase, RepeatSpec):
                return replace(phase, phases=tuple(map(named, phase.phases)))
            key = name = phase.at.path.rpartition(".")[2]
            suffix = 1
            while name in owners and not phase.name:
                suffix += 1
                name = f"{key}-{suffix}"
            owners[name] = ""
            return replace(phase, name=phase.name or name)

        return replace(app, phases=tuple(map(named, app.phases)))


class _Run:
    @staticmethod
    def read(value: object, at: KeyPath) -> str | tuple[object, ...]:
        """Return a word, or names that nobody has looked up."""
        if isinstance(value, list):
            return tuple(shapes.listed(value, at))
        return shapes.word(value, at, RUNS)

    @staticmethod
    def schema() -> Schema:
        """Return what it may be."""
        names = {"type": "array", "items": {"type": "string"}, "minItems": 1}
        return shapes.one_of({"enum": list(RUNS)}, names)


@dataclass(frozen=True, kw_only=True)
class Description(Declared):
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

    isochrone: Literal["app/1"]
    seed: Annotated[int, Whole(0, 2**63 - 1)] = 1
    runs: tuple[Annotated[str | tuple[str, ...], _Run], ...] = RUNS
    repeats: Annotated[int, Whole(1, 100_000)] = 5
    place: Placement = "disjoint"
    parameters: Parameters = field(default_factory=Parameters)
    apps: Annotated[tuple[App, ...], Most(App, 64, "applications")]
    document: Members = field(compare=False, repr=False, default_factory=dict)
    folder: Path = field(compare=False, default=Path())
