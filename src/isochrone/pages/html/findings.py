"""What a report of several runs opens with: the findings of each, and in which order they stand."""

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from isochrone.base.record import Record
from isochrone.pages.common import kind_of
from isochrone.pages.page import Block, Listing, Page, Sentence, Tone, Warnings, said
from isochrone.pages.words import plural
from isochrone.runfile.run import Run

SUMMARY = "Summary"
MAX_SUMMARY_SENTENCES = 3
"""Sentences that open a summary; the rest is below, at the run."""

MAX_ITEMS = 3
LAST_SEVERITY = 100
_WORST_FIRST = ("bad", "strong", "good")


class Finding(Record):
    """What was found in one run, in a few sentences.

    Attributes
    ----------
    id, title, facts
        Of the article that tells all of it.
    tone
        The worst of the sentences: ``bad``, ``strong``, ``good`` or none.
    items
        The sentences.
    """

    id: str
    title: str
    facts: tuple[str, ...]
    tone: Tone
    items: tuple[Sentence, ...]


def in_order(runs: Sequence[Run]) -> list[Run]:
    """Put runs in the order in which they are read: by kind, then by experiment, then as named."""

    def place(run: Run) -> tuple[int, str]:
        kind = kind_of(run)
        return (LAST_SEVERITY, "") if kind is None else (kind.place, run.experiment)

    return sorted(runs, key=place)


def finding_of(page: Page, name: str, title: str) -> Finding:
    """Choose from a page what somebody must know who reads nothing else.

    That is how its summary opens, and wherever it stands what is called slow, doubtful or fine.
    """
    blocks = [
        block
        for section in page.sections
        if said(section, "report")
        for block in section.blocks
        if said(block, "report")
    ]
    opening = [
        block
        for section in page.sections
        if section.title == SUMMARY
        for block in section.blocks
        if isinstance(block, Sentence) and said(block, "report")
    ]
    items = [sentence for sentence in opening if not sentence.tone][:MAX_SUMMARY_SENTENCES]
    judged = [sentence for block in blocks for sentence in _judged(block, opening)]
    if page.partial is not None:
        judged.insert(0, page.partial)
    tones = {sentence.tone for sentence in judged}
    tone: Tone = next((worst for worst in _WORST_FIRST if worst in tones), "")
    return Finding(name, title, page.facts, tone, (*judged, *items))


def _judged(block: Block, opening: Sequence[Sentence]) -> Iterator[Sentence]:
    """Yield what is said of good, bad and doubtful."""
    match block:
        case Sentence() if block.tone in _WORST_FIRST and block in opening:
            yield block
        case Listing() if block.items and block.tone != "faint":
            for item in block.items[:MAX_ITEMS]:
                about = ": ".join(filter(None, (block.title, item.about)))
                yield replace(item, about=about, tone=item.tone or block.tone)
            if len(block.items) > MAX_ITEMS:
                yield Sentence(f"{block.title}: {len(block.items) - MAX_ITEMS} more, see below")
        case Warnings() if block.items:
            yield Sentence(f"{plural(len(block.items), 'warning')}: {block.items[0]}")
