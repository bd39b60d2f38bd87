"""Mappings of a description, read strictly: what is not known is an error with its path."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from difflib import get_close_matches
from typing import Any, Final

from isochrone.applications.description.description import Given
from isochrone.applications.description.key_path import KeyPath
from isochrone.base.text import printable

__all__ = ["NAME", "Fields", "boolean", "given", "is_scalar", "listed", "name", "word"]

NAME: Final = r"[A-Za-z0-9_.-]{1,64}"
"""Names of applications and phases: they stand in files whose words are separated by blanks."""


class Fields:
    """A mapping with known keys.

    Parameters
    ----------
    value
        What is there.
    at
        Where.
    known
        Keys that it may have.
    needed
        Keys that it must have.

    Raises
    ------
    InputError
        If it is no mapping, has another key, or lacks one.
    """

    def __init__(
        self, value: Any, at: KeyPath, known: Collection[str], needed: Sequence[str] = ()
    ) -> None:
        if not isinstance(value, dict):
            raise at.error(
                f"{_shown(value)} where a mapping is expected", f"keys: {', '.join(known)}"
            )
        for key in value:
            if key not in known:
                close = get_close_matches(key, known, 1)
                hint = f"is {close[0]} meant?" if close else f"there are: {', '.join(known)}"
                raise at.key(key).error("unknown key", hint)
        for key in needed:
            if key not in value:
                raise at.key(key).error("missing")
        self.value: dict[str, Any] = value
        self.place = at

    def __contains__(self, key: str) -> bool:
        return key in self.value

    def at(self, key: str) -> KeyPath:
        """Return the place of a key."""
        return self.place.key(key)

    def get(self, key: str, default: Any = None) -> Any:
        """Return what is under a key."""
        return self.value.get(key, default)

    def given(self, key: str, default: int | float | str) -> Given:
        """Return a number or an expression."""
        return given(self.get(key, default), self.at(key))

    def boolean(self, key: str, default: bool) -> bool:
        """Return true or false."""
        return boolean(self.get(key, default), self.at(key))

    def word(self, key: str, known: Sequence[str], default: str) -> str:
        """Return one of some words."""
        return word(self.get(key, default), self.at(key), known)


def is_scalar(value: Any) -> bool:
    """Whether it is a number or a text."""
    return isinstance(value, int | float | str) and not isinstance(value, bool)


def given(value: Any, at: KeyPath) -> Given:
    """Return a number or an expression with its place."""
    if not is_scalar(value):
        raise at.error(f"{_shown(value)} where a number or an expression is expected")
    return Given(value, at)


def boolean(value: Any, at: KeyPath) -> bool:
    """Return true or false."""
    if not isinstance(value, bool):
        raise at.error(f"{_shown(value)} where true or false is expected")
    return value


def word(value: Any, at: KeyPath, known: Sequence[str]) -> str:
    """Return one of some words."""
    if value not in known:
        raise at.error(f"{_shown(value)} is none of {', '.join(known)}")
    return str(value)


def name(value: Any, at: KeyPath) -> str:
    """Return a name."""
    if not isinstance(value, str) or not re.fullmatch(NAME, value):
        raise at.error(
            f"{_shown(value)} is not a name", "up to 64 letters, digits, dots, dashes, underscores"
        )
    return value


def listed(value: Any, at: KeyPath, least: int = 1) -> list[Any]:
    """Return a list of at least so many elements."""
    if not isinstance(value, list):
        raise at.error(f"{_shown(value)} where a list is expected")
    if len(value) < least:
        raise at.error("an empty list")
    return value


def _shown(value: Any) -> str:
    """Name what was found, shortly."""
    if value is None:
        return "nothing"
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    if isinstance(value, bool):
        return str(value).lower()
    return f"'{printable(value, 60)}'"
