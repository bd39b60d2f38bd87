"""A kind of file: what it is made of, which commands read it, and undamaged ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from fuzz.seeds import texts

__all__ = ["Reader", "word"]


@dataclass(frozen=True)
class Reader:
    """A kind of file.

    Attributes
    ----------
    kind
        What it is made of: a key of `mutations.MUTATIONS`.
    commands
        Command lines that read it as ``{file}``, or its content as ``{word}``, and write at most
        what begins with ``{out}``. ``{folder}`` holds three earlier runs and the file,
        ``{archive}`` what is in it if it is an archive. Variables of the environment may come
        first.
    seeds
        Writes undamaged ones into a folder, and returns their names.
    weight
        How often it is drawn beside the others.
    """

    kind: str
    commands: Sequence[str]
    seeds: Callable[[Path], Sequence[str]]
    weight: float = 1.0


def word(command: str, *words: str) -> Reader:
    """Read a word of the command line like a file."""
    return Reader("text", (command,), texts(*words), 0.3)
