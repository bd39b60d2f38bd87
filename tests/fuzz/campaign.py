"""Damaged files, one after another, each through a command that reads it."""

from __future__ import annotations

import functools
import os
import random
import re
import shutil
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from unittest.mock import patch

from fuzz.archives import unpack
from fuzz.mutations import mutate
from fuzz.oracle import LIMITS, Limits, Verdict, judge
from fuzz.readers import READERS, beside, seeds_of
from fuzz.seeds import helpers

__all__ = ["Campaign", "Found"]

OUT: Final = "out"
PLACES: Final = (
    ("{file}", "input"),
    ("{folder}", "nights"),
    ("{archive}", "archive"),
    ("{out}", OUT),
    ("{config}", "."),
)
VARIABLE: Final = re.compile(r"([A-Z_]+)=(.*)", re.DOTALL)


@dataclass(frozen=True)
class Found:
    """A file that a command did not take as it should."""

    reader: str
    command: str
    data: bytes
    verdict: Verdict

    @property
    def key(self) -> str:
        """What tells it apart from others found."""
        return f"{self.reader}: {re.sub('[0-9.]+ (s|MiB)$', '', self.verdict.wrong)}"


@dataclass
class Campaign:
    """Files damaged at random.

    Attributes
    ----------
    folder
        Where it works; everything in it is its own.
    limits
        What a command may take.
    readers
        Names of the kinds of files.
    """

    folder: Path
    limits: Limits = LIMITS
    readers: tuple[str, ...] = tuple(READERS)
    tried: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        helpers(self.folder / "beside")
        self.seeds = {name: seeds_of(name, self.folder / f"seeds-{name}") for name in self.readers}
        self.pairs = {
            (name, command): READERS[name].weight / len(READERS[name].commands)
            for name in self.readers
            for command in READERS[name].commands
        }

    def some(self, reader: str, count: int, seed: int = 1) -> Iterator[Found]:
        """Try ``count`` files of one kind; yield those that were not taken as they should be."""
        dice = random.Random(f"{reader} {seed}")
        for _ in range(count):
            found = self.one(reader, dice.choice(READERS[reader].commands), dice)
            if found is not None:
                yield found

    def warm_up(self) -> None:
        """Give an undamaged file to every command: all that they import is then there.

        How long each takes says how often it is drawn: of a thousand files through a command of a
        millisecond and ten through one of a second more is learnt than of ten through each.
        """
        for pair in self.pairs:
            seconds = self._seconds(*pair)
            if seconds > 0.05:  # perhaps to import something
                seconds = self._seconds(*pair)
            self.pairs[pair] /= (seconds + 0.002) ** 0.7

    def _seconds(self, reader: str, command: str) -> float:
        """Return the processor's time that an undamaged file takes."""
        start = time.process_time()
        self.verdict(reader, command, self.seeds[reader][0])
        return time.process_time() - start

    def draw(self, dice: random.Random) -> Found | None:
        """Try a file of any kind, with any command."""
        return self.one(*dice.choices(list(self.pairs), list(self.pairs.values()))[0], dice)

    def one(self, reader: str, command: str, dice: random.Random) -> Found | None:
        """Damage one file and give it to a command."""
        data = mutate(dice.choice(self.seeds[reader]), READERS[reader].kind, dice)
        if len(data) > 1 << 20 or ("{word}" in command and (b"\0" in data or len(data) > 1 << 16)):
            return None
        (self.folder / "now").write_text(f"{reader}\n{command}")
        verdict = self.verdict(reader, command, data)
        self.tried[reader] += 1
        return Found(reader, command, data, verdict) if verdict.wrong else None

    def verdict(self, reader: str, command: str, data: bytes) -> Verdict:
        """Give a file to a command, in a folder that holds nothing but what it needs."""
        place = self.folder / "here"
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        self._furnish(place, command, data)
        said = data.decode("utf-8", "surrogateescape")
        words = [
            functools.reduce(lambda w, pair: w.replace(*pair), PLACES, word).replace("{word}", said)
            for word in command.split()
        ]
        variables = {}
        while match := VARIABLE.fullmatch(words[0]):
            variables[match[1]] = match[2]
            words.pop(0)
        with patch.dict(os.environ, variables):
            return judge(words, place, (OUT, "hostfile"), self.limits)

    def _furnish(self, place: Path, command: str, data: bytes) -> None:
        """Put the file where the command looks for it, and beside it what it names."""
        (place / "input").write_bytes(data)
        for name in beside(command):
            if not (place / name).exists():
                os.link(self.folder / "beside" / name, place / name)
        if "{folder}" in command:
            (place / "nights").mkdir()
            os.link(place / "input", place / "nights" / "tonight.jsonl")
            for path in (self.folder / "beside").glob("night-*"):
                os.link(path, place / "nights" / path.name)
        if "{archive}" in command:
            unpack(data, place / "archive")
        if "{config}" in command:
            (place / "isochrone").mkdir()
            os.link(place / "input", place / "isochrone" / "config.toml")
