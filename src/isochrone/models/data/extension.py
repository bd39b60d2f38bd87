"""What a subject adds to models: variables, readers of its runs, what is kept beside formulas.

Variables are a plug-in that all models know. A reader is a plug-in, named after the member of
samples or of a run's ``by`` that it is for: a run without such a member loads none.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import msgspec

from isochrone.base import registry
from isochrone.base.arrays import Array, Floats
from isochrone.runfile.run import Run

_FOLDER = "*.readers"

Points = dict[str, Floats]
"""Values by the names of variables."""


@dataclass(frozen=True)
class Variables:
    """Variables of an experiment whose runs hold messages of one size, ``bytes``, at each point.

    Either that size keeps its points apart (a selector, and formulas for each), or it is multiplied
    out, and one formula is for all sizes.

    Attributes
    ----------
    subject
        What a model with them is of, for a sentence.
    command
        Which predicts by such a model.
    kind
        Of the runs.
    words
        Meaning, and text of an axis, by the names of variables.
    counts
        Those that are whole numbers, the most important first; a model with one is of ``subject``.
    bytes, basis, filled
        Numbers of bytes, what they follow from, and what adds them to points.
    unless_known
        Values of variables where they were not recorded; only formulas with bytes have these.
    selectors
        Whole numbers that keep formulas apart, and what they count.
    with_bytes
        A column and its value at points that only formulas with bytes describe.
    costs
        What the coefficient of a term is of, and how many of its units: two messages are a pair.
    measure
        How to measure several sizes.
    """

    subject: str
    command: str
    kind: str
    words: Mapping[str, tuple[str, str]]
    counts: tuple[str, ...]
    bytes: tuple[str, ...]
    basis: tuple[str, ...]
    filled: Callable[[Points], Points]
    unless_known: Mapping[str, float]
    selectors: Mapping[str, str]
    with_bytes: tuple[str, str]
    costs: Mapping[str, tuple[str, float]]
    measure: str


@cache
def added() -> list[Variables]:
    """Return the variables of all experiments that have their own."""
    names = registry.names("*.variables")
    return [registry.load("*.variables", name).VARIABLES for name in names]


def adding(names: Iterable[str]) -> Variables | None:
    """Return what adds one of these counts."""
    return next(
        (extension for extension in added() if not set(extension.counts).isdisjoint(names)), None
    )


@dataclass(frozen=True)
class Kept:
    """What was measured and is kept in a model, under a key of its file.

    Attributes
    ----------
    struct
        Of one entry; its declaration refuses entries of a file that cannot be asked.
    found
        Returns the entries that a run and its columns hold.
    op
        Attribute of an entry: the operation whose formula it belongs to.
    merged
        Puts together the entries of several runs.
    """

    struct: type[msgspec.Struct]
    found: Callable[[Run, Mapping[str, Array]], list[Any]]
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
    columns: Callable[[Run], dict[str, Array]] | None = None
    selectors: tuple[str, ...] = ()
    others: tuple[str, ...] = ()


def readers_of(run: Run) -> list[SampleReader]:
    """Return the readers that know a run with samples."""
    members = {*run.by, *run.tables["sample"].columns}
    readers = [_reader(name) for name in registry.names(_FOLDER) if name in members]
    return [reader for reader in readers if set(reader.by) <= set(run.by)]


@cache
def kept() -> dict[str, Kept]:
    """Return all that may be kept in a model, by its key in a model file."""
    return {
        key: kind for name in registry.names(_FOLDER) for key, kind in _reader(name).kept.items()
    }


def _reader(name: str) -> SampleReader:
    reader: SampleReader = registry.load(_FOLDER, name).READER
    return reader
