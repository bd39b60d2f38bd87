"""What a subject adds to models: how its runs are read, and what is kept beside the formulas.

A reader is a plug-in, named after the member of samples or of a run's ``by`` that it is for: a run
without such a member loads none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import msgspec
from numpy.typing import NDArray

from isochrone.base import registry
from isochrone.runfile.run import Run

_FOLDER = "*.readers"


@dataclass(frozen=True)
class Kept:
    """What was measured and is kept in a model, under a key of its file.

    Attributes
    ----------
    struct
        Of one entry.
    found
        Returns the entries that a run and its columns hold.
    wrong
        Says why an entry of a file cannot be asked; empty if it can.
    op
        Attribute of an entry: the operation whose formula it belongs to.
    merged
        Puts together the entries of several runs.
    """

    struct: type[msgspec.Struct]
    found: Callable[[Run, Mapping[str, NDArray[Any]]], list[Any]]
    wrong: Callable[[Any], str]
    op: str = "op"
    merged: Callable[[Iterable[Any]], list[Any]] = list


@dataclass(frozen=True)
class SampleReader:
    """How runs with certain members are read, and what they say beside times.

    Attributes
    ----------
    kept
        What is kept of such a run, by its key in a model file.
    by
        Members that a run's ``by`` must hold.
    columns
        Returns the samples to fit; None: they are those of any run.
    selectors, others
        Columns that keep formulas apart, and that are named where they differ.
    """

    kept: Mapping[str, Kept]
    by: tuple[str, ...] = ()
    columns: Callable[[Run], dict[str, NDArray[Any]]] | None = None
    selectors: tuple[str, ...] = ()
    others: tuple[str, ...] = ()


def readers_of(run: Run) -> list[SampleReader]:
    """Return the readers that know a run with samples."""
    members = {*run.by, *run.tables["sample"].columns}
    found = [_reader(name) for name in registry.names(_FOLDER) if name in members]
    return [one for one in found if set(one.by) <= set(run.by)]


@cache
def kept() -> dict[str, Kept]:
    """Return all that may be kept in a model, by its key in a model file."""
    return {
        key: kind for name in registry.names(_FOLDER) for key, kind in _reader(name).kept.items()
    }


def _reader(name: str) -> SampleReader:
    found: SampleReader = registry.load(_FOLDER, name).READER
    return found
