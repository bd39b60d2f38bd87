"""Where in a description something stands, so that an error can say it."""

from __future__ import annotations

from dataclasses import dataclass

from isochrone.base.errors import InputError
from isochrone.base.text import printable


@dataclass(frozen=True)
class KeyPath:
    """A place in a description.

    Attributes
    ----------
    file
        The description's file, or what it was taken from.
    path
        Its keys, such as ``apps[0].phases[2].exchange.flow``; empty: the whole description.
    """

    file: str
    path: str = ""

    def key(self, name: str) -> KeyPath:
        """Return the place of a key below this one."""
        name = printable(name, 60)
        return KeyPath(self.file, f"{self.path}.{name}" if self.path else name)

    def item(self, index: int) -> KeyPath:
        """Return the place of an element of the list here, counted from 0."""
        return KeyPath(self.file, f"{self.path}[{index}]")

    def error(self, what: str, hint: str = "") -> InputError:
        """Return the error that says what is wrong here."""
        where = ": ".join(part for part in (self.file, self.path) if part)
        return InputError(printable(what, 400), where=where, hint=hint)
