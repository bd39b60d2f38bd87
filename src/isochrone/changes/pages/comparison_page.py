"""A comparison as one HTML page: the verdict, times and ratios, what differs, and the launches."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from isochrone.base.text import listed, printable
from isochrone.base.verdicts import FASTER, SAME, SLOWER
from isochrone.changes.compare import Comparison
from isochrone.changes.pages.comparison import (
    TONES,
    amounts_of,
    head,
    name_of,
    ratio_of,
    ratio_title,
    table,
)
from isochrone.pages.page import Page, Picture, Row, Section, Sentence, Table, columns_of
from isochrone.pages.words import of_ranks
from isochrone.runfile.run import Run
from isochrone.views.view import Options

MAX_LISTED_POINTS = 64
"""Points that a page lists: with them, it has at most five printed pages."""

_CAPTION = (
    "Left: geometric means over the launches of A (blue) and B (orange). Right: the ratio B / A. "
    "The band is the margin, within which both are the same. Slower is red, faster is green."
)


class Compared(NamedTuple):
    """A comparison, the name of what was measured if there are several, and the runs of A and B."""

    name: str
    found: Comparison
    before: Sequence[Run]
    after: Sequence[Run]


def comparison_page(compared: Sequence[Compared]) -> Page:
    """Return one page of all that was compared."""
    first, several = compared[0], len(compared) > 1
    single = f"{first.found.experiment} {of_ranks(first.before[0])}"
    measured = f"{len(compared)} measurements" if several else single
    libraries = {side[0].library.name for side in (first.before, first.after)}
    facts = (f"A: {_files(first.before)}", f"B: {_files(first.after)}", *sorted(libraries - {""}))
    sections = [section for one in compared for section in _sections(one)]
    return Page(f"{measured}: B compared with A", ("comparison",), facts, None, tuple(sections))


def _sections(one: Compared) -> Iterator[Section]:
    found, prefix = one.found, f"{printable(one.name, 60)}: " if one.name else ""
    verdict = _verdict(found)
    picture = Picture(
        "ratio",
        "Medians and ratios",
        _CAPTION,
        (*one.before, *one.after),
        Options(comparison=found),
        alt=verdict.text,
    )
    title = "components that changed" if found.parts else f"{found.kind}s that differ most"
    changed = replace(table(found), title=title)
    likely = [
        Sentence(printable(f"likely explanation: {one.what}: {one.before} → {one.after}", 300))
        for one in found.explanations[:1]
    ]
    yield Section(f"{prefix}Verdict", (verdict, *head(found), *likely, changed, picture))
    yield Section(f"{prefix}Machine and settings", tuple(_environment(found)))
    yield Section(f"{prefix}Launches", (_launches(one), *map(Sentence, found.notes)))
    yield Section(f"{prefix}All {found.kind}s", (_points(found),))


def _verdict(found: Comparison) -> Sentence:
    """Say in one sentence whether B is slower."""
    if found.one_launch and found.unit == "launch":
        return Sentence("Not known: one launch of each side cannot be judged.", "bad")
    if found.parts:
        names = [part.who or name_of(found.changes[part.points[0]].key) for part in found.parts]
        words = {part.difference.verdict for part in found.parts}
        verdict = words.pop() if len(words) == 1 else "slower and faster"
        text = f"B is {verdict}: {printable(listed(names, 3), 300)}."
        return Sentence(text, TONES.get(verdict, "bad"), stress=(f"B is {verdict}",))
    if found.counts[SAME] == len(found.changes) or (
        found.overall is not None and found.overall.verdict == SAME
    ):
        return Sentence("B takes as long as A.", "good", stress=("as long as A",))
    return Sentence("Not known: neither a difference nor equality is proved.", "strong")


def _environment(found: Comparison) -> Iterator[Sentence | Table]:
    """Yield what differs between the sides, likely explanations first."""
    likely = [one.what for one in found.explanations]
    rows = [(one.what, one.before, one.after) for one in found.explanations]
    rows += [
        (one["what"], one["before"], one["after"])
        for one in found.differences
        if one["what"] not in likely
    ]
    if not rows:
        yield Sentence("Machine, library and settings of A and B are the same.", "good")
        return
    yield Table(
        "what differs",
        columns_of("what", "A", "B"),
        tuple(Row(tuple(printable(cell, 120) for cell in row)) for row in rows),
    )


def _launches(one: Compared) -> Table:
    rows = (
        Row(
            (
                f"{side} {number}",
                printable(run.path.name if run.path else "in memory", 60),
                printable(run.about.started, 30),
                printable(run.library.library, 60),
                str(run.size),
                "yes" if run.complete else "no",
            )
        )
        for side, runs in (("A", one.before), ("B", one.after))
        for number, run in enumerate(runs, 1)
    )
    titles = ("launch", "file", "started", "MPI library", ">ranks", "complete")
    return Table("launches", columns_of(*titles), tuple(rows))


def _points(found: Comparison) -> Table:
    """Tabulate the points; of very many, those that changed first."""
    verdicts = found.changes.differences.verdicts
    order = sorted(range(len(verdicts)), key=lambda k: verdicts[k] not in (SLOWER, FASTER))
    shown = sorted(order[:MAX_LISTED_POINTS])
    rows = (
        Row(
            (
                name_of(one.key),
                *amounts_of(one, [k], found),
                ratio_of(one.difference),
                one.verdict,
            ),
            TONES.get(one.verdict, ""),
        )
        for k, one in zip(shown, map(found.changes.__getitem__, shown), strict=True)
    )
    more = len(verdicts) - len(shown)
    columns = columns_of(found.kind, ">A", ">B", f">{ratio_title(found)}", "verdict")
    left_out = f"{more:,} more (compare --json lists all)" if more else ""
    return Table(f"all {found.kind}s", columns, tuple(rows), left_out)


def _files(runs: Sequence[Run]) -> str:
    names = [run.path.name if run.path else "in memory" for run in runs]
    return printable(names[0] if len(names) == 1 else f"{names[0]} … {names[-1]}", 80)
