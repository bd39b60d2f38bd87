"""Runs over time as a page: the last run, what changed and when, a picture, and the runs."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from isochrone.base.errors import InputError
from isochrone.base.text import printable
from isochrone.base.units import format_seconds
from isochrone.base.verdicts import FASTER, GOOD, SLOWER
from isochrone.changes.baseline import LATEST
from isochrone.changes.check import Earlier, check
from isochrone.changes.effects import at_size
from isochrone.changes.history import LEAST, SHORTEST, History, Series, histories
from isochrone.changes.nights import Night, Read
from isochrone.changes.pages.check import blocks
from isochrone.pages.common import date_in_words
from isochrone.pages.page import (
    Block,
    Listing,
    Page,
    Picture,
    Row,
    Section,
    Sentence,
    Table,
    columns_of,
)
from isochrone.pages.words import plural
from isochrone.views.view import Options

MAX_CHANGES = 40
MAX_ROWS = 64
MAX_DIFFERENCES = 4


def history_page(nights: Sequence[Night], read: Read) -> Page:
    """Return the history of runs.

    Raises
    ------
    InputError
        If no run is complete, or they hold no times.
    """
    found = histories(nights, read)
    if not found:
        raise InputError(
            "there is no complete run in the folder",
            hint="add runs: isochrone baseline add FOLDER RUN",
        )
    total = sum(len(one.nights) for one in found)
    partial = len(nights) - total
    several = len(found) > 1
    sections = [section for one in found for section in _sections(one, read, several=several)]
    if partial:
        text = f"left out, not complete: {plural(partial, 'run')}"
        sections.append(Section("Left out", (Sentence(text),)))
    dates = sorted(date for one in found for date in one.dates if date)
    facts = (f"{date_in_words(dates[0])} to {date_in_words(dates[-1])}",) if dates else ()
    return Page(f"History of {plural(total, 'run')}", ("history",), facts, None, tuple(sections))


def _sections(found: History, read: Read, *, several: bool) -> list[Section]:
    *earlier, last = (read(one.file) for one in found.nights[-LATEST - 1 :])
    about = f"{last.experiment} on {plural(last.size, 'rank')}"
    title = f"{about}: " if several else ""
    verdict = check(last, Earlier("the runs before it", earlier))
    picture = Picture(
        "history", f"{about}, run after run",
        "Each line is the median of a level, node or curve. Dashed lines mark changes of the "
        "times, dotted lines changes of the settings.", (last,),
        Options(histories=(found,)), alt=" ".join(_changes_as_text(found)) or "nothing changed",
    )  # fmt: skip
    return [
        Section(f"{title}Last run, compared with the runs before it", tuple(blocks(verdict))),
        Section(f"{title}What changed", (
            *_summary(found, verdict.verdict == GOOD), *map(Sentence, found.notes), picture,
        )),
        Section(f"{title}Medians", (_medians(found),)),
        Section(f"{title}Runs", (_runs(found),)),
    ]  # fmt: skip


def _summary(found: History, good: bool) -> Iterator[Block]:
    """Return the lasting changes; the last run has a verdict of its own."""
    first, runs = found.nights[0], plural(len(found.nights), "run")
    yield Sentence(f"{runs} of {first.experiment} on {plural(first.ranks, 'rank')}, {first.origin}")
    other = sum(map(bool, found.marks))
    if other:
        yield Sentence(f"{plural(other, 'run')} with other settings than the previous run")
    texts = _changes_as_text(found)
    if texts:
        items = tuple(map(Sentence, texts[:MAX_CHANGES]))
        more = f"and {len(texts) - MAX_CHANGES} more" if len(texts) > MAX_CHANGES else ""
        yield Listing("Changes of the times", items, "bad", more)
    elif len(found.nights) < 2 * SHORTEST:
        yield Sentence(f"{runs}: too few to detect a change, {2 * SHORTEST} needed")
    else:
        text = f"no lasting change of more than {100 * LEAST:.0f} %"
        yield Sentence(text, "good" if good else "")


def _changes_as_text(found: History) -> list[str]:
    """Return a sentence for each change, the earliest first, with the settings changed then."""
    changes = sorted(
        ((change.at, one, change) for one in found.series for change in one.changes),
        key=lambda item: (item[0], -abs(item[2].ratio - 1)),
    )
    texts = []
    for at, one, change in changes:
        when = date_in_words(found.dates[at]) or f"run {at + 1}"
        relative = " relative to the other nodes" if one.what.kind in ("node", "inside") else ""
        text = (
            f"{_name(one)}: {SLOWER if change.ratio > 1 else FASTER} from {when} on, "
            f"{change.ratio:.2f}x{relative}: "
            f"{format_seconds(change.before)} → {format_seconds(change.after)}"
        )
        if found.marks[at]:
            text += f"; changed at the same time: {_differences(found, at)}"
        texts.append(text)
    return texts


def _name(one: Series) -> str:
    return printable(one.name, 120) + at_size(one.what.kind, one.what.nbytes)


def _differences(found: History, at: int) -> str:
    other = found.marks[at]
    text = "; ".join(
        f"{printable(one.what, 60)}: {printable(one.there, 80)} | {printable(one.here, 80)}"
        for one in other[:MAX_DIFFERENCES]
    )
    left = len(other) - MAX_DIFFERENCES
    return text + (f"; and {left} more" if left > 0 else "")


def _medians(found: History) -> Table:
    columns = columns_of("", ">first", ">last", ">minimum", ">maximum", ">changes")
    rows = []
    for one in found.series[:MAX_ROWS]:
        known = one.seconds[~np.isnan(one.seconds)]
        times = (known[0], known[-1], known.min(), known.max())
        cells = (_name(one), *(format_seconds(float(time)) for time in times),
                 str(len(one.changes)))  # fmt: skip
        rows.append(Row(cells, "bad" if one.changes else ""))
    left = len(found.series) - len(rows)
    more = f"and {left:,} more" if left else ""
    return Table("medians over the runs", columns, tuple(rows), more, fold="Medians over the runs")


def _runs(found: History) -> Table:
    columns = columns_of("date", "file", "settings that differ from the run before")
    rows = tuple(
        Row((
            date_in_words(one.started) or "unknown",
            printable(Path(one.file).name, 80),
            _differences(found, at) if found.marks[at] else "–" if at else "",
        ), "strong" if found.marks[at] else "")
        for at, one in enumerate(found.nights)
    )  # fmt: skip
    return Table("runs", columns, rows, fold="Runs, the oldest first")
