"""Sweeps of other programs: a mean a size, in µs, becomes one sample that stands for many."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from isochrone.base.errors import InputError
from isochrone.base.table import Table, TableBuilder
from isochrone.base.text import printable
from isochrone.formats.source import MAX_RANKS, Source, parse_number
from isochrone.runfile.columns import MAX_SECONDS
from isochrone.runfile.header import kind_of
from isochrone.runfile.run import Run

__all__ = ["Sweep", "cut_short", "decoded_lines", "micro", "number_of", "whole"]

_MAX_BYTES: Final = 1 << 50
_MANY_LINES: Final = 5_000_000


def decoded_lines(source: Source) -> list[str]:
    """Return the lines of a text file; in Latin-1 any byte is a character.

    Raises
    ------
    InputError
        If it is not text, or far longer than any table.
    """
    if b"\0" in source.data[:4096]:
        raise source.fail("not a text file")
    try:
        text = source.data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = source.data.decode("latin-1")
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if len(lines) > _MANY_LINES:
        raise source.fail(f"{len(lines)} lines are more than such tables have")
    return lines


def number_of(source: Source, text: str, what: str, line: int) -> float:
    """Read a number that is not negative.

    Raises
    ------
    InputError
        If it is none; names the line.
    """
    value = parse_number(text)
    if value is None:
        raise source.fail(f"'{what}' is {printable(text, 40)!r}, not a number", line)
    if value < 0:
        raise source.fail(f"'{what}' is negative: {printable(text, 40)}", line)
    return value


def whole(source: Source, text: str, what: str, line: int, most: int = _MAX_BYTES) -> int:
    """Read a whole number up to ``most``."""
    value = number_of(source, text, what, line)
    if not value.is_integer() or value > most:
        raise source.fail(f"'{what}' is {printable(text, 40)!r}, which is impossible", line)
    return int(value)


def micro(source: Source, text: str, what: str, line: int) -> float:
    """Read µs as seconds."""
    value = number_of(source, text, what, line) / 1e6
    if value > MAX_SECONDS:
        raise source.fail(f"'{what}' is {printable(text, 40)!r}, which is no time", line)
    return value


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
        Of the experiment, as far as the file says them.
    cuts
        The pairs of a bisection.
    warnings
        What was wrong with the file.
    cut
        The file ended within a line.
    means
        The seconds are means, as no medians are known.
    """

    experiment: str
    seconds_are: str
    ranks: int
    samples: list[dict[str, Any]]
    options: dict[str, Any] = field(default_factory=dict)
    cuts: list[dict[str, Any]] = field(default_factory=list)
    warnings: list[dict[str, Any]] = field(default_factory=list)
    cut: bool = False
    means: bool = True

    def run(self, source: Source) -> Run:
        """Return it as a run."""
        if not self.samples:
            raise source.fail("it holds no measured size")
        if not 1 <= self.ranks <= MAX_RANKS:
            raise source.fail(f"{self.ranks} is not a possible number of ranks")
        sizes = sorted({sample["bytes"] for sample in self.samples})
        header: dict[str, Any] = {
            "experiment": self.experiment, **kind_of(self.experiment), "ranks": self.ranks,
            "options": {"bytes": sizes, **self.options}, "seconds_are": self.seconds_are,
            "mpi": {}, "clock": {}, "imported": source.origin(),
        }  # fmt: skip
        if self.means:
            header["median_is_mean"] = True
            text = "the file has no medians: means are used instead, and outliers inflate them"
            self.warn("median-is-mean", text)
        tables: dict[str, Table] = {}
        for name, records in (("cut", self.cuts), ("sample", self.samples)):
            builder = TableBuilder()
            for record in records:
                builder.add(record)
            if records:
                tables[name] = builder.build()
        return Run(
            header=header, tables=tables, warnings=self.warnings, path=source.path,
            end=None if self.cut else {"complete": True},
        )  # fmt: skip

    def warn(self, code: str, text: str) -> None:
        """Take down what was wrong but can be lived with."""
        self.warnings.append({"code": code, "text": text})


def cut_short(error: InputError, line: int, sweep_warnings: list[dict[str, Any]]) -> None:
    """Take down that the last line was cut."""
    text = f"line {line}, the last one, is truncated: left out ({error.what})"
    sweep_warnings.append({"code": "cut-short", "text": text})
