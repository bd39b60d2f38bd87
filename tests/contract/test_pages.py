"""The documentation stays small: one page for each decision, and none that nobody links to."""

from __future__ import annotations

import re
from pathlib import Path

from beds.mpis import ROOT
from beds.pages import DOCS, written
from beds.prose import FENCED, length

MAX_PAGES = 60
MAX_WORDS = 60_000
MAX_DEVELOPERS_WORDS = 4_500
"""Of paragraphs, lists and tables: commands and their output are not counted."""

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
    words = {page: length(FENCED.sub("", page.read_text("utf-8"))) for page in PAGES}
    developers = sum(count for page, count in words.items() if page.parent.name == "developers")
    assert len(PAGES) <= MAX_PAGES
    assert developers <= MAX_DEVELOPERS_WORDS
    assert sum(words.values()) - developers <= MAX_WORDS, max(PAGES, key=lambda page: words[page])


def test_every_page_is_linked_to_by_two_others() -> None:
    few = {
        page.relative_to(ROOT).as_posix()
        for page, others in linking().items()
        if len(others) < LINKS
    }
    assert few - {"docs/index.md"} == set()
