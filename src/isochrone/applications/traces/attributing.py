"""Whose computation it is: what the calls of a rank leave open and those of others tell."""

from collections.abc import Container, Sequence
from statistics import median

from isochrone.applications.traces.gaps import NOTHING, Spent
from isochrone.applications.traces.places import MOST_OMITTED, ByRank, Place, parts, total
from isochrone.applications.traces.rounds import Round
from isochrone.applications.traces.trace import Gap

SMALL = 0.02
"""Share of the mean computation of a phase below which it is put to that of the next one."""

LITTLE = 0.05
"""Share of what is computed within an exchange below which nothing is computed before it."""


def settle(found: list[Round]) -> None:
    """Tell apart what the calls of one rank leave open but those of others tell.

    Who only sends computes before an exchange and within it without a call in between; so does
    who only receives, after it.
    """
    for one in found:
        if one.kind in ("stream", "token"):
            whole = {rank: one.within[rank] for rank in one.within.keys() - one.before.keys()}
            for rank, spent in whole.items():
                one.before[rank], one.within[rank] = _parted(spent, one.before, one.within, whole)
    following: dict[int, Round] = {}
    after = []
    for one in reversed(found):
        after.append({rank: following.get(rank) for rank in one.ranks})
        following |= dict.fromkeys(one.ranks, one)
    for one, next_of in zip(found, reversed(after), strict=True):
        if one.kind == "stream":
            usual = [s.mean for r, s in one.within.items() if r in one.before] or [
                s.mean for s in one.within.values()
            ]
            for rank in one.before.keys() - one.within.keys():
                later = next_of[rank]
                if later is not None and usual:
                    moved = _taken_back(later, rank, median(usual))
                    if moved.mean > 0:
                        one.within[rank] = moved


def _taken_back(later: Round, rank: int, usual: float) -> Spent:
    """Take what a rank computed for the round before out of a later one, as far as it is there."""
    last = rank not in later.within and later.kind == "stream"
    others = [
        later.before.get(r, NOTHING).mean + (0.0 if last else later.within.get(r, NOTHING).mean)
        for r in later.ranks
        if r != rank and (last or later.kind != "stream" or r in later.within)
    ]
    before, within = later.before.get(rank, NOTHING), later.within.get(rank, NOTHING)
    mean = min(usual, before.mean + within.mean - min(others, default=0.0))
    if mean <= LITTLE * usual:
        return NOTHING
    first = min(mean, before.mean)
    later.before[rank] = Spent(Gap(), before.mean - first)
    if mean > first:
        later.within[rank] = Spent(Gap(), within.mean - (mean - first))
    return Spent(Gap(), mean)


def _parted(
    whole: Spent, before: ByRank, within: ByRank, out: Container[int]
) -> tuple[Spent, Spent]:
    """Part computation as that of the other ranks is parted, if it may be as theirs."""
    first = [spent.mean for rank, spent in before.items() if rank not in out]
    second = [spent.mean for rank, spent in within.items() if rank not in out]
    one, two = median(first or [0.0]), median(second or [0.0])
    if one <= LITTLE * two or one == 0:
        return NOTHING, whole
    if whole.may_be(one + two):
        return Spent(Gap(), one), Spent(Gap(), two)
    two = min(two, whole.mean)
    return Spent(whole.gap, whole.mean - two), Spent(Gap(), two)


def bring_forward(places: list[Place]) -> None:
    """Let ranks that sit out a round compute before it what the others do, if it may be that.

    No call of theirs says on which side of the round they computed.
    """
    found = [place.round for place in places]
    for number, one in enumerate(found):
        usual = [spent.mean for spent in one.before.values() if spent.mean > 0]
        if len(usual) < len(one.ranks):
            continue
        for further, following in enumerate(found[number + 1 :], number + 1):
            if places[further].visits != places[number].visits:
                continue
            for rank in [r for r in following.before if r not in one.before]:
                if any(rank in r.ranks for r in found[number:further]):
                    continue
                others = [s.mean for r, s in following.before.items() if r in one.before]
                whole, later = following.before[rank], median(others or [0.0])
                if whole.may_be(median(usual) + later):
                    one.before[rank] = Spent(Gap() if later else whole.gap, median(usual))
                    following.before[rank] = Spent(Gap(), later)


def gather_small(recordings: Sequence[list[Place]]) -> None:
    """Put computation too short for a phase of its own to the next one that is not.

    If recordings have the same number of places, what is not too short in one of them is kept in
    all.
    """
    large = list(map(_large, recordings))
    if len(set(map(len, large))) == 1:
        large = [[any(of) for of in zip(*large, strict=True)]] * len(recordings)
    for places, kept in zip(recordings, large, strict=True):
        _gather(places, kept)


def _parts(places: list[Place]) -> list[tuple[Place, ByRank]]:
    return [(place, part) for place in places for part in parts(place.round)]


def _times(place: Place, part: ByRank) -> int:
    return place.visits * (place.round.answers if part is place.round.within else 1)


def _large(places: list[Place]) -> list[bool]:
    """Return whether each part of the places is long enough for a phase of its own."""
    pairs = _parts(places)
    sums = [total(part) * _times(place, part) for place, part in pairs]
    large = []
    for (place, _), one in zip(pairs, sums, strict=True):
        alike = [s for (p, _), s in zip(pairs, sums, strict=True) if p.visits == place.visits]
        large.append(one > max(2 * SMALL * sum(alike) / len(alike), MOST_OMITTED * sum(sums)))
    return large


def _gather(places: list[Place], large: Sequence[bool]) -> None:
    carried: dict[int, Spent] = {}
    pairs = [*zip(_parts(places), large, strict=True)] * (2 if any(large) else 1)
    for (place, part), kept in pairs:
        for rank in list(part):
            if not kept:
                spent = part.pop(rank).scaled(_times(place, part))
                carried[rank] = carried[rank] + spent if rank in carried else spent
            elif rank in carried and not (part is place.round.within and place.round.answers > 1):
                part[rank] += carried.pop(rank).scaled(1 / _times(place, part))
