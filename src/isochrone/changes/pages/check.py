"""The nightly verdict as text: findings, what is not known, and what was compared."""

from collections.abc import Sequence

from isochrone.base.text import listed, printable
from isochrone.base.verdicts import GOOD, NOT_KNOWN, POSSIBLY_SLOW, SLOW, SLOWER
from isochrone.changes.check import Check, Finding, hosts_of, together
from isochrone.changes.effects import at_size
from isochrone.pages.page import Block, Sentence, Tone

MAX_FINDINGS = 20
MAX_HOSTS = 64
MAX_LEFT_OUT = 5


_TONES: dict[str, Tone] = {GOOD: "good", SLOW: "bad", SLOWER: "bad", NOT_KNOWN: "strong"}


def blocks(found: Check) -> list[Block]:
    """Return the verdict on one run, its findings and what was compared."""
    run = found.run
    name = run.path.name if run.path is not None else run.experiment
    title = f"{found.verdict}: {printable(name, 80)}, {run.experiment} on {run.size} ranks"
    shown: list[Block] = [Sentence(title, _TONES[found.verdict])]
    open_ = [one for one in found.findings if not one.allowed]
    shown += [_finding(one) for one in open_[:MAX_FINDINGS]]
    if len(open_) > MAX_FINDINGS:
        shown.append(Sentence(f"  and {len(open_) - MAX_FINDINGS} more (--json lists all)"))
    shown += [_finding(one) for one in found.findings if one.allowed]
    shown += [Sentence(f"  {NOT_KNOWN}: {printable(doubt, 600)}") for doubt in found.doubts]
    shown += [Sentence(f"  {printable(text, 400)}", "faint") for text in found.judged]
    shown += [Sentence(f"  {text}", "faint") for text in _visible(found)]
    for file, why in found.left_out[:MAX_LEFT_OUT]:
        shown.append(Sentence(f"  skipped {printable(file, 120)}: {printable(why, 400)}", "faint"))
    if len(found.left_out) > MAX_LEFT_OUT:
        more = len(found.left_out) - MAX_LEFT_OUT
        shown.append(Sentence(f"  and {more} more (--json lists all)", "faint"))
    return shown


def closing(checks: Sequence[Check], unused: Sequence[str]) -> list[Block]:
    """Return what concerns all runs: bad hosts, suspects, the verdict."""
    bad, suspects = hosts_of(checks)
    shown: list[Block] = []
    if bad:
        shown.append(Sentence(f"bad hosts: {_list(bad)}", "bad"))
    if suspects:
        why = "not confirmed, at the end of a slow pair, or behind a slow switch"
        shown.append(Sentence(f"suspects: {_list(suspects)} ({why})"))
    shown += [
        Sentence(f"the rule {rule} of --allow was not needed: remove it", "faint")
        for rule in unused
    ]
    if len(checks) > 1:
        verdict = together(checks)
        shown.append(Sentence(f"{verdict}: {len(checks)} runs", _TONES[verdict]))
    return shown


def _finding(one: Finding) -> Sentence:
    size = at_size(one.kind, one.nbytes)
    text = f"  {one.verdict}: {printable(one.who, 160)}{size}: {printable(one.evidence, 400)}"
    if one.allowed:
        return Sentence(f"  waived by {one.allowed}: {text.strip()}", "faint")
    return Sentence(text, "strong" if one.verdict == POSSIBLY_SLOW else "bad")


def _visible(found: Check) -> list[str]:
    """Return the smallest detectable slowdown of each kind."""
    if not found.visible:
        return []
    listed_ = ", ".join(f"{kind} {ratio:.2f}x" for kind, ratio in found.visible.items())
    return [f"smallest detectable slowdown: {listed_}"]


def _list(hosts: Sequence[str]) -> str:
    return listed([printable(host, 80) for host in hosts], MAX_HOSTS)
