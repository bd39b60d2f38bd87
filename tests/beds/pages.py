"""The pages of README.md and docs/: their commands, and the script that runs them."""

from __future__ import annotations

import importlib.util
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

from beds.mpis import ROOT

DOCS = ROOT / "docs"
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
INLINE = re.compile(r"(?<!`)`(isochrone [^`]+)`(?!`)")


def regenerate() -> ModuleType:
    """Load docs/regenerate.py, which runs what pages show."""
    spec = importlib.util.spec_from_file_location("regenerate", DOCS / "regenerate.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def written() -> list[Path]:
    """Return the pages that are written by hand."""
    generated = set(DOCS.glob("commands/*.md")) - {DOCS / "commands/index.md"}
    return [
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
        *sorted({*DOCS.rglob("*.md")} - generated),
    ]


def command_lines(text: str) -> Iterator[list[str]]:
    """Yield each `isochrone …` that a page shows, as the words that are typed."""
    for language, block in BLOCK.findall(text):
        if language not in ("", "console"):
            continue
        for line in block.replace("\\\n", " ").splitlines():
            typed = line.removeprefix("$ ")
            if typed.startswith("isochrone ") and (line != typed or language == ""):
                yield shlex.split(re.split(r"  +[^ ]|\|\|| # ", typed)[0])
    for typed in INLINE.findall(BLOCK.sub("", text)):
        words = shlex.split(" ".join(typed.split()))
        if any(word.startswith("-") or "." in word for word in words):  # not only its name
            yield words
