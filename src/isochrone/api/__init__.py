"""What Isochrone is from Python: read, analyse, compare, fit, plot; each on files, runs or both.

Everything here is also in ``isochrone`` itself, where it is loaded when it is first used.
"""

from __future__ import annotations

import copy
import io
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from isochrone import models, views
from isochrone.api.run_experiment import measure
from isochrone.base.arrays import Floats
from isochrone.base.errors import InputError
from isochrone.base.record import Members
from isochrone.changes import compare as comparison
from isochrone.changes.compare import Comparison
from isochrone.formats.comparison_sides import runs_of
from isochrone.latency_map import topology
from isochrone.latency_map.thresholds import MIN_SLOWDOWN
from isochrone.models import Model, Splits
from isochrone.models.data.load import Measured
from isochrone.models.formulas.family import Family
from isochrone.pages import terminal
from isochrone.pages.common import document, page_of
from isochrone.pages.page import Asked
from isochrone.runfile.any_file import foreign, read
from isochrone.runfile.file_type import looks_like_a_table
from isochrone.runfile.run import Run
from isochrone.views.view import Axes, Figure

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = [
    "Analysis",
    "Source",
    "analyse",
    "compare",
    "fit",
    "measure",
    "plot",
    "read",
]

Source = Run | str | Path
"""A run, or the path of a file that holds one."""


@dataclass(frozen=True)
class Analysis:
    """What a run says: as ``isochrone show`` prints it, and as its ``--json`` document.

    Attributes
    ----------
    run
        The run.
    asked
        Which message size, and from which part of the time on something is slow.
    """

    run: Run
    asked: Asked

    @cached_property
    def _document(self) -> Members:
        return document(self.run, self.asked)

    def to_json(self) -> Members:
        """Return the document; its schema is ``isochrone show --schema``."""
        return copy.deepcopy(self._document)

    def estimates(self, i: ArrayLike, j: ArrayLike) -> tuple[Floats, Floats]:
        """Return the round trips of pairs of ranks by the levels and slow components of a map.

        Parameters
        ----------
        i, j
            Rank numbers: of the same shape, or one for several.

        Returns
        -------
        seconds, half
            Estimates, and half of their 95 % intervals; NaN where nothing alike was measured.
        """
        analysis = topology.analyse(self.run, self.asked.nbytes)
        return analysis.estimator.of(*np.broadcast_arrays(np.atleast_1d(i), j))

    def to_pandas(self, name: str | None = None) -> DataFrame:
        """Return the records of the run as a data frame: `isochrone.Run.to_pandas`."""
        return self.run.to_pandas(name)

    def plot(self, view: str | None = None, **options: Any) -> Figure:
        """Plot the run: `isochrone.plot`, with its options."""
        return plot(self.run, view, **options)

    def __getitem__(self, key: str) -> Any:
        """Return a member of the document: ``analysis["levels"]``."""
        return copy.deepcopy(self._document[key])

    def __str__(self) -> str:
        text = io.StringIO()
        terminal.render(page_of(self.run, self.asked), terminal.console(text))
        return text.getvalue().rstrip()

    def __repr__(self) -> str:
        return f"<Analysis of {self.run!r}>"

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"


def analyse(run: Source, *, bytes: int | None = None, threshold: float = MIN_SLOWDOWN) -> Analysis:
    """Analyse a run: levels and slow components of a latency map, curves of a sweep, and so on.

    ``print`` shows the result as ``isochrone show`` does. ``result["levels"]`` is a part of its
    JSON document.

    Parameters
    ----------
    run
        A run, or the path of a run file or of the output of another program.
    bytes
        Message size; if None, the default of ``isochrone show``.
    threshold
        Smallest slowdown that is called slow, as a fraction.

    Raises
    ------
    InputError
        If the file cannot be read, or nothing was measured with this size.
    """
    analysis = Analysis(run if isinstance(run, Run) else read(run), Asked(bytes, threshold))
    analysis.to_json()  # what is wrong is said here, not when it is printed
    return analysis


