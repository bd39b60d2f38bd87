"""Sweeps of other programs: the mean of a size, in µs, becomes one sample for many repetitions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from isochrone.base.errors import InputError
from isochrone.base.log_text import plain
from isochrone.base.record import Members
from isochrone.base.text import listed
from isochrone.base.units import MAX_SECONDS
from isochrone.formats.imported_recording import tables_of
from isochrone.formats.source import MAX_FILE_RANKS, Source
from isochrone.runfile.header import kind_of
from isochrone.runfile.records import MAX_RATE
from isochrone.runfile.run import Run

_MANY_LINES = 5_000_000

_LISTED_LINES = 5
"""Lines that a warning names."""

Row = dict[str, str]
"""The words of a line of a table, by column."""

Sample = Members
"""A record of the run."""

PAIR: Sample = {"i": 0, "j": 1}
"""The ranks of a test of two."""


def halves(pairs: int) -> list[Sample]:
    """Return the pairs of rank k and rank k + pairs."""
    return [{"i": k, "j": k + pairs} for k in range(pairs)]


def cells(source: Source, row: Row, **columns: str) -> Sample:
    """Read cells of a row as members of a sample, from the columns that the table has.

    ``bytes`` and ``n`` are whole numbers, the others are in µs.

    Raises
    ------
    InputError
        If a cell holds something else.
    """
    return {
        member: (source.whole if member in ("bytes", "n") else source.micro)(row[column], column)
        for member, column in columns.items()
        if column in row
    }


def rated(source: Source, size: int, rate: float, messages: int = 1) -> Sample:
    """Return size, seconds and rate of ``messages`` at a time with so many bytes per second.

    Raises
    ------
    InputError
        If that is impossible.
    """
    if not size or not 0 < rate <= MAX_RATE or messages * size / rate > MAX_SECONDS:
        raise source.fail("the bandwidth is not possible")
    return {"bytes": size, "seconds": messages * size / rate, "rate": rate}


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
    """What was measured in a table, or in several of one kind.

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
    header
        More members of the header.
    hosts
        The host of each rank, if known.
    """

    experiment: str
    seconds_are: str
    ranks: int
    samples: list[Sample]
    options: Members = field(default_factory=dict)
    cuts: list[Sample] = field(default_factory=list)
    means: bool = True
    header: Members = field(default_factory=dict)
    hosts: dict[int, str] = field(default_factory=dict)

    @property
    def kind(self) -> str:
        """All that the tables of one run have in common."""
        same = replace(self, ranks=0, samples=[])
        return repr(same)

    @property
    def curves(self) -> frozenset[tuple[str, int]]:
        """The operations and numbers of ranks in it."""
        return frozenset((str(one.get("op", "")), int(one.get("p", 0))) for one in self.samples)

    def run(self, source: Source, *, complete: bool = True) -> Run:
        """Return it as a run."""
        if not self.samples:
            raise source.fail("the file has no measured size")
        if not 1 <= self.ranks <= MAX_FILE_RANKS:
            raise source.fail(f"the number of ranks {self.ranks} is not valid")
        sizes = sorted({sample["bytes"] for sample in self.samples})
        header = {
            "experiment": self.experiment,
            **kind_of(self.experiment),
            "ranks": self.ranks,
            "options": {"bytes": sizes, **self.options},
            "seconds_are": self.seconds_are,
            "mpi": {},
            "clock": {},
            "imported": source.origin(),
            **self.header,
        }
        if self.means:
            header["median_is_mean"] = True
            source.use_means()
        return Run(
            header=header,
            tables=tables_of({"cut": self.cuts, "sample": self.samples}),
            warnings=source.warnings,
            path=source.path,
            end={"complete": True} if complete else None,
            ranks=source.ranks(self.hosts) if len(self.hosts) == self.ranks else [],
        )


@dataclass
class Results:
    """A table of a test.

    Attributes
    ----------
    test
        Name of the test, as `--test` takes it.
    line
        Where it begins.
    ranks
        Number of ranks, if the file contains it.
    columns, rows
        Names of the columns, and the words of each row with its line.
    invalid
        Lines of rows in which the benchmark found wrong data.
    faults
        Why lines were not understood.
    cut
        Why the last line of the file, in this table, is truncated; empty if it is not.
    command
        That started the benchmark, if the file contains it.
    """

    test: str
    line: int
    ranks: int | None = None
    columns: list[str] = field(default_factory=list)
    rows: list[tuple[int, Row]] = field(default_factory=list)
    invalid: list[int] = field(default_factory=list)
    faults: list[tuple[int, InputError]] = field(default_factory=list)
    cut: str = ""
    command: str = ""

    def take(self, source: Source, cells: Sequence[str], *, valid: bool = True) -> None:
        """Take a row; ``valid`` is whether the benchmark found right data in the messages."""
        if len(cells) != len(self.columns):
            count = len(self.columns)
            error = source.fail(f"the line has {len(cells)} columns, not {count}")
            self.faults.append((source.line, error))
        elif not valid:
            self.invalid.append(source.line)
        else:
            self.rows.append((source.line, dict(zip(self.columns, cells, strict=True))))

    def samples(
        self, source: Source, make: Callable[[Row], Sample], *, repeats: bool = False
    ) -> list[Sample]:
        """Return the samples that ``make`` makes of the rows, and note the others.

        With ``repeats``, several rows of one size are repetitions.

        Raises
        ------
        InputError
            If there are none, or two of one size in a row without ``repeats``.
        """
        made: list[Sample] = []
        again: Counter[tuple[str, int]] = Counter()
        last_line = 0
        for number, (source.line, row) in enumerate(self.rows):
            try:
                sample = make(row)
            except InputError as error:
                self.faults.append((source.line, error))
                continue
            point = str(sample.get("op")), sample["bytes"]
            if again[point] and not repeats:
                repeated = source.fail(f"the table has two lines for {point[1]} bytes")
                if source.line == last_line + 1:
                    raise repeated
                # after other text: a table whose title is not understood
                self.faults += [(line, repeated) for line, _ in self.rows[number:]]
                break
            made.append({**sample, "repeat": again[point]})
            again[point] += 1
            last_line = source.line
        source.line = 0
        if not made and self.faults:
            raise self.faults[0][1]
        if not made:
            raise source.fail("the table has no rows", self.line)
        self.faults.sort(key=lambda fault: fault[0])
        if self.faults and self.faults[-1][0] == source.lines:
            self.cut = self.faults.pop()[1].what
        return made

    def warn(self, source: Source) -> None:
        """Add warnings about rows that were left out to the file."""
        if self.cut:
            source.warn(
                "cut-short",
                f"line {source.lines}, the last one, is truncated and ignored ({self.cut})",
            )
        for code, what, lines, why in (
            ("invalid-data", "rows with wrong data are left out", self.invalid, ""),
            (
                "lines-ignored",
                "not understood",
                [line for line, _ in self.faults],
                "".join(f" ({error.what})" for _, error in self.faults[:1]),
            ),
        ):
            if lines:
                numbers = listed([str(line) for line in lines], _LISTED_LINES)
                source.warn(code, f"{what}: line{'s' * (len(lines) > 1)} {numbers}{why}")
