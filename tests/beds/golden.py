"""Full texts that the program prints, kept in tests/golden/texts and compared as a whole.

A test asserts kinds, numbers and exit codes; how a thing is worded is compared here, so that a new
wording is one reviewed difference of files: ``make golden`` writes them again.

A file holds the texts of one file of tests. Each begins with ``=== `` and the name of its test, and
its lines are indented, so that no text looks like such a line.
"""

from __future__ import annotations

import fcntl
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from difflib import unified_diff
from html.parser import HTMLParser
from pathlib import Path

import pytest

from isochrone.base.errors import InputError

TESTS = Path(__file__).parents[1]
TEXTS = TESTS / "golden/texts"

_QUANTITY = re.compile(r"[-−+]?\b\d[\d.,]*(e[-+]?\d+)?( ?([nµm]?s|[KMGT]?i?B(/s)?|%|x))?(?!\w)")
_PATH = re.compile(r"(?<![\w.])/[\w.+-]+(/[\w.+-]+)+")
_HEAD = "=== "
_INDENT = "    "


class Golden:
    """The texts of one test.

    Parameters
    ----------
    file
        Where they are kept.
    test
        The name of the test.
    masks
        What is replaced before texts are compared, in this order: folders of this run.
    write
        Whether texts are written, and not compared.
    """

    def __init__(self, file: Path, test: str, masks: dict[str, str], *, write: bool) -> None:
        self.file = file
        self.test = test
        self.masks = masks
        self.write = write
        self._count: Counter[str] = Counter()

    def __call__(self, text: object, name: str = "") -> None:
        """Compare a text, or several lines, with what is kept; equal names are numbered."""
        said = self._masked("\n".join(map(str, text)) if isinstance(text, list) else str(text))
        named = f"{self.test}: {name}" if name else self.test
        assert "\n" not in named, "a name is one line"
        self._count[named] += 1
        if self._count[named] > 1:
            named += f" #{self._count[named]}"
        if self.write:
            _put(self.file, named, said)
            return
        kept = read(self.file).get(named)
        assert kept is not None, f"there is no golden text yet of '{named}': make golden"
        changed = "\n".join(unified_diff(kept.split("\n"), said.split("\n"), n=1, lineterm=""))
        assert said == kept, f"{named} reads otherwise: make golden\n{changed}"

    def measured(self, text: str, having: str = "") -> None:
        """Compare one line without its numbers, units and paths, which differ from run to run.

        Of several lines it is the one in which the command, or the probe, says ``having``.
        """
        lines = text.strip().splitlines()
        if len(lines) > 1:
            lines = [line for line in lines if line.startswith("isochrone") and having in line]
        assert len(lines) == 1, text
        self(_QUANTITY.sub("N", self._masked(_PATH.sub("PATH", lines[0]))))

    @contextmanager
    def refusal(self, name: str = "", kind: type[Exception] = InputError) -> Iterator[None]:
        """Expect that the block is refused by one line, and compare this line."""
        with pytest.raises(kind) as refused:
            yield
        line = str(refused.value)
        assert line.strip(), "nothing is said"
        assert "\n" not in line, line
        self(line, name)

    def _masked(self, text: str) -> str:
        if text.lstrip().startswith(("<!DOCTYPE", "<?xml", "<html", "<svg")):
            text = _read_out(text)
        for what, by in self.masks.items():
            text = text.replace(what, by)
        return "\n".join(line.rstrip() for line in text.splitlines()).strip("\n")


class _Words(HTMLParser):
    """What a person reads on a page, or in a picture by itself."""

    def __init__(self, skipped: tuple[str, ...]) -> None:
        super().__init__()
        self.skipped = skipped
        self.depth = 0
        self.words: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.depth += tag in self.skipped

    def handle_endtag(self, tag: str) -> None:
        self.depth -= tag in self.skipped

    def handle_data(self, data: str) -> None:
        if not self.depth and data.strip():
            self.words.append(" ".join(data.split()))


def _read_out(page: str) -> str:
    """Return the texts of a page or picture, one a line; of a page without its pictures."""
    picture = "<html" not in page
    reader = _Words(("metadata", "style") if picture else ("script", "style", "svg"))
    reader.feed(page)
    return "\n".join(reader.words)


def file_of(test_file: Path) -> Path:
    """Return where the texts of a file of tests are kept."""
    return TEXTS / test_file.relative_to(TESTS).with_suffix(".txt")


def read(file: Path) -> dict[str, str]:
    """Return the texts of a golden file by the names of their tests."""
    if not file.exists():
        return {}
    texts: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in file.read_text().split("\n"):
        if line.startswith(_HEAD):
            lines = texts.setdefault(line.removeprefix(_HEAD), [])
        else:
            lines.append(line.removeprefix(_INDENT))
    return {name: "\n".join(lines).rstrip("\n") for name, lines in texts.items()}


def _put(file: Path, name: str, text: str) -> None:
    """Write a text into a golden file, in which several tests may write at once."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        texts = {**read(file), name: text}
        blocks = [
            "\n".join([_HEAD + one, *(_INDENT + line if line else "" for line in said.split("\n"))])
            for one, said in sorted(texts.items())
        ]
        file.write_text("\n".join(blocks) + "\n")


def stale(file: Path) -> list[str]:
    """List the texts of a golden file whose test does not exist any more."""
    tests = (TESTS / file.relative_to(TEXTS)).with_suffix(".py")
    known = set(re.findall(r"^def (test_\w+)", tests.read_text(), re.M)) if tests.exists() else {}
    return [name for name in read(file) if re.split(r"[\[: ]", name)[0] not in known]
