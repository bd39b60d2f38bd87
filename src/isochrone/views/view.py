"""What a figure declares, and what it may be asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Axes
    from matplotlib.figure import Figure as Figure
else:  # what figures are made of is imported only when one is drawn
    Axes = Figure = object

TABLE = "table"
"""The kind of what is no run: a CSV, or samples that were read from a data frame."""

ORDERS = "orders"
"""The kind of another: orders of nodes that were compared."""


@dataclass(frozen=True)
class Options:
    """What a person may ask of a figure; each figure heeds those that mean something to it.

    Attributes
    ----------
    what
        Maps: ``median``, ``mean`` or ``stddev`` of the round trips.
    sizes
        Message sizes in bytes; empty: the smallest one, or a few of all.
    scale
        Sweeps: ``log`` or ``linear`` axes; None: what suits the sizes.
    ops
        Sweeps: these operations only; empty: all.
    model
        A model, the path of one, or the name of a family to fit.
    models
        Emulations: models to predict by; none: nothing is predicted.
    across
        Models: the variable on the horizontal axis; empty: that with most values.
    sort
        Maps: order of the ranks, ``rank``, ``node``, ``level`` or ``cost``.
    hosts
        Maps: only ranks of these hosts; empty: all ranks, or of more than 8,192 the nodes.
    cells
        Maps: most cells a side; of more ranks, a cell is the largest of a block.
    analysis
        Maps: the analysis of this size, if it was made already; it takes seconds for a thousand
        ranks.
    histories
        Histories: those of these runs, if they were made already; likewise.
    comparison
        Ratios: the comparison of the runs, if it was made already.
    """

    what: str = "median"
    sizes: tuple[int, ...] = ()
    scale: str | None = None
    ops: tuple[str, ...] = ()
    model: Any = "auto"
    models: tuple[Any, ...] = ()
    across: str = ""
    sort: str = "rank"
    hosts: tuple[str, ...] = ()
    cells: int = 2048
    analysis: Any = None
    histories: tuple[Any, ...] = field(default=(), compare=False)
    comparison: Any = field(default=None, compare=False)

    @property
    def size(self) -> int | None:
        """The message size of a figure that draws one; None: the smallest one measured."""
        return self.sizes[0] if self.sizes else None


@dataclass(frozen=True)
class View:
    """One figure.

    Attributes
    ----------
    draw
        Draws runs, and tables if that is one of its kinds; ``InputError`` if they cannot be drawn
        so.
    kinds
        Kinds of results it draws; ``table`` for samples and paths of CSV files.
    usual
        Kinds whose usual figure it is.
    several
        Whether it draws several runs in one picture.
    predicts
        Whether it draws what several models predict, next to what was measured.
    """

    draw: Callable[[Sequence[Any], Options], Figure]
    kinds: tuple[str, ...]
    usual: tuple[str, ...] = ()
    several: bool = False
    predicts: bool = False
