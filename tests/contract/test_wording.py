"""Pages, help and messages use the terms of docs/glossary.md, and pages have short sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from beds.mpis import ROOT
from beds.pages import written
from beds.prose import CODE, FENCED, length, printed, sentences
from isochrone.cli.main import parser
from isochrone.cli.parser import load_all

WORDS = 20
"""In a sentence, on average over a page; code, tables and headings are not counted."""

PAGES = [*written(), ROOT / "SECURITY.md", ROOT / "CHANGELOG.md"]

HOUSE = {
    "told|untold": "recorded, detected, known, sent",
    "roofs?": "root, top level",
    "h[eo]ld against": "compared with",
    "seats?": "slot, local rank",
    "dear(?:er|est)?": "expensive, most expensive",
    "mend(?:s|ed|ing)?": "fix",
    "made[ -]up": "synthetic",
    "put to work": "apply, use",
    "comes? to (?:its|an) end": "complete, end",
    "pay(?:s|ing)? for": "is affected by, costs",
    "tak(?:en?|es) over": "intercept; copy",
    "in force": "active, effective",
    "worth": "significant; error; listed",
    "besides?": "next to, in addition to, concurrently with",
    "apart": "separate, distance, spread",
    "stands?|standing": "is, is located, holds, is written",
    "regimes?": "segment",
    "doubts": "warnings",
    "remarks?": "warning",
    "keepers?": "supervisor",
    "duels?": "paired comparison",
    "laid to": "attributed to",
}
"""Words that meant something of their own here, whole and in any case, and the terms instead."""

REVIEWED = {
    (
        "src/isochrone/models/data/quality.py",
        "made up",
    ),  # the origin of times in files of earlier versions
    ("src/isochrone/runfile/origin.py", "made up"),
}
"""A file (a pattern of its path) and a phrase in it whose house word is ordinary English."""

PATTERN = re.compile(rf"(?<![\w-])(?:{'|'.join(HOUSE)})(?![\w-])", re.IGNORECASE)
JOINED = re.compile(r'"\s*\n\s*[fr]?"')
"""Between two parts of a literal."""


def texts() -> Iterator[tuple[str, str]]:
    """Yield what users read, and the file that it is from."""
    for path in PAGES:
        shown = FENCED.sub("", path.read_text("utf-8"))
        yield path.relative_to(ROOT).as_posix(), " ".join(CODE.sub("`…`", shown).split())
    sources = [*(ROOT / "src/isochrone").rglob("*.py"), *(ROOT / "probe").rglob("*.[ch]")]
    for path in sorted(sources):
        if PATTERN.search(JOINED.sub("", path.read_text("utf-8"))):  # reading all takes long
            for text in printed(path):
                yield path.relative_to(ROOT).as_posix(), text
    for command in load_all(parser()):
        yield f"{command.prog} --help", " ".join(command.format_help().split())


def excused(file: str, text: str, found: re.Match[str]) -> tuple[str, str] | None:
    """Return the reviewed entry that covers a word, if there is one."""
    for pattern, phrase in REVIEWED:
        if Path(file).match(pattern):
            for place in re.finditer(re.escape(phrase), text):
                if place.start() <= found.start() and found.end() <= place.end():
                    return pattern, phrase
    return None


def test_no_house_word_is_left() -> None:
    """All that are found are listed; so are reviewed phrases that are nowhere any more."""
    left, used = [], set()
    for file, text in texts():
        for found in PATTERN.finditer(text):
            entry = excused(file, text, found)
            if entry:
                used.add(entry)
            else:
                around = text[max(0, found.start() - 40) : found.end() + 40]
                left.append(f"{file}: …{around}…")
    left += [f"{file}: '{phrase}' is nowhere" for file, phrase in sorted(REVIEWED - used)]
    assert not left, "\n".join([f"{len(left)} found:", *left])


def test_sentences_of_a_page_are_short() -> None:
    long = []
    for path in PAGES:
        counts = [length(one) for one in sentences(path.read_text("utf-8"))]
        if counts and sum(counts) > WORDS * len(counts):
            long.append(f"{path.relative_to(ROOT)}: {sum(counts) / len(counts):.1f} words")
    assert not long, "\n".join(long)
