"""Phases of an application as they were written: computation, operations, exchanges, repeats."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Annotated, ClassVar, Literal, Self

from isochrone.applications.description import shapes
from isochrone.applications.description.distributions import Spread, distribution_schema
from isochrone.applications.description.parameters import Parameters
from isochrone.applications.description.program import METHODS, Method, Mode
from isochrone.applications.description.shapes import (
    ONE,
    ZERO,
    Declared,
    Given,
    Givens,
    KeyPath,
    Most,
    Name,
    Schema,
)
from isochrone.applications.description.topology import TopologySpec
from isochrone.base.errors import InputError
from isochrone.base.operations import DESCRIBED, ROOTED
from isochrone.collectives import grid_collectives

Flow = Literal["request", "farm", "token", "stream", "sweep", "exchange"]

_IN_FILES = tuple(method for method in METHODS if method.endswith("-file"))


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

    @classmethod
    def read(cls, value: object, at: KeyPath) -> Imbalance:
        """Return a factor of the last, a distribution, or factors of some."""
        if shapes.is_scalar(value):
            return cls(last=Given(value, at))
        if not isinstance(value, dict) or not value:
            raise at.error("the value is not a factor, a distribution, or factors by rank")
        numbers = [key for key in value if re.fullmatch("[0-9]+", key)]
        if not numbers:
            return cls(each=Spread.read(value, at))
        for key in value:
            if key not in numbers:
                raise at.key(key).error("the key is not a rank", "ranks are numbers from 0")
        return cls(
            ranks=tuple(
                (Given(rank, at.key(rank)), Given.read(factor, at.key(rank)))
                for rank, factor in value.items()
            )
        )

    @staticmethod
    def schema() -> Schema:
        """Return what it may be."""
        scalar = shapes.schema(Given)
        by_rank = {
            "type": "object",
            "patternProperties": {"^[0-9]+$": scalar},
            "additionalProperties": False,
            "minProperties": 1,
        }
        return shapes.one_of(scalar, distribution_schema(), by_rank)


@dataclass(frozen=True, kw_only=True)
class _AnyPhase(Declared):
    """What every phase may have: these keys are next to that of its kind."""

    name: str = field(default="", compare=False)
    every: Given = field(default=ONE, compare=False)


@dataclass(frozen=True, kw_only=True)
class Coarser(Declared):
    """The ranks of a grid of all of them whose coordinates are multiples of `apart`."""

    dimensions: Given
    apart: Given
    first_fastest: bool = False


@dataclass(frozen=True, kw_only=True)
class ComputeSpec(_AnyPhase):
    """A phase of computation, or the computation within an exchange; by all, or only by some."""

    time: Spread
    among: Coarser | None = None
    schedule: Givens = ()
    mode: Mode = "cpu"
    imbalance: Imbalance | None = None
    REF: ClassVar = "compute"

    @classmethod
    def read(cls, value: object, at: KeyPath) -> Self:
        """Return a computation: a time, or a mapping with one."""
        if shapes.is_scalar(value):
            return cls(at=at, time=Spread.read(value, at))
        return shapes.declared(cls, value, at)

    @classmethod
    def schema(cls) -> Schema:
        """Return what it may be."""
        return shapes.one_of(shapes.schema(Given), shapes.declared_schema(cls))


class _Grid:
    @staticmethod
    def read(value: object, at: KeyPath) -> str:
        """Return a grid of ranks as a word."""
        if not isinstance(value, str):
            raise at.error("the grid is not a text", "write 4x4, rows-of-8 or nodes")
        try:
            grid_collectives.Grid.parse(value)
        except InputError as error:
            raise at.error(error.what, error.hint) from None
        return value

    @staticmethod
    def schema() -> Schema:
        """Return what it may be."""
        return {"type": "string", "pattern": f"^{grid_collectives.WORD.pattern}$"}


@dataclass(frozen=True, kw_only=True)
class Among(Declared):
    """Groups of `size` ranks whose numbers differ by `stride`: rows and columns of a grid."""

    size: Given
    stride: Given

    @classmethod
    def read(cls, value: object, at: KeyPath) -> Declared:
        """Return them, or one group of the ranks of a coarser grid."""
        coarser = isinstance(value, dict) and "apart" in value
        return shapes.declared(Coarser if coarser else cls, value, at)

    @classmethod
    def schema(cls) -> Schema:
        """Return what they may be."""
        return shapes.one_of(shapes.declared_schema(cls), shapes.declared_schema(Coarser))


@dataclass(frozen=True, kw_only=True)
class CollectiveSpec(_AnyPhase):
    """A phase that is one collective operation; `bytes` is None for one without.

    `among` are ranks of parts of the application that each do it on their own; empty: all do it
    together.
    """

    op: str = field(default="", compare=False)
    bytes: Spread | None = None
    among: tuple[Givens, ...] | Among | Coarser = ()
    root: Given = ZERO
    grid: Annotated[str, _Grid] = ""

    @classmethod
    def of(cls, op: str, value: object, at: KeyPath) -> Self:
        """Return an operation."""
        if op == "barrier" and value is None:
            value = {}
        keys = _keys(op)
        spec = shapes.declared(
            cls, value, at, sorted(keys, key=lambda key: key == "among"), keys[: op != "barrier"]
        )
        return replace(spec, op=op)

    @classmethod
    def schema_of(cls, op: str) -> Schema:
        """Return what an operation may be."""
        schema = shapes.declared_schema(cls)
        if op == "barrier":
            del schema["required"]
            schema["type"] = ["object", "null"]
        else:
            schema["required"] = ["bytes"]
        schema["properties"] = {key: schema["properties"][key] for key in _keys(op)}
        return schema


def _keys(op: str) -> list[str]:
    """Return what can be said of a collective operation."""
    allowed = {
        "bytes": op != "barrier",
        "among": True,
        "root": op in ROOTED,
        "grid": op in grid_collectives.OPERATIONS,
    }
    return [key for key, takes in allowed.items() if takes]


@dataclass(frozen=True)
class Transfer:
    """How the data of an exchange move; `path` is that of a file."""

    method: Method = "message"
    path: str = ""

    @classmethod
    def read(cls, value: object, at: KeyPath) -> Transfer:
        """Return it."""
        if isinstance(value, dict):
            method, path, at = shapes.single(value, at, _IN_FILES, "one method is expected")
            if not isinstance(path, str) or not path.strip() or not path.isprintable():
                raise at.error("the value is not the path of a file")
            return cls(method, path.strip())  # type: ignore[arg-type]
        method = shapes.word(value, at, METHODS)
        if method in _IN_FILES:
            raise at.error(f"the method {method} needs a path", f"write {{{method}: PATH}}")
        return cls(method)  # type: ignore[arg-type]

    @staticmethod
    def schema() -> Schema:
        """Return what it may be."""
        methods = [method for method in METHODS if method not in _IN_FILES]
        path = {"type": "string", "pattern": r"\S"}
        return shapes.one_of(
            {"enum": methods}, shapes.single_schema(dict.fromkeys(_IN_FILES, path))
        )


@dataclass(frozen=True, kw_only=True)
class Outside(Declared):
    """A rank of its own sends the first messages, to these ranks."""

    outside: Givens


@dataclass(frozen=True, kw_only=True)
class ExchangeSpec(_AnyPhase):
    """A phase of messages over a topology.

    Attributes
    ----------
    flow
        Empty: that of the topology.
    bytes, reply
        Sizes of messages; None: not given.
    compute
        Within it; None: nothing.
    tasks, dispatch
        Of a farm: how many, and what its master computes for each; None: not given.
    method
        How the data move.
    starter
        Who sends the first message.
    """

    topology: TopologySpec
    flow: Flow | None = None
    bytes: Spread | None = None
    reply: Spread | None = None
    compute: ComputeSpec | None = None
    tasks: Given | None = None
    dispatch: Spread | None = None
    method: Transfer = Transfer()
    starter: Literal["inside", "outside"] | Outside = "inside"
    REF: ClassVar = "exchange"

    @property
    def outside(self) -> bool:
        """Whether one more rank sends the first message."""
        return self.starter != "inside"

    @property
    def targets(self) -> Givens:
        """Whom that one sends to; empty: those at which the flow begins."""
        return self.starter.outside if isinstance(self.starter, Outside) else ()


LeafSpec = ComputeSpec | CollectiveSpec | ExchangeSpec


class _Step:
    @staticmethod
    def read(value: object, at: KeyPath) -> str:
        """Return the name of the number of a turn."""
        if not isinstance(value, str):
            raise at.error("the name of a step is not a text", "write step: k")
        Parameters.check(value, at)
        return value

    @staticmethod
    def schema() -> Schema:
        """Return what it may be."""
        return {"type": "string", **Parameters.names_schema()}


@dataclass(frozen=True, kw_only=True)
class RepeatSpec(_AnyPhase):
    """Phases that are done several times in a row.

    `step` names the number of a turn, from 0, in expressions of these phases; empty: all turns are
    alike.
    """

    times: Given
    step: Annotated[str, _Step] = ""
    phases: Annotated[tuple[PhaseSpec, ...], PHASES]
    REF: ClassVar = "repeat"

    @classmethod
    def read(cls, value: object, at: KeyPath) -> Self:
        """Return it, unless it is nested too deeply."""
        if at.path.count(".repeat") > MAX_REPEAT_DEPTH:
            raise at.error("repeats are nested too deeply", f"at most {MAX_REPEAT_DEPTH} levels")
        return shapes.declared(cls, value, at)


PhaseSpec = LeafSpec | RepeatSpec

MAX_REPEAT_DEPTH = 8
"""Repeats around a phase."""

MAX_DESCRIBED_PHASES = 1000


def leaves(phases: Iterable[PhaseSpec]) -> Iterator[LeafSpec]:
    """Yield phases in order, those that are repeated once."""
    for phase in phases:
        if isinstance(phase, RepeatSpec):
            yield from leaves(phase.phases)
        else:
            yield phase


_KINDS = {"compute": ComputeSpec, "exchange": ExchangeSpec, "repeat": RepeatSpec}

_OF_ANY = {"name": Name, "every": Given}


class Phase:
    """A phase, as it is written."""

    REF: ClassVar = "phase"

    @staticmethod
    def read(value: object, at: KeyPath) -> PhaseSpec:
        """Return a phase; without a name if none is given."""
        phase = shapes.mapping(value, at, (*_OF_ANY, *_KINDS, *DESCRIBED))
        kinds = [key for key in phase if key not in _OF_ANY]
        if len(kinds) != 1:
            given_keys = " and ".join(kinds) or "nothing"
            raise at.error(
                f"a phase is compute, exchange or a collective, not {given_keys}",
                "write '- compute: 30us'",
            )
        kind, written, below = kinds[0], phase[kinds[0]], at.key(kinds[0])
        options = {
            key: shapes.read(of, phase[key], at.key(key))
            for key, of in _OF_ANY.items()
            if key in phase
        }
        spec: PhaseSpec = (
            shapes.read(_KINDS[kind], written, below)
            if kind in _KINDS
            else CollectiveSpec.of(kind, written, below)
        )
        return replace(spec, **options)

    @staticmethod
    def schema() -> Schema:
        """Return what it may be."""
        kinds = {kind: shapes.schema(of) for kind, of in _KINDS.items()}
        kinds |= {op: CollectiveSpec.schema_of(op) for op in DESCRIBED}
        options = {key: shapes.schema(of) for key, of in _OF_ANY.items()}
        return shapes.one_of(
            *(shapes.keys_schema(options | {kind: of}, (kind,)) for kind, of in kinds.items())
        )


PHASES = Most(Phase, MAX_DESCRIBED_PHASES, "phases")
