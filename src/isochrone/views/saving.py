"""A figure as a file, or as SVG for a page."""

import base64
import io
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from isochrone.base.errors import InputError
from isochrone.base.files import whole_file
from isochrone.views.view import Figure

SUFFIXES = (".png", ".svg", ".pdf")

_SETTINGS: dict[Any, Any] = {
    "svg.hashsalt": "isochrone",  # the same picture is the same file
    "svg.fonttype": "none",  # text stays text: it can be searched, selected and read aloud
    "pdf.fonttype": 42,
}


_EMBEDDED = re.compile(rb'"data:image/png;base64,\s*([^"]*)"')


def save(figure: Figure, path: str | Path) -> None:
    """Write a figure as PNG, SVG or PDF, chosen by the suffix of the file name.

    Raises
    ------
    InputError
        If the suffix is none of these, or the file cannot be written.
    """
    path = Path(path)
    kind = path.suffix.lower()
    if kind not in SUFFIXES:
        raise InputError(
            f"there is no figure format '{path.suffix}'"
            if path.suffix
            else "the file name has no suffix",
            where=path,
            hint=f"there are: {', '.join(SUFFIXES)}",
        )
    content = _written(figure, kind[1:], facecolor="white")
    with whole_file(path) as stream:
        stream.write(content)


def to_svg(figure: Figure) -> str:
    """Return a figure as an SVG document with a transparent background."""
    return _written(figure, "svg", facecolor="none").decode()


@contextmanager
def without_glyph_warnings() -> Iterator[None]:
    """Say nothing of characters the font lacks: a box in place of one in a host name is fine."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        yield


def _written(figure: Figure, kind: str, facecolor: str) -> bytes:
    """Return a figure as a file; the settings are those of this one picture and no global state."""
    from matplotlib import rc_context

    undated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind, {})
    stream = io.BytesIO()
    with rc_context(_SETTINGS), without_glyph_warnings():
        figure.savefig(stream, format=kind, metadata=undated, facecolor=facecolor)
    content = stream.getvalue()
    return _EMBEDDED.sub(_with_palette, content) if kind == "svg" else content


def _with_palette(match: re.Match[bytes]) -> bytes:
    """Write an embedded PNG again with a palette if that loses nothing; it is 8 times smaller."""
    from PIL import Image

    picture = Image.open(io.BytesIO(base64.b64decode(match[1])))
    pixels = np.asarray(picture.convert("RGBA"))
    packed = np.ascontiguousarray(pixels).view(np.uint32)[..., 0]
    colours, index = np.unique(packed, return_inverse=True)
    if len(colours) > 256:
        return match[0]
    palette = colours.view(np.uint8).reshape(-1, 4)
    small = Image.fromarray(index.reshape(packed.shape).astype(np.uint8)).convert("P")
    small.putpalette(palette[:, :3].tobytes())
    buffer = io.BytesIO()
    # To search for the best compression takes half the time of a report, and gains 2 %.
    small.save(buffer, "png", transparency=palette[:, 3].tobytes())
    return b'"data:image/png;base64,' + base64.b64encode(buffer.getvalue()) + b'"'
