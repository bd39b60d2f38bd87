"""What the views of a model share: the model itself, and the points it is compared with."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from isochrone import models
from isochrone.base.errors import InputError
from isochrone.base.text import printable
from isochrone.base.units import format_bytes
from isochrone.models import Model, Observations, Samples
from isochrone.models.data.extension import added
from isochrone.models.data.load import joined, samples_of
from isochrone.models.data.observations import applicable
from isochrone.models.data.sizes import arranged
from isochrone.models.data.terms import BYTES, NUMBERED
from isochrone.runfile.origin import with_noun
from isochrone.runfile.run import Run
from isochrone.views.head import head_height, head_lines, write_head
from isochrone.views.saving import without_glyph_warnings
from isochrone.views.view import Figure

Array = NDArray[np.float64]
Drawn = Run | Samples | Path
"""What the views of a model draw: runs, samples, or paths of CSV files."""

MAX_CURVE_PANELS = 6

WORDS = {
    "b": "message size",
    "p": "ranks",
    "nodes": "nodes",
    "ppn": "ranks on each node",
    "w": "messages in a window",
    "entries": "entries in the queue",
    "n": "operations",
    "op": "operation",
    "bytes": "message size",
    **{name: labels[1] for extension in added() for name, labels in extension.words.items()},
}


def resolve(
    runs: Sequence[Drawn], model: str | Path | Model, ops: Sequence[str] = ()
) -> tuple[Model, list[Observations], str]:
    """Return the model, read or fitted, the points of the runs that it is for, and their origin.

    ``model`` is the path of a model file, the name of a family, ``auto``, or a model.

    Raises
    ------
    InputError
        If the runs hold no samples, or nothing the model is for.
    """
    data = measured(runs)
    by_op = [data.only(op=op) for op in ops] or [data]
    data = by_op[0] if len(by_op) == 1 else joined(by_op)
    if not isinstance(model, Model):
        path = Path(model)
        is_file = path.suffix == ".json" or path.is_file()
        model = models.read(path) if is_file else models.fit(data, str(model))
    points = arranged(data, model.variables).observations()
    groups = list(applicable(model.selectors, points))
    if not groups:
        raise InputError("the model does not apply to anything measured in these runs")
    return model, groups, data.origin


def measured(runs: Sequence[Drawn]) -> Samples:
    """Return the samples of all runs and tables.

    Raises
    ------
    InputError
        If there is no run, or they do not belong together.
    """
    if not runs:
        raise InputError("no run is given", hint="give at least one run file")
    return joined([samples_of(run) for run in runs])


def head(figure: Figure, title: str, notes: Sequence[str], *, places: bool = False) -> None:
    """Write the title, what is drawn below it, and lay out the panels under both.

    The notes go on as many lines as they need; a long one begins a line of its own. Where panels
    have their ``places`` already, they stay there.
    """
    lines = head_lines(notes, 0.96 * figure.get_figwidth())
    write_head(figure, 0.02, title, lines)
    if not places:
        top = head_height(len(lines)) / figure.get_figheight()
        with without_glyph_warnings():
            figure.tight_layout(rect=(0, 0, 1, 1 - top))


def origin_notes(model: Model, origin: str) -> list[str]:
    """Say what the formula was fitted to where that is not what is drawn."""
    if model.origin in ("", origin):
        return []
    return [f"the formula is of {with_noun(printable(model.origin, 60))}"]


def name_of(model: Model) -> str:
    """Name the family for a title."""
    return f"the {model.family} model" if model.family != "several" else "models of each operation"


def title_of(points: Observations) -> str:
    """Name what the points are of."""
    texts = [
        format_bytes(int(value)) if key == "bytes" else str(value)
        for key, value in points.where.items()
        if key not in NUMBERED or value != 1
    ]
    return printable(" · ".join(texts), 60)


def value_text(name: str, value: float) -> str:
    """Write the value of a variable for a legend, which explains all but sizes."""
    if name == "b":
        return format_bytes(int(value))
    if name in BYTES:
        return f"{format_bytes(int(value))} {WORDS[name].removeprefix('bytes ')}"
    return f"{name} = {value:g}"