def compare(
    before: Source | Iterable[Source],
    after: Source | Iterable[Source],
    *,
    margin: float | None = None,
    one_launch: bool = False,
) -> Comparison:
    """Compare two measurements, and return what is slower, faster, the same or not known.

    Parameters
    ----------
    before, after
        A run, a path, or a list of several launches. A path may be a folder of run files, or
        ``run.jsonl`` for ``run-1.jsonl``, ``run-2.jsonl`` …
    margin
        Times that differ by less than this fraction are the same. The default is 0.05, and 0 for
        simulated times.
    one_launch
        With one launch on a side, give verdicts although it is unknown how much launches differ.

    Raises
    ------
    InputError
        If a file cannot be read, or the two measurements are not comparable.
    """
    return comparison.compare(_runs(before), _runs(after), margin=margin, as_they_are=one_launch)


def fit(
    measured: Measured,
    name: str | Family = "auto",
    *,
    splits: Splits | None = None,
    weights: str = "relative",
    robust: bool = False,
) -> Model:
    """Fit formulas to measured times, and return the model.

    Parameters
    ----------
    measured
        A run, a table, or a path, also of output of other programs; or a list of several. A table
        is a data frame, a dict of columns, or a list of rows.
    name
        Name of a family, ``"auto"`` to compare all, or a family of your own.
    splits
        Given breakpoints, or variables along which to search; if None, the family decides.
    weights
        ``"relative"`` or ``"absolute"``: which errors are minimised.
    robust
        Whether outliers get less weight.

    Raises
    ------
    InputError
        If a file cannot be read, or no formula can be fitted.
    """
    if isinstance(measured, list | tuple) and all(isinstance(m, str | Path) for m in measured):
        measured = [_readable(item) for item in measured]
    elif isinstance(measured, str | Path):
        measured = _readable(measured)
    return models.fit(measured, name, splits=splits, weights=weights, robust=robust)


def plot(
    what: Source | Iterable[Source],
    view: str | None = None,
    output: str | Path | None = None,
    *,
    ax: Axes | None = None,
    **options: Any,
) -> Figure:
    """Plot runs or a table of times, and return the figure of matplotlib.

    Parameters
    ----------
    what
        Runs or paths, also of a CSV table of times.
    view
        As ``isochrone plot --view``; if None, the default for this kind of run.
    output
        File to write: ``.png``, ``.svg`` or ``.pdf``. An existing file is overwritten.
    ax
        Axes of a figure of yours, in whose place it is plotted; that figure is returned.
    options
        Options of the figure, such as ``what="mean"``, ``sizes=(8, 1024)``, ``scale="log"``,
        ``model=…``; all are in `isochrone.views.view.Options`.

    Raises
    ------
    InputError
        If a file cannot be read, or the view does not exist or cannot plot this.
    """
    sources = [what] if isinstance(what, Run | str | Path) else list(what)
    drawn = [item if isinstance(item, Run) else _drawable(Path(item)) for item in sources]
    if not drawn:
        raise InputError("no runs or models were given to draw")
    first = drawn[0]
    name = view or views.usual(first.kind if isinstance(first, Run) else views.TABLE)
    try:
        figure_options = views.Options(**options)
    except TypeError as error:
        raise InputError(f"unknown option of a figure: {error}") from error
    figure = views.draw(name, drawn, figure_options, ax)
    if output is not None:
        views.save(figure, Path(output))
    return figure


def _runs(sources: Source | Iterable[Source]) -> list[Run]:
    """Return all launches; folders and numbered files are what the command line takes them for."""
    listed = [sources] if isinstance(sources, Run | str | Path) else list(sources)
    runs = [
        run
        for source in listed
        for run in ([source] if isinstance(source, Run) else runs_of(str(source)))
    ]
    if not runs:
        raise InputError("no runs were given to compare")
    return runs


def _readable(item: str | Path) -> Run | str | Path:
    """Return a run in place of a file that only `isochrone.formats` can read."""
    return read(item) if foreign(Path(item)) else item


def _drawable(path: Path) -> Run | Path:
    return path if looks_like_a_table(path) else read(path)
