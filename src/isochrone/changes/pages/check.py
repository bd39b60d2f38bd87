"""The nightly verdict in words: what is slow or worse, what is not known, what it rests on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from isochrone.base.text import listed, printable
from isochrone.changes.check import Check, Finding, hosts_of, together
from isochrone.changes.effects import at_size
from isochrone.pages.page import Block, Sentence, Tone

MAX_FINDINGS: Final = 20
MAX_HOSTS: Final = 64
MAX_LEFT_OUT: Final = 5

_A: Final = {"inside": "the inside of a node"}

_TONES: Final[dict[str, Tone]] = {
    "good": "good", "slow": "bad", "worse": "bad", "not known": "strong",
}  # fmt: skip


def blocks(found: Check) -> list[Block]:
    """Say what is found of one run."""
    run = found.run
    name = run.path.name if run.path is not None else run.experiment
    title = f"{found.verdict}: {printable(name, 80)}, {run.experiment} on {run.size} ranks"
    said: list[Block] = [Sentence(title, _TONES[found.verdict])]
    open_ = [one for one in found.findings if not one.allowed]
    said += [_finding(one) for one in open_[:MAX_FINDINGS]]
    if len(open_) > MAX_FINDINGS:
        said.append(Sentence(f"  and {len(open_) - MAX_FINDINGS} more (--json lists all)"))
    said += [_finding(one) for one in found.findings if one.allowed]
    said += [Sentence(f"  not known: {printable(doubt, 600)}") for doubt in found.doubts]
    said += [Sentence(f"  {printable(text, 400)}", "faint") for text in found.judged]
    said += [Sentence(f"  {text}", "faint") for text in _visible(found)]
    for file, why in found.left_out[:MAX_LEFT_OUT]:
        said.append(Sentence(f"  left out {printable(file, 120)}: {printable(why, 400)}", "faint"))
    if len(found.left_out) > MAX_LEFT_OUT:
        more = len(found.left_out) - MAX_LEFT_OUT
        said.append(Sentence(f"  and {more} more (--json lists all)", "faint"))
    return said


def closing(checks: Sequence[Check], unused: Sequence[str]) -> list[Block]:
    """Say what is true of all runs: the bad hosts, the suspects, the verdict."""
    bad, suspects = hosts_of(checks)
    said: list[Block] = []
    if bad:
        said.append(Sentence(f"bad hosts: {_list(bad)}", "bad"))
    if suspects:
        why = "not measured again, ends of slow pairs, or behind a slow switch: not proved"
        said.append(Sentence(f"suspects: {_list(suspects)} ({why})"))
    said += [Sentence(f"the rule {rule} allowed nothing: it may go", "faint") for rule in unused]
    if len(checks) > 1:
        verdict = together(checks)
        said.append(Sentence(f"{verdict}: {len(checks)} runs", _TONES[verdict]))
    return said


def _finding(one: Finding) -> Sentence:
    size = at_size(one.kind, one.nbytes)
    text = f"  {one.verdict}: {printable(one.who, 160)}{size}: {printable(one.evidence, 400)}"
    if one.allowed:
        return Sentence(f"  allowed by {one.allowed}: {text.strip()}", "faint")
    return Sentence(text, "strong" if one.verdict == "suspect" else "bad")


def _visible(found: Check) -> list[str]:
    """Say how much worse something must be to be seen."""
    if not found.visible:
        return []
    seen = ", ".join(
        f"{_A.get(kind, f'a {kind}')} from {ratio:.2f}x" for kind, ratio in found.visible.items()
    )
    return [f"what would be seen to be worse: {seen}"]


def _list(hosts: Sequence[str]) -> str:
    return listed([printable(host, 80) for host in hosts], MAX_HOSTS)
