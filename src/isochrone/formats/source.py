"""An imported file: its bytes, origin, warnings and errors."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self, TypeVar

import msgspec

from isochrone.base.errors import InputError
from isochrone.base.files import read_bytes, written_name
from isochrone.base.record import Members
from isochrone.base.text import printable
from isochrone.base.units import MAX_SECONDS, format_bytes
from isochrone.runfile.run import Rank

MAX_FILE_RANKS = 1_000_000
"""Files with more ranks are damaged."""

_SMALL = 8 << 20
"""Bytes that an array may have in any file: a matrix of 1,024 ranks, even if all its times are one
number, as those of a simulated network may be."""

_RATIO = 10
"""How many times as large as its file an array may be; times that were measured hardly shrink."""

_MAX_WHOLE = 1 << 50

_Line = TypeVar("_Line", str, bytes)
_T = TypeVar("_T")

_NUMBER = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")


def parse_number(text: str) -> float | None:
    """Read a finite decimal number, or None.

    Stricter than ``float``, which also takes ``nan``, ``1_0`` and digits of other scripts.
    """
    value = float(text) if _NUMBER.fullmatch(text) else math.inf
    return value if math.isfinite(value) else None


class NoRanksError(InputError):
    """A file does not contain the number of ranks, which has to be given."""


@dataclass
class Source:
    """The file that is imported; read once, so that its hash is that of what was understood.

    Attributes
    ----------
    path, format, data
        The file, the name of its format, and all that is in it.
    warnings
        What was wrong with it but can be lived with.
    cut
        It ends early.
    line, lines
        The line that errors name, from 1 on, and how many there are; 0: errors are of the file.
    """

    path: Path
    format: str
    data: bytes
    warnings: list[Members] = field(default_factory=list)
    cut: bool = False
    line: int = 0
    lines: int = 0

    @classmethod
    def open(cls, path: Path, name: str) -> Self:
        """Read a file whose format goes by ``name``."""
        return cls(path, name, read_bytes(path))

    def most(self) -> int:
        """Return the maximum number of bytes of one array of a compressed file."""
        return max(_SMALL, _RATIO * len(self.data))

    def too_much(self) -> InputError:
        """Return the error to raise for a file that holds more."""
        return self.fail(
            f"a matrix above {format_bytes(self.most())} is implausible in a file of "
            f"{format_bytes(len(self.data))}",
            hint="import a CSV instead",
        )

    def origin(self) -> dict[str, str]:
        """Return the origin of the run for its header."""
        digest = hashlib.sha256(self.data).hexdigest()
        return {"format": self.format, "path": written_name(self.path), "sha256": digest}

    def each(self, lines: Sequence[_Line]) -> Iterator[_Line]:
        """Yield the lines of the file; errors name the current one."""
        self.lines = len(lines)
        for self.line, line in enumerate(lines, start=1):
            yield line
        self.line = 0

    def number(self, text: str, label: str) -> float:
        """Read a number that is not negative.

        Raises
        ------
        InputError
            If it is none.
        """
        value = parse_number(text)
        if value is None:
            raise self.fail(f"{label} is {printable(text, 40)!r}, not a number")
        if value < 0:
            raise self.fail(f"{label} is negative: {printable(text, 40)}")
        return value

    def whole(self, text: str, label: str) -> int:
        """Read a whole number up to `_MAX_WHOLE`; errors as of `number`."""
        value = self.number(text, f"'{label}'")
        if not value.is_integer() or value > _MAX_WHOLE:
            raise self.fail(f"'{label}' is {printable(text, 40)!r}, which is impossible")
        return int(value)

    def micro(self, text: str, label: str) -> float:
        """Read µs as seconds; errors as of `number`."""
        value = self.number(text, f"'{label}'") / 1e6
        if value > MAX_SECONDS:
            raise self.fail(f"'{label}' is {printable(text, 40)!r}, which is not a time")
        return value

    def same_host(self, hosts: dict[int, str], rank: int, host: str) -> None:
        """Record the host of a rank, which must be the same throughout.

        Raises
        ------
        InputError
            If it differs, or the rank exceeds the limit.
        """
        if rank >= MAX_FILE_RANKS:
            raise self.fail(f"rank {rank} exceeds the limit of {MAX_FILE_RANKS} ranks")
        if host and hosts.setdefault(rank, host) != host:
            previous = printable(hosts[rank], 80)
            problem = f"rank {rank} is on host {printable(host, 80)}, but was on {previous} before"
            raise self.fail(problem)

    @staticmethod
    def ranks(hosts: Mapping[int, str]) -> list[Rank]:
        """Return the ranks; nodes are numbered in order of appearance."""
        nodes: dict[str, int] = {}
        ranks = []
        for rank, name in sorted(hosts.items()):
            host = name.encode("utf-8", "replace").decode()
            ranks.append(Rank(rank=rank, host=host, node=nodes.setdefault(host, len(nodes))))
        return ranks

    def warn(self, code: str, text: str) -> None:
        """Record a defect that is not an error."""
        self.warnings.append({"code": code, "text": text})

    def use_means(self) -> None:
        """Record that means are used as medians."""
        self.warn(
            "median-is-mean",
            "the file has no medians: means are used, which outliers increase",
        )

    def cut_short(self, why: str = "") -> None:
        """Record that the last line is truncated."""
        self.cut = True
        self.warn("cut-short", f"line {self.line}, the last one, is truncated and ignored{why}")

    @contextmanager
    def may_be_cut(self) -> Iterator[None]:
        """Ignore an error in the last line."""
        try:
            yield
        except InputError as error:
            if self.line < self.lines:
                raise
            self.cut_short(f" ({error.what})")

    def no_ranks(self, problem: str, line: int = 0) -> NoRanksError:
        """Return the error to raise if the number of ranks is neither in the file nor given."""
        where = f"{self.path}:{line}" if line else self.path
        return NoRanksError(problem, where=where, hint="give it: --ranks N")

    def json(self, kind: type[_T], says: str) -> _T:
        """Return the content of a JSON file; ``says`` what it is, as in ``test of iperf3``.

        Raises
        ------
        InputError
            If it is cut off, or of another kind.
        """
        try:
            return msgspec.json.decode(self.data, type=kind)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise self.fail(f"it is no complete {says}: {error}") from None

    def fail(self, problem: str, line: int = 0, *, hint: str = "") -> InputError:
        """Return the error to raise, of a line or the current one."""
        line = line or self.line
        return InputError(problem, where=f"{self.path}:{line}" if line else self.path, hint=hint)
