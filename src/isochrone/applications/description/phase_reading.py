"""Phases of a description: computation, collective operations, exchanges."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final, cast

from isochrone.applications.description import fields, topology
from isochrone.applications.description.description import (
    CollectiveSpec,
    ComputeSpec,
    ExchangeSpec,
    Given,
    Imbalance,
    PhaseSpec,
    Spread,
    TopologySpec,
)
from isochrone.applications.description.distributions import KINDS
from isochrone.applications.description.fields import Fields
from isochrone.applications.description.key_path import KeyPath
from isochrone.applications.description.program import METHODS, MODES, Method, Mode
from isochrone.base.errors import InputError
from isochrone.collectives import grid_collectives
from isochrone.collectives.grid_collectives import ROOTED

__all__ = [
    "COLLECTIVES", "EXCHANGE", "FLOWS", "REDUCING", "STARTERS", "phases", "spread",
]  # fmt: skip

COLLECTIVES: Final = (
    "barrier", "bcast", "reduce", "allreduce", "gather", "scatter", "allgather", "alltoall",
    "reduce_scatter_block", "scan",
)  # fmt: skip
"""As ``measure collective`` has them."""

REDUCING: Final = ("reduce", "allreduce", "reduce_scatter_block", "scan")
"""Those that add doubles."""

FLOWS: Final = ("request", "farm", "token", "stream", "exchange")

STARTERS: Final = ("inside", "outside")

EXCHANGE: Final = (
    "topology", "flow", "bytes", "reply", "compute", "tasks", "method", "starter",
)  # fmt: skip

_KINDS: Final = ("compute", "exchange", *COLLECTIVES)


def phases(written: Sequence[Any], at: KeyPath) -> tuple[PhaseSpec, ...]:
    """Return the phases of an application; names that are not given are their keys, made unique.

    Raises
    ------
    InputError
        With the path of what is wrong.
    """
    kinds = [_kind(phase, at.item(k)) for k, phase in enumerate(written)]
    taken: dict[str, int] = {}
    for k, phase in enumerate(written):
        if "name" in phase:
            name = fields.name(phase["name"], at.item(k).key("name"))
            if name in taken:
                raise at.item(k).key("name").error(f"'{name}' is the name of phases[{taken[name]}]")
            taken[name] = k
    found: list[PhaseSpec] = []
    for k, (phase, kind) in enumerate(zip(written, kinds, strict=True)):
        name = phase["name"] if "name" in phase else _unique(kind, taken)
        taken[name] = k
        found.append(_phase(kind, name, phase[kind], at.item(k).key(kind)))
    return tuple(found)


def _unique(kind: str, taken: dict[str, int]) -> str:
    """Return a name that is not taken: ``compute``, ``compute-2`` and so on."""
    name, number = kind, 1
    while name in taken:
        number += 1
        name = f"{kind}-{number}"
    return name


def _kind(phase: Any, at: KeyPath) -> str:
    """Return which of its keys says what a phase is."""
    keys = Fields(phase, at, ("name", *_KINDS)).value
    kinds = [key for key in keys if key != "name"]
    if len(kinds) != 1:
        found = " and ".join(kinds) or "nothing"
        raise at.error(
            f"a phase is one of compute, exchange and the collectives, not {found}",
            "write '- compute: 30us'",
        )
    return kinds[0]


def _phase(kind: str, name: str, value: Any, at: KeyPath) -> PhaseSpec:
    if kind == "compute":
        return _compute(name, value, at)
    if kind == "exchange":
        return _exchange(name, value, at)
    return _collective(name, kind, value, at)


def spread(value: Any, at: KeyPath) -> Spread:
    """Return a value or a distribution."""
    if fields.is_scalar(value):
        return Spread("constant", {"value": Given(value, at)}, at)
    known = (*KINDS, "empirical")
    keys = Fields(value, at, known).value
    if len(keys) != 1:
        raise at.error(f"one distribution is expected, not {len(keys)}", f"of {', '.join(known)}")
    ((kind, written),) = keys.items()
    at = at.key(kind)
    if kind == "empirical":
        return Spread(kind, {}, at, _weighted(written, at))
    if kind == "constant" and fields.is_scalar(written):
        return Spread(kind, {"value": Given(written, at)}, at)
    choices = KINDS[kind]
    given = Fields(written, at, sorted({key for choice in choices for key in choice}))
    if set(given.value) not in [set(choice) for choice in choices]:
        needed = " or ".join(" and ".join(choice) for choice in choices)
        raise at.error(f"a {kind} distribution has {needed}")
    return Spread(kind, {key: given.given(key, 0) for key in given.value}, at)


def _weighted(written: Any, at: KeyPath) -> tuple[tuple[Given, Given], ...]:
    """Return values with their weights."""
    if isinstance(written, dict) and written:
        return tuple(
            (Given(value, at.key(value)), fields.given(weight, at.key(value)))
            for value, weight in written.items()
        )
    if isinstance(written, dict):
        raise at.error("a distribution of no values")
    one = Given(1, at)
    values = fields.listed(written, at)
    return tuple((fields.given(value, at.item(k)), one) for k, value in enumerate(values))


def _compute(name: str, value: Any, at: KeyPath) -> ComputeSpec:
    """Return a computation: a time, or a mapping with one."""
    if fields.is_scalar(value):
        return ComputeSpec(name, spread(value, at), "cpu", None, at)
    given = Fields(value, at, ("time", "mode", "imbalance"), ("time",))
    mode = cast(Mode, given.word("mode", MODES, "cpu"))
    imbalance = None
    if "imbalance" in given:
        imbalance = _imbalance(given.get("imbalance"), given.at("imbalance"))
    return ComputeSpec(name, spread(given.get("time"), given.at("time")), mode, imbalance, at)


def _imbalance(value: Any, at: KeyPath) -> Imbalance:
    """Return how ranks differ: a factor of the last, a distribution, or factors of some."""
    if fields.is_scalar(value):
        return Imbalance(last=Given(value, at))
    if not isinstance(value, dict) or not value:
        raise at.error("a factor, a distribution, or factors by rank are expected")
    if any(re.fullmatch("[0-9]+", key) for key in value):
        for key in value:
            if not re.fullmatch("[0-9]+", key):
                raise at.key(key).error("not a rank", "ranks are numbers from 0")
        ranks = tuple(
            (Given(rank, at.key(rank)), fields.given(factor, at.key(rank)))
            for rank, factor in value.items()
        )
        return Imbalance(ranks=ranks)
    return Imbalance(each=spread(value, at))


def _collective(name: str, op: str, value: Any, at: KeyPath) -> CollectiveSpec:
    """Return a collective operation."""
    known = [] if op == "barrier" else ["bytes"]
    known += ["root"] if op in ROOTED else []
    known += ["grid"] if op in grid_collectives.OPERATIONS else []
    known += ["among"]
    needed = [] if op == "barrier" else ["bytes"]
    given = Fields({} if value is None and op == "barrier" else value, at, known, needed)
    grid = given.get("grid", "")
    if "grid" in given:
        if not isinstance(grid, str):
            raise given.at("grid").error("a grid is a text", "write 4x4, rows-of-8 or nodes")
        try:
            grid_collectives.Grid.parse(grid)
        except InputError as error:
            raise given.at("grid").error(error.what, error.hint) from None
    size = spread(given.get("bytes"), given.at("bytes")) if "bytes" in given else None
    among = _among(given.get("among"), given.at("among")) if "among" in given else ()
    return CollectiveSpec(name, op, size, given.given("root", 0), grid, at, among)


def _among(value: Any, at: KeyPath) -> tuple[tuple[Given, ...], ...]:
    """Return lists of ranks."""
    return tuple(
        tuple(fields.given(r, at.item(k).item(j))
              for j, r in enumerate(fields.listed(part, at.item(k))))
        for k, part in enumerate(fields.listed(value, at))
    )  # fmt: skip


def _exchange(name: str, value: Any, at: KeyPath) -> ExchangeSpec:
    """Return an exchange over a topology."""
    given = Fields(value, at, EXCHANGE, ("topology",))

    def size(key: str) -> Spread | None:
        return spread(given.get(key), given.at(key)) if key in given else None

    compute = None
    if "compute" in given:
        compute = _compute(name, given.get("compute"), given.at("compute"))
    method, path = _method(given.get("method", "message"), given.at("method"))
    outside, targets = _starter(given.get("starter", "inside"), given.at("starter"))
    return ExchangeSpec(
        name=name,
        topology=_topology(given.get("topology"), given.at("topology")),
        flow=given.word("flow", FLOWS, "") if "flow" in given else "",
        bytes=size("bytes"),
        reply=size("reply"),
        compute=compute,
        tasks=given.given("tasks", 0) if "tasks" in given else None,
        method=method,
        path=path,
        outside=outside,
        targets=targets,
        at=at,
    )


def _method(value: Any, at: KeyPath) -> tuple[Method, str]:
    """Return how data move, and the path of a file."""
    in_files = [method for method in METHODS if method.endswith("-file")]
    if isinstance(value, dict):
        given = Fields(value, at, in_files)
        if len(given.value) != 1:
            raise at.error("one method is expected")
        ((method, path),) = given.value.items()
        if not isinstance(path, str) or not path.strip() or not path.isprintable():
            raise given.at(method).error("a path of a file is expected")
        return cast(Method, method), path.strip()
    method = fields.word(value, at, METHODS)
    if method in in_files:
        raise at.error(f"the method {method} without a path", f"write {{{method}: PATH}}")
    return cast(Method, method), ""


def _starter(value: Any, at: KeyPath) -> tuple[bool, tuple[Given, ...]]:
    """Return whether a rank of its own begins, and whom it sends to if that is given."""
    if isinstance(value, dict):
        given = Fields(value, at, ("outside",), ("outside",))
        place = given.at("outside")
        targets = fields.listed(given.get("outside"), place)
        return True, tuple(fields.given(t, place.item(k)) for k, t in enumerate(targets))
    return fields.word(value, at, STARTERS) == "outside", ()


def _topology(value: Any, at: KeyPath) -> TopologySpec:
    """Return a topology by name, or one with options."""
    names = topology.names()
    options: Any
    if isinstance(value, str):
        name, options, place = fields.word(value, at, names), {}, at
    else:
        given = Fields(value, at, names)
        if len(given.value) != 1:
            raise at.error("one topology is expected")
        ((name, options),) = given.value.items()
        place = given.at(name)
    kind = topology.load(name)
    short = ""
    if kind.short and not isinstance(options, dict):
        short, options = kind.short, {kind.short: options}
    if options is None:
        options = {}
    known = [*kind.options, *(options if kind.more and isinstance(options, dict) else ())]
    for key, option in Fields(options, place, known, kind.needed).value.items():
        written = place if key == short else place.key(key)
        topology.check_option(option, kind.options.get(key, "number-or-boolean"), written)
    return TopologySpec(name, options, place, short)
