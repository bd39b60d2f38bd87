"""Makes the collective I/O of a program faster, or leaves it as it is: record, choose, prove.

Nothing is believed that was not seen: a setting is kept only if the program was faster with it, in
pairs of starts that had no part in choosing it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from isochrone.improve.program_io.proposals import Proposal
from isochrone.improve.program_io.race import Duel, Heats, Timed, duel, heats, most_starts
from isochrone.improve.program_io.summary import Summary, summary
from isochrone.improve.program_io.trials import Trials
from isochrone.runfile.run import Run

__all__ = ["Choose", "Wish", "tune"]

LONGEST: Final = 600.0
"""Seconds that pairs may take beyond those that were asked for."""


@dataclass(frozen=True)
class Wish:
    """What the user asked for.

    Attributes
    ----------
    launches
        Pairs of starts that prove a gain.
    least
        Part of the run time that collective calls must have for anything to be tried.
    """

    launches: int
    least: float


Choose = Callable[[Run, Summary], tuple[Sequence[Proposal], Mapping[str, Any]]]
"""Returns promising ways, best first, and what the report says of how they were chosen."""


def tune(trials: Trials, wish: Wish, choose: Choose, document: dict[str, Any]) -> Proposal | None:
    """Record, choose and prove; return what is to be kept, if anything is.

    ``document`` is filled as results come, so that it holds all of them whatever ends the work.
    """
    run, whole = trials.first()
    document["starts"] = 1
    found = summary(run, whole)
    document |= found.to_json()
    document["why"] = found.nothing_to_gain(wish.least)
    if document["why"]:
        return None
    trials.tell(_first_words(document))
    proposals, said = choose(run, found)
    document |= said
    trials.ways = {str(number): one for number, one in enumerate(proposals, start=1)}
    document["choices"] = [{"name": name, **one.to_json()} for name, one in trials.ways.items()]
    if not proposals:
        document["why"] = "no setting is expected to be faster"
        return None
    starts = most_starts(len(proposals), wish.launches)
    trials.tell(
        f"{len(proposals)} settings to try: at most {starts} starts of about {whole:.3g} s, "
        f"{starts * whole / 60:.1f} minutes"
    )
    try:
        return _race(trials, wish, whole, document)
    finally:
        document["starts"] = 1 + trials.started
        _add_times(document, trials)


def _race(trials: Trials, wish: Wish, whole: float, document: dict[str, Any]) -> Proposal | None:
    """Choose by heats, judge by a duel."""
    chosen = heats(trials.start, list(trials.ways))
    for one in document["choices"]:
        one["dropped"] = _why_dropped(chosen, trials, one["name"])
    if chosen.winner is None:
        document["why"] = "none of the settings was faster when it was tried"
        return None
    winner = trials.ways[chosen.winner]
    trials.tell(f"{chosen.winner} ({winner.words}) is compared with the given settings, in pairs")
    most = max(wish.launches, wish.launches + int(LONGEST / (2 * whole)))
    judged = duel(trials.start, chosen.winner, wish.launches, most)
    if judged is None:
        document["why"] = f"with the setting, {trials.failures[chosen.winner]}"
        return None
    document |= _of_duel(judged, winner)
    document["why"] = judged.why_not
    return None if judged.why_not else winner


def _of_duel(judged: Duel, winner: Proposal) -> dict[str, Any]:
    calls, whole = judged.calls.to_json(), judged.whole.to_json()
    return {
        "given": {"calls": calls["given"], "whole": whole["given"], "starts": _all(judged.given)},
        "proposed": {
            **winner.to_json(), "calls": calls["proposed"], "whole": whole["proposed"],
            "starts": _all(judged.proposed),
        },
        "gain": calls,
        "whole_gain": whole,
    }  # fmt: skip


def _why_dropped(chosen: Heats, trials: Trials, name: str) -> str | None:
    return trials.failures.get(name) or chosen.dropped.get(name)


def _add_times(document: dict[str, Any], trials: Trials) -> None:
    """Add what was measured of each choice, in all of its starts."""
    for one in document["choices"]:
        one["starts"] = _all(trials.times.get(one["name"], []))


def _all(times: Sequence[Timed]) -> list[dict[str, float]]:
    return [dict(vars(one)) for one in times]


def _first_words(document: Mapping[str, Any]) -> str:
    possible = document["best_possible"]
    return f"At best the program becomes {possible['gain']:.2f} times as fast: {possible['why']}"
