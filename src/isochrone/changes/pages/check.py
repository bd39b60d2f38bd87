"""The nightly verdict as text: findings, what is not known, and what was compared."""

from collections import Counter
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from isochrone.base.text import listed, printable
from isochrone.base.verdicts import GOOD, NOT_KNOWN, POSSIBLY_SLOW, SLOW, SLOWER
from isochrone.changes.check import Check, Finding, hosts_of, together
from isochrone.changes.effects import at_size
from isochrone.pages.common import date_in_words, page_of
from isochrone.pages.page import Block, Page, Picture, Section, Sentence, Tone

MAX_FINDINGS = 20
MAX_HOSTS = 64
MAX_LEFT_OUT = 5


_TONES: dict[str, Tone] = {GOOD: "good", SLOW: "bad", SLOWER: "bad", NOT_KNOWN: "strong"}


def blocks(analysis: Check) -> Iterator[Block]:
    """Return the verdict on one run, its findings and what was compared."""
    run = analysis.run
    name = run.path.name if run.path is not None else run.experiment
    title = f"{analysis.verdict}: {printable(name, 80)}, {run.experiment} on {run.size} ranks"
    yield Sentence(title, _TONES[analysis.verdict])
    open_ = [finding for finding in analysis.findings if not finding.allowed]
    yield from map(_finding, open_[:MAX_FINDINGS])
    if len(open_) > MAX_FINDINGS:
        yield Sentence(f"  and {len(open_) - MAX_FINDINGS} more (--json lists all)")
    yield from (_finding(finding) for finding in analysis.findings if finding.allowed)
    for doubt in analysis.doubts:
        yield Sentence(f"  {NOT_KNOWN}: {printable(doubt, 600)}")
    for text in analysis.judged:
        yield Sentence(f"  {printable(text, 400)}", "faint")
    if analysis.visible:
        slowdowns = ", ".join(f"{kind} {ratio:.2f}x" for kind, ratio in analysis.visible.items())
        slowdowns = slowdowns.replace("inside", "inside of a node")
        yield Sentence(f"  smallest detectable slowdown: {slowdowns}", "faint")
    for file, why in analysis.left_out[:MAX_LEFT_OUT]:
        yield Sentence(f"  skipped {printable(file, 120)}: {printable(why, 400)}", "faint")
    omitted = len(analysis.left_out) - MAX_LEFT_OUT
    if omitted > 0:
        yield Sentence(f"  and {omitted} more (--json lists all)", "faint")


def check_page(checks: Sequence[Check], unused: Sequence[str]) -> Page:
    """Return the verdict as one page: all runs, their findings, and what each run holds."""
    several = len(checks) > 1
    said = [block for one in checks for block in blocks(one)]
    sections = [Section("Verdict", (*said, *closing(checks, unused)))]
    for one in checks:
        name = one.run.path.name if one.run.path is not None else one.run.experiment
        prefix = f"{printable(name, 60)}: " if several else ""
        sections += [
            replace(section, title=f"{prefix}{section.title}", blocks=_small(section))
            for section in page_of(one.run).sections
        ]
    dates = sorted(one.run.about.started for one in checks)
    facts = tuple(dict.fromkeys(date_in_words(date) for date in (dates[0], dates[-1]) if date))
    what = f"{len(checks)} runs" if several else page_of(checks[0].run).title
    return Page(f"Check of {what}: {together(checks)}", ("check",), facts, None, tuple(sections))


def _small(section: Section) -> tuple[Block, ...]:
    """Leave the surface out: it shows the map once more, and is larger than all else together."""
    return tuple(
        block
        for block in section.blocks
        if not (isinstance(block, Picture) and block.view == "surface")
    )


def closing(checks: Sequence[Check], unused: Sequence[str]) -> Iterator[Block]:
    """Return what concerns all runs: bad hosts, suspects, the verdict."""
    bad, suspects = hosts_of(checks)
    if bad:
        yield Sentence(f"bad hosts: {_list(bad)}", "bad")
    if suspects:
        why = "not confirmed, at the end of a slow pair, or behind a slow switch"
        yield Sentence(f"suspects: {_list(suspects)} ({why})")
    for rule in unused:
        yield Sentence(f"the rule {rule} of --allow was not needed: remove it", "faint")
    if len(checks) > 1:
        verdict = together(checks)
        counts = Counter(judgement.verdict for judgement in checks)
        each = ", ".join(f"{count} {name}" for name, count in counts.items())
        yield Sentence(f"{verdict}: {len(checks)} runs ({each})", _TONES[verdict])


def _finding(finding: Finding) -> Sentence:
    size = at_size(finding.kind, finding.nbytes)
    text = (
        f"  {finding.verdict}: {printable(finding.who, 160)}{size}: "
        f"{printable(finding.evidence, 400)}"
    )
    if finding.allowed:
        return Sentence(f"  waived by {finding.allowed}: {text.strip()}", "faint")
    return Sentence(text, "strong" if finding.verdict == POSSIBLY_SLOW else "bad")


def _list(hosts: Sequence[str]) -> str:
    return listed([printable(host, 80) for host in hosts], MAX_HOSTS)
