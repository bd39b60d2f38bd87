"""Runs over time as a page: the last run, what changed and when, a picture, and the runs."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from isochrone.base.errors import InputError
from isochrone.base.text import printable
from isochrone.base.units import format_seconds
from isochrone.base.verdicts import FASTER, GOOD, SLOWER
from isochrone.changes.check import Earlier, check
from isochrone.changes.effects import at_size
from isochrone.changes.history import History, Series, histories
from isochrone.changes.nights import Night, Read
from isochrone.changes.pages.check import blocks
from isochrone.changes.thresholds import LATEST, MIN_HISTORY_CHANGE, MIN_SEGMENT_RUNS
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
MAX_HISTORY_ROWS = 64
MAX_DIFFERENCES = 4


def history_page(nights: Sequence[Night], read: Read) -> Page:
    """Return the history of runs.

    Raises
    ------
    InputError
        If no run is complete, or they hold no times.
    """
    all_histories = histories(nights, read)
    if not all_histories:
        raise InputError(
            "there is no complete run in the folder",
            hint="add runs: isochrone baseline add FOLDER RUN",
        )
    total = sum(len(history.nights) for history in all_histories)
    partial = len(nights) - total
    several = len(all_histories) > 1
    sections = [
        section
        for history in all_histories
        for section in _sections(history, read, several=several)
    ]
    if partial:
        text = f"left out, not complete: {plural(partial, 'run')}"
        sections.append(Section("Left out", (Sentence(text),)))
    dates = sorted(date for history in all_histories for date in history.dates if date)
    facts = (f"{date_in_words(dates[0])} to {date_in_words(dates[-1])}",) if dates else ()
    return Page(f"History of {plural(total, 'run')}", ("history",), facts, None, tuple(sections))


def _sections(history: History, read: Read, *, several: bool) -> list[Section]:
    *earlier, last = (read(night.file) for night in history.nights[-LATEST - 1 :])
    about = f"{last.experiment} on {plural(last.size, 'rank')}"
    title = f"{about}: " if several else ""
    verdict = check(last, Earlier("the runs before it", earlier))
    picture = Picture(
        "history",
        f"{about}, run after run",
        "Each line is the median of a level, node or curve. Dashed lines mark changes of the "
        "times, dotted lines changes of the settings.",
        (last,),
        Options(histories=(history,)),
        alt=" ".join(_changes_as_text(history)) or "nothing changed",
    )
    return [
        Section(f"{title}Last run, compared with the runs before it", tuple(blocks(verdict))),
        Section(
            f"{title}What changed",
            (
                *_summary(history, verdict.verdict == GOOD),
                *map(Sentence, history.notes),
                picture,
            ),
        ),
        Section(f"{title}Medians", (_medians(history),)),
        Section(f"{title}Runs", (_runs(history),)),
    ]


def _summary(history: History, good: bool) -> Iterator[Block]:
    """Return the lasting changes; the last run has a verdict of its own."""
    first, runs = history.nights[0], plural(len(history.nights), "run")
    yield Sentence(f"{runs} of {first.experiment} on {plural(first.ranks, 'rank')}, {first.origin}")
    changed_settings = sum(map(bool, history.marks))
    if changed_settings:
        yield Sentence(
            f"{plural(changed_settings, 'run')} with other settings than the previous run"
        )
    texts = _changes_as_text(history)
    if texts:
        items = tuple(map(Sentence, texts[:MAX_CHANGES]))
        omitted = f"and {len(texts) - MAX_CHANGES} more" if len(texts) > MAX_CHANGES else ""
        yield Listing("Changes of the times", items, "bad", omitted)
    elif len(history.nights) < 2 * MIN_SEGMENT_RUNS:
        yield Sentence(f"{runs}: too few to detect a change, {2 * MIN_SEGMENT_RUNS} needed")
    else:
        text = f"no lasting change of more than {100 * MIN_HISTORY_CHANGE:.0f} %"
        yield Sentence(text, "good" if good else "")


def _changes_as_text(history: History) -> list[str]:
    """Return a sentence for each change, the earliest first, with the settings changed then."""
    changes = sorted(
        ((change.at, series, change) for series in history.series for change in series.changes),
        key=lambda item: (item[0], -abs(item[2].ratio - 1)),
    )
    texts = []
    for at, series, change in changes:
        when = date_in_words(history.dates[at]) or f"run {at + 1}"
        relative = " relative to the other nodes" if series.what.kind in ("node", "inside") else ""
        text = (
            f"{_name(series)}: {SLOWER if change.ratio > 1 else FASTER} from {when} on, "
            f"{change.ratio:.2f}x{relative}: "
            f"{format_seconds(change.before)} → {format_seconds(change.after)}"
        )
        if history.marks[at]:
            text += f"; changed at the same time: {_differences(history, at)}"
        texts.append(text)
    return texts


def _name(series: Series) -> str:
    return printable(series.name, 120) + at_size(series.what.kind, series.what.nbytes)


def _differences(history: History, at: int) -> str:
    differences = history.marks[at]
    text = "; ".join(
        f"{printable(difference.what, 60)}: {printable(difference.there, 80)} | "
        f"{printable(difference.here, 80)}"
        for difference in differences[:MAX_DIFFERENCES]
    )
    left = len(differences) - MAX_DIFFERENCES
    return text + (f"; and {left} more" if left > 0 else "")


def _medians(history: History) -> Table:
    columns = columns_of("", ">first", ">last", ">minimum", ">maximum", ">changes")
    rows = []
    for series in history.series[:MAX_HISTORY_ROWS]:
        seconds = series.seconds[~np.isnan(series.seconds)]
        times = (seconds[0], seconds[-1], seconds.min(), seconds.max())
        cells = (
            _name(series),
            *(format_seconds(float(time)) for time in times),
            str(len(series.changes)),
        )
        rows.append(Row(cells, "bad" if series.changes else ""))
    left = len(history.series) - len(rows)
    omitted = f"and {left:,} more" if left else ""
    return Table(
        "medians over the runs", columns, tuple(rows), omitted, fold="Medians over the runs"
    )


def _runs(history: History) -> Table:
    columns = columns_of("date", "file", "settings that differ from the run before")
    rows = tuple(
        Row(
            (
                date_in_words(night.started) or "unknown",
                printable(Path(night.file).name, 80),
                _differences(history, at) if history.marks[at] else "–" if at else "",
            ),
            "strong" if history.marks[at] else "",
        )
        for at, night in enumerate(history.nights)
    )
    return Table("runs", columns, rows, fold="Runs, the oldest first")
