"""Tunes the collective I/O of a program: record, choose, verify.

A setting is accepted only if the program was faster with it, in pairs of starts that were not used
to choose it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from time import monotonic
from typing import NamedTuple

from isochrone.base.documents import IfKnown, Inline, plain
from isochrone.base.inference import Speedup
from isochrone.base.record import Members, Record
from isochrone.base.verdicts import Change
from isochrone.collective_io.program.chooser import Machine
from isochrone.collective_io.program.summary import Summary, summary
from isochrone.collective_io.program.trials import Proposal, Trials
from isochrone.measure.elimination import ROUNDS, Timed, duel, heats
from isochrone.runfile.run import Run

MAX_PAIRS_SECONDS = 600.0
"""Seconds for additional pairs."""


class Wish(NamedTuple):
    """Options of the user.

    Attributes
    ----------
    launches
        Pairs of starts that confirm a gain.
    least
        Minimum share of collective calls in the run time.
    """

    launches: int
    least: float

    def most(self, wall_seconds: float) -> int:
        """Return the largest number of pairs, if a start takes ``wall_seconds`` seconds."""
        affordable = self.launches + int(MAX_PAIRS_SECONDS / (2 * wall_seconds))
        return min(ROUNDS[-1] * self.launches, affordable)


class _Given:
    calls: float
    whole: float
    starts: list[Timed]


class _Proposed(_Given):
    way: Inline[Proposal]


class _Choice:
    name: str
    way: Inline[Proposal]
    dropped: IfKnown[str | None]
    starts: IfKnown[list[Timed]]
    gain: IfKnown[Speedup | None]


class _Pattern:
    pattern: int
    file: int
    op: str
    bytes: int
    pieces: int
    calls: int
    seconds: float


class _Bound:
    gain: float
    seconds: float
    why: str


class _Portable:
    name: str | None
    why: str
    verdict: IfKnown[Change]
    given: IfKnown[_Given]
    proposed: IfKnown[_Proposed]
    gain: IfKnown[Speedup]
    whole_gain: IfKnown[Speedup]
    kept: IfKnown[str]
    use: IfKnown[list[str]]


class Tuned(Record):
    """Result of tuning.

    Attributes
    ----------
    kept
        The file to use.
    portable
        The best setting whose gain does not depend on a file system of one host.
    verdict
        On the winner, by the pairs.
    local_filesystems
        Of one host: memory, local disks.
    """

    command: list[str]
    launches: int
    complete: bool = False
    patterns: Sequence[_Pattern] = ()
    parts: Mapping[str, float] = {}
    best_possible: _Bound | None = None
    choices: Sequence[_Choice] = ()
    given: _Given | None = None
    proposed: _Proposed | None = None
    gain: Speedup | None = None
    whole_gain: Speedup | None = None
    kept: str | None = None
    use: Sequence[str] = ()
    why: str = ""
    verdict: IfKnown[Change] = None
    starts: int = 0
    warnings: Sequence[str] = ()
    portable: _Portable | None = None
    whole_seconds: IfKnown[float] = None
    call_seconds: IfKnown[float] = None
    share: IfKnown[float] = None
    filesystems: IfKnown[list[str]] = None
    local_filesystems: IfKnown[list[str]] = None
    library: IfKnown[str] = None
    model: IfKnown[Machine] = None
    advice: IfKnown[str] = None


Choose = Callable[[Run, Summary], tuple[Sequence[Proposal], Members]]
"""Returns promising proposals, best first, and the report on their choice."""


def tune(trials: Trials, wish: Wish, choose: Choose, document: Members) -> Proposal | None:
    """Record, choose and verify; return the accepted setting, if any.

    ``document`` is filled as results arrive, so that an interruption loses none.
    """
    began = monotonic()
    run, wall_seconds = trials.first()
    launch = max(
        wall_seconds, monotonic() - began
    )  # with the command before it, and the recording read
    document["starts"] = starts = int(trials.earlier is None)
    recorded = summary(run, wall_seconds)
    document |= recorded.document()
    document["why"] = recorded.nothing_to_gain(wish.least)
    if document["why"]:
        return None
    possible = document["best_possible"]
    trials.report(
        f"If access to files took no time, this launch would be {possible['gain']:.2f} times as "
        f"fast: {possible['why']}"
        if possible
        else "No model predicts nonblocking or ordered collectives: the whole program is timed"
    )
    proposals, report = choose(run, recorded)
    document |= report
    trials.ways = ways = {str(index): way for index, way in enumerate(proposals, start=1)}
    document["choices"] = [{"name": name, **plain(proposal)} for name, proposal in ways.items()]
    if not ways:
        document["why"] = "no setting is expected to be faster"
        return None
    heat = len(ways) + 1
    fewest = 2 * heat
    duels = (1 + _rests_on_local(document, proposals)) * wish.most(wall_seconds)
    largest = fewest + heat * (wish.launches - 2) + 2 * duels
    trials.report(
        f"{len(ways)} settings to try: {fewest} to {largest} launches of about {launch:.3g} s, "
        f"{fewest * launch / 60:.1f} to {largest * launch / 60:.1f} minutes"
    )
    try:
        return _race(trials, wish, wall_seconds, document)
    finally:
        document["starts"] = starts + trials.started
        for choice in document["choices"]:
            choice["starts"] = trials.times.get(choice["name"], [])


def _rests_on_local(document: Members, ways: Iterable[Proposal]) -> bool:
    """Whether memory or a local disk may explain the gain of one of these proposals."""
    return bool(document["local_filesystems"]) and not all(proposal.portable for proposal in ways)


def _race(
    trials: Trials,
    wish: Wish,
    wall_seconds: float,
    document: Members,
) -> Proposal | None:
    """Choose by heats, confirm by a duel; by another duel if the winner is not portable."""
    ways = trials.ways
    chosen = heats(trials.start, list(ways), wish.launches)
    choices = {choice["name"]: choice for choice in document["choices"]}
    for name, choice in choices.items():
        choice["dropped"] = trials.failures.get(name) or chosen.dropped.get(name)
        choice["gain"] = chosen.gain(name)
    if chosen.winner is None:
        document["why"] = "no tried setting was faster"
        return None
    winner = ways[chosen.winner]
    document |= _judged(trials, wish, wall_seconds, chosen.winner)
    choices[chosen.winner]["gain"] = document["gain"]
    if document["why"]:
        return None
    if _rests_on_local(document, [winner]):
        name = chosen.fastest(name for name, proposal in ways.items() if proposal.portable)
        document["portable"] = {"name": name} | (
            _judged(trials, wish, wall_seconds, name)
            if name
            else {"why": "no portable setting was faster"}
        )
        if name:
            choices[name]["gain"] = document["portable"]["gain"]
    return winner


def _judged(trials: Trials, wish: Wish, wall_seconds: float, name: str) -> Members:
    """Compare a proposal with the given settings in pairs; ``why`` is the reason to reject it."""
    way = trials.ways[name]
    trials.report(f"{name} ({way.words}) and the given settings are compared in pairs")
    judged = duel(trials.start, name, wish.launches, wish.most(wall_seconds))
    if judged is None:
        return {"gain": None, "why": f"with the setting, {trials.failures[name]}"}
    calls, whole_gain = judged.calls, judged.whole
    return {
        "given": {"calls": calls.given, "whole": whole_gain.given, "starts": judged.given},
        "proposed": {
            **plain(way),
            "calls": calls.proposed,
            "whole": whole_gain.proposed,
            "starts": judged.proposed,
        },
        "gain": calls,
        "whole_gain": whole_gain,
        "verdict": judged.verdict,
        "why": judged.why_not,
    }
