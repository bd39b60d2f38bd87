"""Sweeps of other programs: the mean of a size, in µs, becomes one sample for many repetitions."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from isochrone.base.log_text import plain
from isochrone.base.table import TableBuilder
from isochrone.formats.source import MAX_RANKS, Source
from isochrone.runfile.header import kind_of
from isochrone.runfile.run import Run

_MANY_LINES = 5_000_000

Row = dict[str, str]
"""The words of a line of a table, by column."""

Sample = dict[str, Any]
"""A record of the run."""

Check = Callable[[Source, Row], None]


def lines_of(source: Source) -> Iterator[str]:
    """Yield the lines of a text file; in Latin-1 any byte is a character.

    Raises
    ------
    InputError
        If it is not text, or far longer than any table.
    """
    data = plain(source.data)
    if b"\0" in data[:4096]:
        raise source.fail("the file is not a text file")
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if len(lines) > _MANY_LINES:
        raise source.fail(f"the table has too many lines: {len(lines)}")
    yield from source.each(lines)


@dataclass
class Sweep:
    """What an importer has understood of a file.

    Attributes
    ----------
    experiment, seconds_are
        As in the header of a run file.
    ranks
        Number of ranks.
    samples
        One a row of the tables.
    options
        Of the experiment, where the file has them.
    cuts
        The pairs of a bisection.
    means
        The seconds are means, as no medians are known.
    """

    experiment: str
    seconds_are: str
    ranks: int
    samples: list[Sample]
    options: dict[str, Any] = field(default_factory=dict)
    cuts: list[Sample] = field(default_factory=list)
    means: bool = True

    def run(self, source: Source) -> Run:
        """Return it as a run."""
        if not self.samples:
            raise source.fail("the file has no measured size")
        if not 1 <= self.ranks <= MAX_RANKS:
            raise source.fail(f"the number of ranks {self.ranks} is not valid")
        sizes = sorted({sample["bytes"] for sample in self.samples})
        header = {
            "experiment": self.experiment, **kind_of(self.experiment), "ranks": self.ranks,
            "options": {"bytes": sizes, **self.options}, "seconds_are": self.seconds_are,
            "mpi": {}, "clock": {}, "imported": source.origin(),
        }  # fmt: skip
        if self.means:
            header["median_is_mean"] = True
            source.use_means()
        tables = {}
        for name, records in (("cut", self.cuts), ("sample", self.samples)):
            if records:
                builder = TableBuilder()
                builder.extend(records)
                tables[name] = builder.build()
        return Run(
            header=header, tables=tables, warnings=source.warnings, path=source.path,
            end=None if source.cut else {"complete": True},
        )  # fmt: skip


@dataclass
class Results:
    """A table of one test: its name and line, the ranks, the columns, and rows with their lines."""

    name: str
    line: int
    ranks: int | None = None
    columns: list[str] = field(default_factory=list)
    rows: list[tuple[int, Row]] = field(default_factory=list)

    def take(self, source: Source, words: list[str], check: Check) -> None:
        """Take a row that passes a check of its words by column; the last one may be cut."""
        with source.may_be_cut():
            if len(words) != len(self.columns):
                raise source.fail(f"the line has {len(words)} columns, not {len(self.columns)}")
            row = dict(zip(self.columns, words, strict=True))
            check(source, row)
            self.rows.append((source.line, row))


T = TypeVar("T", bound=Results)


def samples_of(
    source: Source, tables: Sequence[T], make: Callable[[T, Row], Sample]
) -> list[Sample]:
    """Return the samples of all tables; the same test again is another repetition."""
    samples = []
    seen: dict[tuple[str, int | None], int] = {}
    for table in tables:
        test = (table.name, table.ranks)
        repeat = seen[test] = seen.get(test, -1) + 1
        sizes = set()
        for source.line, row in table.rows:
            sample = {**make(table, row), "repeat": repeat}
            if sample["bytes"] in sizes:
                raise source.fail(f"the table has two lines for {sample['bytes']} bytes")
            sizes.add(sample["bytes"])
            samples.append(sample)
    source.line = 0
    return samples
