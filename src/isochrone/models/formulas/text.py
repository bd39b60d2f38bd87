"""The segments of a model as text: what each is for, and its formula."""

from collections.abc import Sequence

from isochrone.base.text import printable
from isochrone.models.data.terms import number, unit
from isochrone.models.formulas.segment import Segment

_CLASSES = {
    "power2(p)": ("p not a power of two", "p a power of two"),
    "even(p)": ("p odd", "p even"),
}


def headings(segments: Sequence[Segment]) -> list[str]:
    """Write what each segment is for: its selectors and its range."""
    texts = []
    for k, segment in enumerate(segments):
        earlier = [preceding for preceding in segments[:k] if preceding.where == segment.where]
        labels = [printable(f"{key} {value}") for key, value in segment.where.items()]
        texts.append(", ".join(labels + _bounds(segment, earlier)))
    return texts


def ranges(segments: Sequence[Segment]) -> list[str]:
    """Write the range of each segment; empty where it has none."""
    return [", ".join(_bounds(segment, segments[:k])) for k, segment in enumerate(segments)]


def _bounds(segment: Segment, earlier: Sequence[Segment]) -> list[str]:
    """Write the bounds of a segment; one that an earlier segment includes is not its own."""
    bounds = []
    for name, (low, high) in segment.range.items():
        if name in _CLASSES:
            bounds.append(_CLASSES[name][low == 1])
            continue
        others = [preceding.range[name] for preceding in earlier if name in preceding.range]
        text = name
        if low is not None:
            sign = "<" if low in [end for _, end in others] else "≤"
            text = f"{number(name, low)} {sign} {text}"
        if high is not None:
            sign = "<" if high in [start for start, _ in others] else "≤"
            text = f"{text} {sign} {number(name, high)}"
        bounds.append(text)
    return bounds


def formula(segment: Segment) -> str:
    """Write the formula with its numbers and their units: ``1.2e-06 s + 3.1e-10 s/B · b``.

    What costs nothing is left out. A line that begins at larger sizes is written from where it
    begins, if it is below zero at 0.
    """
    terms, values = list(segment.terms), list(segment.coefficients)
    factors = list(terms)
    if (
        len(terms) == 2
        and terms[0] == "1"
        and values[0] < 0 < (low := segment.fitted.get(segment.terms[1], (0.0, 0.0))[0])
    ):
        factors[1], values[0] = f"({terms[1]} - {low:g})", values[0] + values[1] * low
    summands = []
    for value, term, name in zip(values, terms, factors, strict=True):
        if value == 0 and any(values):
            continue
        sign = "-" if value < 0 else "+"
        suffix = "" if term == "1" else f" · {name}"
        summands.append(f"{sign} {abs(value):.6g} {unit(term)}{suffix}")
    return " ".join(summands).removeprefix("+ ")
