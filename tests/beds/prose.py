"""What readers are given to read: sentences of pages, and texts that programs print."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

FENCED = re.compile(r"^```[^\n]*\n.*?^```\s*?$", re.DOTALL | re.MULTILINE)
CODE = re.compile(r"`[^`]*`")

_NO_SENTENCE = re.compile(
    r"<!--.*?-->|\$\$.*?\$\$|^(?:\||#+ |!\[)[^\n]*$", re.DOTALL | re.MULTILINE
)
_FORMULA = re.compile(r"\$[^$\n]+\$")
_LINK = re.compile(r"!?\[((?:[^\[\]]|\[[^\]]*\])*)\]\([^)]*\)")
_ITEM = re.compile(r"^\s*(?:[-*+]|\d+\.)\s+", re.MULTILINE)
_END = re.compile(r"(?<=[.!?…])[)*_\"']*\s+(?=[*_(\"'\[]*[A-Z0-9`])")
_SHORT = re.compile(r"\b(e\.g|i\.e|et al|cf|vs|No|pp?)\.(?=\s)")
_C_TOKEN = re.compile(r"//[^\n]*|/\*.*?\*/|'(?:\\.|[^'\\])'|\"((?:\\.|[^\"\\\n])*)\"", re.DOTALL)

PRINTED_DOCSTRINGS = {"commands", "patterns", "figures", "families"}
"""Folders of plug-ins whose first docstring is a part of the help."""


def sentences(page: str) -> list[str]:
    """Return the sentences in paragraphs and lists of a page in Markdown."""
    plain = _NO_SENTENCE.sub("", FENCED.sub("", page))
    plain = CODE.sub("`code`", _LINK.sub(r"\1", _FORMULA.sub("x", plain)))
    found = []
    for paragraph in re.split(r"\n\s*\n", _SHORT.sub(r"\1", plain)):
        for item in _ITEM.split(paragraph):
            found += _END.split(" ".join(item.split()))
    return [one for one in found if length(one)]


def length(sentence: str) -> int:
    """Return the number of words."""
    return sum(bool(re.search(r"\w", word)) for word in sentence.split())


def printed(path: Path) -> Iterator[str]:
    """Yield the texts of a source file that a user may see: literals of two words and more."""
    source = path.read_text("utf-8")
    found = _of_python(path, source) if path.suffix == ".py" else _of_c(source)
    yield from (text for text in found if " " in text.strip())


def _of_python(path: Path, source: str) -> Iterator[str]:
    tree = ast.parse(source)
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    if PRINTED_DOCSTRINGS & set(path.parts) and tree.body and isinstance(tree.body[0], ast.Expr):
        docstrings.discard(id(tree.body[0].value))
    for node in ast.walk(tree):
        text = isinstance(node, ast.Constant) and isinstance(node.value, str)
        if text and id(node) not in docstrings:
            yield " ".join(node.value.split())


def _of_c(source: str) -> Iterator[str]:
    joined = re.sub(r'(?<=[^\\])"\s*\n\s*"', "", source)
    for token in _C_TOKEN.finditer(joined):
        yield token[1] or ""
