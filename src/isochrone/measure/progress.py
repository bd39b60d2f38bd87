"""Progress of long work: a bar with the current estimate on a terminal, plain lines in a log."""

import contextlib
import sys
from collections.abc import Iterator
from time import monotonic

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

from isochrone.base.units import format_seconds
from isochrone.measure.job import Progress, Report

_LINE_EVERY = 10.0
"""Seconds between two lines in a log."""


@contextlib.contextmanager
def progress_bar(title: str, *, quiet: bool) -> Iterator[Report]:
    """Show progress on standard error while the body runs.

    Yields
    ------
    callable
        To be called with each `Progress`, from any thread.
    """
    if quiet:
        yield lambda _: None
    elif sys.stderr.isatty():
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[estimate]}"),
            TimeRemainingColumn(),
        )
        with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task(title, total=None, estimate="")

            def advance(progress: Progress) -> None:
                estimate = f"now {format_seconds(progress.estimate)}"
                bar.update(task, completed=progress.done, total=progress.total, estimate=estimate)

            yield advance
    else:
        yield _Lines(title)


class _Lines:
    """Prints a line now and then."""

    def __init__(self, title: str) -> None:
        self.title = title
        self.started = self.last = monotonic()

    def __call__(self, progress: Progress) -> None:
        now = monotonic()
        if now - self.last < _LINE_EVERY or not progress.done:
            return
        self.last = now
        left = (now - self.started) * (progress.total - progress.done) / progress.done
        print(
            f"{self.title}: {progress.done} of {progress.total},"
            f" now {format_seconds(progress.estimate)}, about {format_seconds(left, 2)} left",
            file=sys.stderr,
            flush=True,
        )
