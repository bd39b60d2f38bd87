"""Whose computation it is: what the calls of a rank leave open and those of others tell."""

from collections.abc import Container, Sequence
from statistics import median

from isochrone.applications.thresholds import (
    MIN_EXCHANGE_SHARE,
    MIN_PHASE_COMPUTATION,
    MOST_OMITTED,
)
from isochrone.applications.traces.gaps import NOTHING, Spent
from isochrone.applications.traces.places import ByRank, Place, parts
from isochrone.applications.traces.rounds import Round
from isochrone.applications.traces.trace import Gap


def settle(rounds: list[Round]) -> None:
    """Tell apart what the calls of one rank leave open but those of others tell.

    Who only sends computes before an exchange and within it without a call in between; so does
    who only receives, after it.
    """
    for round_ in rounds:
        if round_.kind in ("stream", "token"):
            undivided = {
                rank: round_.within[rank] for rank in round_.within.keys() - round_.before.keys()
            }
            for rank, spent in undivided.items():
                round_.before[rank], round_.within[rank] = _parted(
                    spent, round_.before, round_.within, undivided
                )
    following: dict[int, Round] = {}
    next_rounds = []
    for round_ in reversed(rounds):
        next_rounds.append({rank: following.get(rank) for rank in round_.ranks})
        following |= dict.fromkeys(round_.ranks, round_)
    for round_, next_of in zip(rounds, reversed(next_rounds), strict=True):
        if round_.kind == "stream":
            typical = [s.mean for r, s in round_.within.items() if r in round_.before] or [
                s.mean for s in round_.within.values()
            ]
            for rank in round_.before.keys() - round_.within.keys():
                later = next_of[rank]
                if later is not None and typical:
                    moved = _taken_back(later, rank, median(typical))
                    if moved.mean > 0:
                        round_.within[rank] = moved


def _taken_back(later: Round, rank: int, typical: float) -> Spent:
    """Take what a rank computed for the round before out of a later one, as far as it is there."""
    last = rank not in later.within and later.kind == "stream"
    others = [
        later.before.get(r, NOTHING).mean + (0.0 if last else later.within.get(r, NOTHING).mean)
        for r in later.ranks
        if r != rank and (last or later.kind != "stream" or r in later.within)
    ]
    before, within = later.before.get(rank, NOTHING), later.within.get(rank, NOTHING)
    mean = min(typical, before.mean + within.mean - min(others, default=0.0))
    if mean <= MIN_EXCHANGE_SHARE * typical:
        return NOTHING
    first = min(mean, before.mean)
    later.before[rank] = Spent(Gap(), before.mean - first)
    if mean > first:
        later.within[rank] = Spent(Gap(), within.mean - (mean - first))
    return Spent(Gap(), mean)


def _parted(
    undivided: Spent, before: ByRank, within: ByRank, out: Container[int]
) -> tuple[Spent, Spent]:
    """Part computation as that of the other ranks is parted, if it may be as theirs."""
    first = [spent.mean for rank, spent in before.items() if rank not in out]
    second = [spent.mean for rank, spent in within.items() if rank not in out]
    first_mean, second_mean = median(first or [0.0]), median(second or [0.0])
    if first_mean <= MIN_EXCHANGE_SHARE * second_mean or first_mean == 0:
        return NOTHING, undivided
    if undivided.may_be(first_mean + second_mean):
        return Spent(Gap(), first_mean), Spent(Gap(), second_mean)
    second_mean = min(second_mean, undivided.mean)
    return Spent(undivided.gap, undivided.mean - second_mean), Spent(Gap(), second_mean)


def bring_forward(places: list[Place]) -> None:
    """Let ranks that sit out a round compute before it what the others do, if it may be that.

    No call of theirs says on which side of the round they computed.
    """
    rounds = [place.round for place in places]
    for index, round_ in enumerate(rounds):
        typical = [spent.mean for spent in round_.before.values() if spent.mean > 0]
        if len(typical) < len(round_.ranks):
            continue
        for further, following in enumerate(rounds[index + 1 :], index + 1):
            if places[further].visits != places[index].visits:
                continue
            for rank in [r for r in following.before if r not in round_.before]:
                if any(rank in r.ranks for r in rounds[index:further]):
                    continue
                others = [s.mean for r, s in following.before.items() if r in round_.before]
                undivided, later = following.before[rank], median(others or [0.0])
                if undivided.may_be(median(typical) + later):
                    round_.before[rank] = Spent(Gap() if later else undivided.gap, median(typical))
                    following.before[rank] = Spent(Gap(), later)


def gather_small(recordings: Sequence[list[Place]]) -> None:
    """Put computation too short for a phase of its own to the next one that is not.

    If recordings have the same number of places, what is not too short in one of them is kept in
    all.
    """
    large = list(map(_large, recordings))
    if len(set(map(len, large))) == 1:
        large = [[any(of) for of in zip(*large, strict=True)]] * len(recordings)
    for places, keep in zip(recordings, large, strict=True):
        _gather(places, keep)


def _parts(places: list[Place]) -> list[tuple[Place, ByRank]]:
    return [(place, by_rank) for place in places for by_rank in parts(place.round)]


def _times(place: Place, by_rank: ByRank) -> int:
    return place.visits * (place.round.answers if by_rank is place.round.within else 1)


def _large(places: list[Place]) -> list[bool]:
    """Return whether each part of the places is long enough for a phase of its own."""
    pairs = _parts(places)
    sums = [  # of the slowest rank, which others may wait for
        max((spent.mean for spent in by_rank.values()), default=0.0) * _times(place, by_rank)
        for place, by_rank in pairs
    ]
    large = []
    for (place, _), seconds in zip(pairs, sums, strict=True):
        alike = [s for (p, _), s in zip(pairs, sums, strict=True) if p.visits == place.visits]
        large.append(
            seconds
            > max(2 * MIN_PHASE_COMPUTATION * sum(alike) / len(alike), MOST_OMITTED * sum(sums))
        )
    return large


def _gather(places: list[Place], large: Sequence[bool]) -> None:
    carried: dict[int, Spent] = {}
    pairs = [*zip(_parts(places), large, strict=True)] * (2 if any(large) else 1)
    for (place, by_rank), keep in pairs:
        for rank in list(by_rank):
            if not keep:
                spent = by_rank.pop(rank).scaled(_times(place, by_rank))
                carried[rank] = carried[rank] + spent if rank in carried else spent
            elif rank in carried and not (
                by_rank is place.round.within and place.round.answers > 1
            ):
                by_rank[rank] += carried.pop(rank).scaled(1 / _times(place, by_rank))
