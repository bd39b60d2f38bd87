"""Loops over levels, each of a coarser grid of ranks or of another bit, for any number of ranks.

Bytes, and seconds in all turns but the first, are a power of how far the ranks are apart. On its
way back from the coarsest level, a loop waits for what some compute on levels without messages.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from statistics import median

import numpy as np

from isochrone.applications.thresholds import MAX_FUNCTION_ERROR
from isochrone.applications.traces.fitting import Fit
from isochrone.applications.traces.gaps import Number, Written
from isochrone.applications.traces.offsets import faces, offsets
from isochrone.applications.traces.places import Again, ByRank, Place, Tree, parts
from isochrone.applications.traces.rounds import Round
from isochrone.applications.traces.steps import SHIFTS, Distances, Level, farther, formula

Sweeps = tuple[int, int]
"""Turns of a loop on each level on the way to the coarsest one, and on the way back."""

_TURN = "{turn}"
"""Stands for the time where a loop turns back, until all other times are known."""


def has_levels(loops: Sequence[Again]) -> bool:
    """Whether turns of loops differ in how far the ranks are apart."""
    return any(
        len({turn.apart for turn in place.turns}) > 1
        for loop in loops
        for place in loop.body
        if isinstance(place, Place)
    )


def nested(loops: Sequence[Again]) -> Sequence[Again]:
    """Return loops that go through all levels several times as loops of loops that do so once."""
    aparts = [
        [turn.apart for turn in place.turns]
        for place in loops[-1].body
        if isinstance(place, Place) and len({turn.apart for turn in place.turns}) > 1
    ]
    if not aparts:
        return loops
    count = len(aparts[0])
    levels = next(k for k in range(1, count + 1) if aparts[0] == aparts[0][:k] * (count // k))
    often = count // levels
    if often == 1 or any(loop.times % often for loop in loops):
        return loops
    return [
        Again(
            often,
            [
                Again(
                    loop.times // often,
                    [
                        replace(
                            place,
                            period=loop.times // often,
                            turns=place.turns[: loop.times // often],
                        )
                        for place in loop.body
                        if isinstance(place, Place)
                    ],
                )
            ],
        )
        for loop in loops
    ]


def there_and_back(loops: Sequence[Again]) -> Sweeps | None:
    """Return how often loops are on each level, if they go to coarse levels and back."""
    if not has_levels(loops) or any(isinstance(of, Again) for loop in loops for of in loop.body):
        return None
    of_loops = [
        [
            [turn.apart for turn in place.turns] or [1] * loop.times
            for place in loop.body
            if isinstance(place, Place)
        ]
        for loop in loops
    ]
    most = max(of_loops[-1], key=max)
    runs = [len(list(run)) for _, run in groupby(most)]
    sweeps = runs[0], runs[-1]
    for places in of_loops:
        for aparts in places:
            levels, left = divmod(len(aparts), sum(sweeps))
            up = [2**level for level in range(levels)]
            expected = [apart for apart in up for _ in range(sweeps[0])]
            expected += [apart for apart in reversed(up) for _ in range(sweeps[1])]
            if left or aparts != expected:
                return None
    return sweeps


def turn_seconds(place: Place, turns: Sequence[Round]) -> tuple[list[float], ...]:
    """Return the computation of each turn before its round, and within it: of the slowest rank."""
    return place.paths or tuple(
        [max(means, default=0.0) for means in _of_turns(spent, turns)]
        for spent in parts(place.round)
    )


def _of_turns(spent: ByRank, turns: Sequence[Round]) -> Iterator[list[float]]:
    """Yield the mean seconds in each turn of those ranks that were in the one before, too.

    Others waited, and computed longer ago.
    """
    for turn, round_ in enumerate(turns):
        ranks = [
            spent[rank]
            for rank in round_.ranks
            if rank in spent and (turn == 0 or rank in turns[turn - 1].ranks)
        ]
        yield [float(np.mean(of.each[turn :: len(turns)] or [of.mean])) for of in ranks]


@dataclass
class Cycle:
    """A loop to coarse levels and back, as two loops.

    Attributes
    ----------
    halves
        Loops of all recordings to the coarsest level, and back.
    most
        Levels on any number of ranks; None: not known.
    seconds
        In both loops, of each recording: what the slowest rank computes.
    terms, turning
        If the levels are known: expressions of all times but that where the loop turns back, and
        the computation with that.
    """

    halves: tuple[list[Again], list[Again]]
    most: int | None
    seconds: list[float]
    terms: list[str] = field(default_factory=list)
    turning: Written = field(default_factory=dict)

    @classmethod
    def of(cls, loops: Sequence[Again], sweeps: Sweeps) -> Cycle:
        """Return loops as two each."""
        visits, seconds = [], []
        halves: tuple[list[Again], list[Again]] = [], []
        for loop in loops:
            there, back, usual = _parted(loop, sweeps)
            sums = [
                sum(of.paths[0])
                for half in (there, back)
                for of in half.body
                if isinstance(of, Place)
            ]
            seconds.append(sum(sums))
            visits.append(sum(sums) / usual if usual else 0.0)
            halves[0].append(there)
            halves[1].append(back)
        # levels without messages take as long as others, if there are as many visits in all
        counts = {loop.times // sum(sweeps) for loop in loops}
        levels = round((max(visits) + 1) / sum(sweeps) / len(loops[0].body))
        alike = max(visits) - min(visits) < MAX_FUNCTION_ERROR * max(visits)
        fixed = alike and levels >= max(counts)
        return cls(halves, levels if fixed and len(counts) > 1 else None, seconds)

    def close(self, fit: Fit) -> None:
        """Write the time where the loop turns back: what the others leave of all."""
        if self.turning:
            both = fit.value([1e6 * of for of in self.seconds], "the computation on all levels", "")
            rest = f"max({both} - {' - '.join(self.terms)}, 0)" if self.terms else both
            self.turning["time"] = self.turning["time"].replace(_TURN, str(rest))


def _parted(loop: Again, sweeps: Sweeps) -> tuple[Again, Again, float]:
    """Return a loop to coarse levels, the one back, and the usual time of a turn.

    Where it turns back, those who are on no finer level wait for what others compute on levels
    without messages. That is what the slowest rank computes in all, less the median in other turns.
    """
    count = loop.times // sum(sweeps)
    back = count * sweeps[0]
    bodies: list[Tree] = [[], []]
    usual = []
    for place in loop.body:
        assert isinstance(place, Place)
        turns = place.turns or [place.round] * loop.times
        paths = []
        for spent in parts(place.round):
            of_turns = list(_of_turns(spent, turns))
            path = [median(means or [0.0]) for means in of_turns]
            longest = max((spent[r].mean for r in turns[back].ranks if r in spent), default=0.0)
            alone = path[back]
            path[back] = max(longest * loop.times - sum(path) + alone, 0.0)
            paths.append(path)
            if spent is place.round.before:
                others = [path[k] for k in range(1, loop.times) if k != back]
                usual.append(median(others or [alone]))
        for body, first, end, often in (
            (bodies[0], 0, back, sweeps[0]),
            (bodies[1], back, loop.times, sweeps[1]),
        ):
            for sweep in range(often):
                part = slice(first + sweep, end, often)
                body.append(
                    Place(
                        replace(place.round),
                        place.visits // sum(sweeps),
                        count,
                        turns[part],
                        tuple(path[part] for path in paths),
                    )
                )
    return Again(count, bodies[0]), Again(count, bodies[1]), median(usual)


class Levels:
    """A place of a loop over levels, of several recordings.

    Raises
    ------
    InputError
        If it follows no rule.
    """

    def __init__(self, fit: Fit, places: Sequence[Place], step: str, times: str, path: str) -> None:
        self.fit, self.places, self.path = fit, places, path
        self.step, self.times = step, times
        self.turns = [place.turns or [place.round] * place.period for place in places]
        nearest = [min(turn.apart for turn in of) for of in self.turns]
        ratios = [
            [turn.apart // least for turn in of]
            for of, least in zip(self.turns, nearest, strict=True)
        ]
        by_ranks = dict(zip(fit.ranks, ratios, strict=True))
        ratio = formula(by_ranks, step, farther(step, times))
        if ratio is None:
            listing = "; ".join(", ".join(map(str, of)) for of in ratios)
            problem = f"the distances of its ranks follow no rule: {listing}"
            raise fit.refuse(f"position {path}", problem)
        least = fit.whole(nearest, "the distances of ranks", path)
        self.apart = ratio if least == 1 else f"{least}*{ratio}"
        self.distances = Distances(step, ratio, ratios)
        self.family = self.turns[-1][0].family
        self.among: Written = {}
        if isinstance(self.family, Level):
            grid = self.family.grid
            self.among = {"dimensions": grid.dimensions, "apart": self.apart, **grid.numbering}

    def phases(self, cycle: Cycle | None) -> list[Written]:
        """Return the computation before it and the operation or exchange, as of any turn."""
        call = self.places[-1].round.call
        power = 0.0
        if call is None:
            value, power = self._exchange()
            done = "exchange"
        else:
            sizes = [[turn.call.bytes for turn in of if turn.call] for of in self.turns]
            size, power = self._by_distance(sizes, f"the size of {call.op}")
            value = {"bytes": size} if call.op != "barrier" else {}
            value["among"] = self.among
            done = call.op
        phases = []
        paths = [turn_seconds(*pair) for pair in zip(self.places, self.turns, strict=True)]
        for side, seconds in enumerate(zip(*paths, strict=True)):
            if not any(map(any, seconds)):
                continue
            compute: Written = {"time": self._time(seconds, power, None if side else cycle)}
            compute |= {"among": self.among} if self.among else {}
            if _TURN in compute["time"] and cycle is not None:
                cycle.turning = compute
            if side:
                value["compute"] = compute
            else:
                phases.append(self.fit.phase("compute", compute))
        return [*phases, self.fit.phase(done, value)]

    def _exchange(self) -> tuple[Written, float]:
        """Return partners and sizes of messages, and of which power of the distance time may be."""
        family = self.family
        if not isinstance(family, Level):
            sizes = [
                [sum(size for *_, size in turn.messages) / len(turn.messages) for turn in of]
                for of in self.turns
            ]
            size, power = self._by_distance(sizes, "the mean size of messages")
            topology: Written = {"butterfly": {"size": 2, "stride": self.apart}}
            if family == SHIFTS:
                around = {"dimensions": 1, "periodic": True, "list": [{"to": [self.apart]}]}
                topology = {"offsets": around}
            return {"topology": topology, "flow": "exchange", "bytes": f"round({size})"}, power
        pairs = [(p, turn) for p, of in zip(self.fit.ranks, self.turns, strict=True) for turn in of]
        pairs.sort(key=lambda pair: (-pair[1].apart, pair[0]))  # the last has all offsets
        ranks, turns = zip(*pairs, strict=True)
        partners = offsets(
            [turn.messages for turn in turns], ranks, [turn.apart for turn in turns], [family.grid]
        )
        if partners is None:
            problem = "its neighbours differ from turn to turn"
            raise self.fit.refuse(f"position {self.path}", problem)
        by_turn = {id(turn): of for turn, of in zip(turns, partners.sizes, strict=True)}
        listed, powers = [], []
        dimensions = family.grid.dimensions
        for offset in partners.sizes[-1]:
            sizes = [[by_turn[id(turn)].get(offset, math.nan) for turn in of] for of in self.turns]
            size, power = self._by_distance(
                sizes, f"the size of messages to {offset}", faces(offset, dimensions)
            )
            listed.append({"to": list(offset), "bytes": size})
            powers.append(power)
        written = {"dimensions": dimensions, "apart": self.apart, "list": listed}
        written |= {"periodic": True} if family.grid.periodic else {}
        written |= family.grid.numbering
        of_volume = dimensions / max(dimensions - 1, 1)  # if messages are faces
        return {"topology": {"offsets": written}, "flow": "exchange"}, min(powers) * of_volume

    def _by_distance(
        self, values: Sequence[Sequence[float]], subject: str, first: str = ""
    ) -> tuple[Number, float]:
        """Return values as a function of p times a power of the distance; and the power."""
        power, levels = self.distances.power(values)
        text = self.fit.value(levels, subject, self.path, first=first)
        return self.distances.times(text, power), power

    def _time(self, seconds: Sequence[Sequence[float]], likely: float, cycle: Cycle | None) -> str:
        """Return the time of a turn; the first one may have one of its own."""
        us = [[1e6 * time for time in of] for of in seconds]
        terms: list[str] = []
        later: Number = "0"
        first: Number = "0"
        if any(time > 0 for of in us for time in of[1:]):
            values = [[math.nan, *of[1:]] for of in us]
            power, levels = self.distances.power(values, likely)
            base = self.fit.value(levels, "the computation of a turn", self.path)
            later = self.distances.times(base, power)
            terms.append(f"{base}*{self.distances.total(power, self.times)}")
        turning = cycle is not None and any(
            place is half.body[0] for half in cycle.halves[1] for place in self.places
        )
        if turning and cycle is not None and cycle.most is not None:
            first = _TURN
        elif any(of[0] for of in us):
            power, levels = 0.0, [of[0] for of in us]
            if turning:  # of the coarsest level, which is another on more ranks
                farthest = [[max(of) for of in self.distances.ratios]]
                power, _ = replace(self.distances, ratios=farthest).power([levels])
                levels = [of / apart**power for of, apart in zip(levels, farthest[0], strict=True)]
            text = self.fit.value(levels, "the first computation", self.path)
            first = self.distances.times(text, power)
            terms.append(str(text))
        if cycle is not None:
            cycle.terms += terms
        begun = f"min({self.step}, 1)"
        return f"1us*(({first})*(1 - {begun}) + ({later})*{begun})"
