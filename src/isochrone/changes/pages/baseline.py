"""The runs of a baseline, and their typical times, as text."""

from collections.abc import Iterator, Sequence

from isochrone.base.text import printable
from isochrone.base.units import format_seconds
from isochrone.changes.baseline import Typical
from isochrone.changes.comparability import SHARED, Group
from isochrone.changes.effects import at_size, called
from isochrone.changes.thresholds import MIN_BASELINE_RUNS
from isochrone.pages.page import Block, Row, Sentence, Table, columns_of
from isochrone.pages.words import between, left_out, plural
from isochrone.runfile.header import library_name

MAX_BASELINE_ROWS = 40


def listing(folder: str, groups: Sequence[Group]) -> Iterator[Block]:
    """List the runs."""
    if not groups:
        yield Sentence(f"{printable(folder, 200)} holds no complete run")
    for group in groups:
        yield _title(group)
        for run in group.runs:
            name = run.path.name if run.path is not None else "?"
            date = printable(run.about.started or "unknown date", 40)
            yield Sentence(f"  {date}  {printable(name, 120)}")


def typical_times(
    folder: str, groups: Sequence[tuple[Group, Sequence[Typical]]]
) -> Iterator[Block]:
    """Return typical times of levels, nodes and curves; many pairs or points are only counted."""
    if not groups:
        yield Sentence(f"{printable(folder, 200)} holds no complete run")
    columns = columns_of("", ">typical", ">next run, 95 %")
    for group, times in groups:
        yield _title(group)
        large = [typical for typical in times if typical["kind"] not in ("pair", "rank", "point")]
        chosen = large if len(large) > 1 or len(times) > MAX_BASELINE_ROWS else list(times)
        rows = tuple(_row(typical) for typical in chosen[:MAX_BASELINE_ROWS])
        yield Table("", columns, rows, left_out(len(times), len(rows), "more row"))


def _title(group: Group) -> Sentence:
    last, setting = group.runs[-1], group.settings[-1]
    about = [f"{last.experiment} on {plural(last.size, 'rank')}"]
    about += [
        f"{name}: {printable(text, 100)}"
        for name, text in (
            ("hosts", setting["hosts"]),
            ("MPI library", library_name(setting["MPI library"])),
        )
    ]
    differ = [
        name
        for name in SHARED
        if any(group_setting.get(name) != setting.get(name) for group_setting in group.settings)
    ]
    about += [f"of the latest run; earlier ones differ in {', '.join(differ)}"] * bool(differ)
    note = "" if len(group.runs) >= MIN_BASELINE_RUNS else f" (a verdict needs {MIN_BASELINE_RUNS})"
    return Sentence(f"{plural(len(group.runs), 'run')}{note}: " + "; ".join(about), "strong")


def _row(typical: Typical) -> Row:
    name = called(typical["kind"], typical["who"]) + at_size(typical["kind"], typical["bytes"])
    interval = (
        "–"
        if typical["low"] is None or typical["high"] is None
        else between(typical["low"], typical["high"])
    )
    return Row((printable(name, 120), format_seconds(typical["seconds"]), interval))
