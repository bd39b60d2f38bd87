"""Time by number of ranks, at a few message sizes, of runs with different numbers of ranks."""

from collections.abc import Sequence

import numpy as np

from isochrone.base.errors import InputError
from isochrone.base.table import grouped
from isochrone.base.units import format_bytes
from isochrone.runfile.run import Run
from isochrone.sweep.curves import Curve
from isochrone.sweep.figures._sweeps import (
    Drawn,
    bars,
    chosen_scale,
    chosen_sizes,
    collect,
    facts,
    meaning,
)
from isochrone.sweep.labels import Labels, distinguish, ranks_per_node
from isochrone.views.lines import ChartText, Line, draw_lines
from isochrone.views.scales import tick_seconds
from isochrone.views.view import Figure, Options, View


def draw(runs: Sequence[Run], options: Options) -> Figure:
    """Draw a line for each thing measured and each of the sizes (a few of all if none is named).

    Raises
    ------
    InputError
        If all runs have the same number of ranks, or a size was not measured.
    """
    drawn = [(run, curve) for run, curve in collect(runs, options.ops) if curve.of_ranks]
    counts = sorted({curve.p for _, curve in drawn})
    if len(counts) < 2:
        raise InputError(
            "the view ranks needs runs with different numbers of ranks",
            hint="give several collective or bisection runs",
        )
    wanted = chosen_sizes([curve.bytes.tolist() for _, curve in drawn], options.sizes)
    if not options.sizes:  # the smallest, a middle one and the largest
        wanted = sorted({wanted[0], wanted[len(wanted) // 2], wanted[-1]})
    # Runs of more ranks may well have more of them on a node; only where the same number of ranks
    # was measured with several numbers of ranks per node, these are lines of their own.
    families = _group(drawn, by_node=False)
    if any(len({c.p for _, c in members}) < len(members) for members in families):
        families = _group(drawn, by_node=True)
    labels = distinguish([members[0] for members in families])
    lines = []
    for name, members in zip(_names(labels, families), families, strict=True):
        for size in wanted:
            of_size = format_bytes(size) if len(wanted) > 1 or not name else ""
            lines.append(_line(", ".join(t for t in (name, of_size) if t), members, size))
    common = distinguish(drawn).common
    single_size = [f"{format_bytes(wanted[0])} messages"] if len(wanted) == 1 else []
    text = ChartText(
        title="Time by number of ranks",
        facts=facts(
            runs,
            Labels([], common),
            *single_size,
            meaning(runs),
            bars(drawn, "error bars: 95 % interval of the median"),
        ),
        below="ranks",
        tick_x=lambda p: f"{p:g}",
        tick_y=tick_seconds,
        of=runs,
    )
    chosen = chosen_scale(options.scale, drawn) if options.scale else "log"
    return draw_lines([line for line in lines if len(line.x)], text, chosen)


def _group(drawn: Drawn, *, by_node: bool) -> list[Drawn]:
    """Put together the curves that differ in the number of ranks only."""
    families = grouped(
        (
            (
                run.experiment,
                str(curve.key.get("op", "")),
                str(curve.key.get("threads", "")),
                run.library.library,
                run.origin,
                *(str(run.options.get(k)) for k in ("pairing", "sync", "root")),
                ranks_per_node(run) if by_node else "",
            ),
            (run, curve),
        )
        for run, curve in drawn
    )
    return list(families.values())


def _names(labels: Labels, families: list[Drawn]) -> list[str]:
    """Take out of the labels of the families what changes along their lines."""
    names = []
    for label, members in zip(labels.each, families, strict=True):
        changing = {f"{c.p} ranks" for _, c in members} | {c.name for _, c in members}
        if len({ranks_per_node(run) for run, _ in members}) > 1:
            changing |= {ranks_per_node(run) for run, _ in members}
        keep = {str(c.key["op"]) for _, c in members if "op" in c.key}
        unchanging = [w for w in label.split(", ") if w not in changing - keep]
        names.append(", ".join(unchanging))
    return names


def _line(name: str, members: Sequence[tuple[Run, Curve]], size: int) -> Line:
    by_ranks = {}
    for _, curve in members:
        for point in curve.points:
            if point.bytes == size:
                by_ranks[curve.p] = point
    order = sorted(by_ranks)
    rows = [(p, by_ranks[p].median, by_ranks[p].low, by_ranks[p].high) for p in order]
    return Line(name, *np.array(rows, dtype=np.float64).reshape(-1, 4).T)


VIEW = View(draw, kinds=("sweep",), several=True)
