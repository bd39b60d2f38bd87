"""The documentation stays small: one page for each decision, and none that nobody links to."""

from __future__ import annotations

import re
from pathlib import Path

from beds.mpis import ROOT
from beds.pages import DOCS, written
from beds.prose import FENCED

MAX_PAGES = 60
MAX_WORDS = 95_500
"""Of all pages, with their tables, commands and outputs."""

LINKS = 2
"""Pages that link to each page but the first, in their text: what is only listed is not read."""

PAGES = [page for page in written() if DOCS in page.parents]
LINK = re.compile(r"\]\(([^)#\s]+)")


def linking() -> dict[Path, set[Path]]:
    """Return the pages that link to each page."""
    found: dict[Path, set[Path]] = {page: set() for page in PAGES}
    for page in written():
        for link in LINK.findall(FENCED.sub("", page.read_text("utf-8"))):
            target = (page.parent / link).resolve()
            if target in found and target != page:
                found[target].add(page)
    return found


def test_pages_and_words_are_few() -> None:
    assert len(PAGES) <= MAX_PAGES
    words = {page: len(page.read_text("utf-8").split()) for page in PAGES}
    assert sum(words.values()) <= MAX_WORDS, max(words, key=lambda page: words[page])


def test_every_page_is_linked_to_by_two_others() -> None:
    few = {
        page.relative_to(ROOT).as_posix()
        for page, others in linking().items()
        if len(others) < LINKS
    }
    assert few - {"docs/index.md"} == set()
