"""The file that is imported: its bytes, where they are from, and what is wrong with them."""

from __future__ import annotations

import hashlib
import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from isochrone.base.errors import InputError
from isochrone.base.files import check_ordinary, written_name

__all__ = ["MAX_RANKS", "Source", "parse_number"]

MAX_RANKS: Final = 1_000_000
"""A larger number of ranks is taken for damage: no map has that many pairs."""

_NUMBER: Final = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")


def parse_number(text: str) -> float | None:
    """Read a finite decimal number, or None.

    Stricter than ``float``, which also takes ``nan``, ``1_0`` and digits of other scripts.
    """
    value = float(text) if _NUMBER.fullmatch(text) else math.inf
    return value if math.isfinite(value) else None


@dataclass(frozen=True)
class Source:
    """The file that is imported; read once, so that its hash is that of what was understood."""

    path: Path
    format: str
    data: bytes

    @classmethod
    def open(cls, path: Path, name: str) -> Source:
        """Read a file whose format goes by ``name``."""
        check_ordinary(path)
        try:
            return cls(path, name, path.read_bytes())
        except OSError as error:
            raise InputError(f"cannot read it: {error.strerror}", where=str(path)) from error

    def origin(self) -> dict[str, str]:
        """Return what the header of the run says about where it comes from."""
        digest = hashlib.sha256(self.data).hexdigest()
        return {"format": self.format, "path": written_name(self.path), "sha256": digest}

    def fail(self, what: str, line: int | None = None, *, hint: str = "") -> InputError:
        """Return the error to raise: what is wrong, and on which line."""
        where = str(self.path) if line is None else f"{self.path}:{line}"
        return InputError(what, where=where, hint=hint)
