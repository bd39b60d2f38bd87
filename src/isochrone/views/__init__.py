"""Views: how a result looks. ONE FILE in `figures` = ONE FIGURE.

The only folder that imports a plotting library. A figure is a module that ends in ``VIEW``, a
`isochrone.views.view.View`; the first line of its docstring is its help. Importing one does not
import matplotlib, drawing does.
"""

from collections.abc import Sequence
from typing import cast

from isochrone.base import registry
from isochrone.base.errors import InputError
from isochrone.views.panel import in_place_of, scale_texts
from isochrone.views.saving import SUFFIXES, save, to_svg
from isochrone.views.view import ORDERS, TABLE, Axes, Figure, Options, View

__all__ = ["SUFFIXES", "TABLE", "Options", "View", "draw", "fitting", "save", "to_svg", "usual"]

FAMILY = "*.figures"


def draw(
    name: str,
    runs: Sequence[object],
    options: Options | None = None,
    axes: Axes | None = None,
) -> Figure:
    """Draw a figure of one or several runs, or of tables: samples, or paths of CSV files.

    Or of orders of nodes that were compared. With ``axes``, it is drawn in their place, and the
    figure that they belong to is returned.

    Raises
    ------
    InputError
        If there is no such figure, it draws one run and there are several, or the runs cannot be
        drawn so.
    """
    options = options or Options()
    view: View = registry.load(FAMILY, name).VIEW
    if not runs and options.comparison is None:
        raise InputError("no run is given", hint="give at least one run file")
    kinds = (str(getattr(run, "kind", TABLE)) for run in runs)
    kind = next((run_kind for run_kind in kinds if run_kind not in view.kinds), None)
    if kind in (TABLE, ORDERS) or (ORDERS in view.kinds and kind is not None):
        others = ", ".join(fitting(kind))
        called = {TABLE: "tables", ORDERS: "orders"}.get(kind, f"runs of {kind}")
        raise InputError(f"the view {name} does not plot {called}", hint=f"views that do: {others}")
    if not view.several and len(runs) > 1:
        raise InputError(f"the view {name} plots a single run, not {len(runs)}")
    if not view.several and len(options.sizes) > 1:
        raise InputError(f"the view {name} plots a single message size, not {len(options.sizes)}")
    if axes is None:
        return view.draw(runs, options)
    with in_place_of(axes):
        scale_texts(view.draw(runs, options))
    return cast("Figure", axes.figure)


def usual(kind: str) -> str:
    """Name the figure that a kind of result is usually drawn as; that of a map if none is."""
    views = {name: registry.load(FAMILY, name).VIEW for name in registry.names(FAMILY)}
    return next((name for name, view in views.items() if kind in view.usual), "heatmap")


def fitting(kind: str) -> list[str]:
    """Name all figures that draw a kind of result."""
    names = registry.names(FAMILY)
    return [name for name in names if kind in registry.load(FAMILY, name).VIEW.kinds]
