"""Values of several recordings as functions of the number of ranks, and what is doubtful there."""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from isochrone.applications.thresholds import (
    EQUAL_MEANS,
    FACTORS,
    MAX_FUNCTION_ERROR,
    MAX_MEAN_ERRORS,
    MIN_UNRULED_SHARE,
    NEGLIGIBLE,
    REST,
    UNEVEN,
)
from isochrone.applications.traces.gaps import (
    Number,
    Spent,
    Written,
    computation,
    in_turn,
    noise,
    plain,
    seconds,
)
from isochrone.applications.traces.growth import Growth, growth, whole
from isochrone.applications.traces.places import Place
from isochrone.applications.traces.small import LeftOut
from isochrone.applications.traces.structure import Structure
from isochrone.base.errors import InputError


class Fit:
    """Writes values of several numbers of ranks as functions of it.

    Parameters
    ----------
    structures
        Recordings, those on fewest ranks first.
    name
        Of the program.
    below
        Coefficients are those of recordings on fewer ranks.
    grids
        Dimensions of the grids that messages of the program have.

    Attributes
    ----------
    spread
        By what part the time may be off for what follows no rule.
    open
        Of each phase, the functions that were fitted for it.
    """

    def __init__(
        self, structures: Sequence[Structure], name: str, below: float, grids: set[int]
    ) -> None:
        self.structures, self.name, self.below, self.grids = structures, name, below, grids
        self.ranks = [recording.ranks for recording in structures]
        self.warnings = dict.fromkeys(
            text for recording in structures for text in recording.warnings
        )
        self.spread = 0.0
        self.open: list[dict[str, Growth]] = []
        self.fitted: dict[str, Growth] = {}
        self.left_out = LeftOut([recording.ranks * recording.seconds for recording in structures])

    def warn(self, text: str, spread: float = 0.0) -> None:
        """Note what is doubtful, and by what part the time may be off for it."""
        self.warnings[text] = None
        self.spread += spread

    def refuse(self, where: str, problem: str) -> InputError:
        """Return the error that says what follows no rule, and where."""
        counts = ", ".join(map(str, self.ranks))
        return InputError(
            f"the program cannot be extrapolated to other numbers of ranks: {problem}",
            where=f"{self.name} {where}",
            hint=f"recorded on {counts} ranks",
        )

    def phase(self, kind: str, value: object) -> Written:
        """Return a phase, and note the functions that were fitted for it."""
        self.open.append(self.fitted)
        self.fitted = {}
        return {kind: value}

    def value(
        self,
        values: Sequence[float],
        subject: str,
        path: str,
        *,
        first: str = "",
        noise: float = 0.0,
        visits: Sequence[int] = (),
    ) -> Number:
        """Return values, NaN where there are none, as a function of p."""
        by_ranks = {p: v for p, v in zip(self.ranks, values, strict=True) if not math.isnan(v)}
        by_visits = dict(zip(self.ranks, visits, strict=True)) if visits else None
        for error in (noise, max(noise, MAX_FUNCTION_ERROR)):
            formula = growth(
                by_ranks, first, noise=error, below=self.below, grids=self.grids, visits=by_visits
            )
            if formula is not None:
                break
        listing = ", ".join(f"{value:.4g}" for value in by_ranks.values())
        if formula is None:
            raise self.refuse(
                f"position {path}",
                f"{subject} is not a known function of the number of ranks p: {listing}",
            )
        if formula.error > max(MAX_FUNCTION_ERROR, MAX_MEAN_ERRORS * noise):
            self.warn(
                f"position {path}: {subject} follows no function of p ({listing}); the nearest one "
                f"is {formula.error:.0%} off"
            )
        self.fitted[f"position {path}: {subject}"] = formula
        return _plain(formula.text)

    def whole(
        self, values: Sequence[int], subject: str, path: str, *, levels: bool = False
    ) -> Number:
        """Return whole numbers as the function of p that has exactly these values."""
        by_ranks = dict(zip(self.ranks, values, strict=True))
        text = whole(by_ranks, levels=levels, grids=self.grids)
        if text is None:
            listing = ", ".join(map(str, values))
            raise self.refuse(f"position {path}", f"{subject} are {listing}")
        return _plain(text)

    def computing(
        self, places: Sequence[Place], side: int, period: int, path: str
    ) -> str | Written | None:
        """Return the computation of a place: that of the most ranks, times a function of p.

        What is negligible need follow no rule.
        """
        spent = [(place.round.before, place.round.within)[side] for place in places]
        if side == 0 and all(len(place.round.among) == 1 for place in places):
            turns = [in_turn(by) for by in spent]
            spent = turns if all(turns) else spent
        seen = [[of_rank.mean for of_rank in by_rank.values()] or [0.0] for by_rank in spent]
        means = np.array([sum(of) for of in seen]) / self.ranks
        if means[-1] <= 0:
            return None
        longest = np.array([max(of) for of in seen])
        visits = [place.visits for place in places]
        share = float(
            max(longest * visits / [max(recording.seconds, 1e-12) for recording in self.structures])
        )
        slowest = longest[means > 0] / means[means > 0]
        varies = noise(spent)
        try:
            uneven = float(max(slowest) / min(slowest))
            if uneven > UNEVEN + MAX_MEAN_ERRORS * varies:
                slowest_ranks = [max(by, key=lambda rank: by[rank].mean, default=0) for by in spent]
                if len(set(slowest_ranks)) == 1:
                    return self.of_slowest(spent, slowest_ranks, str(slowest_ranks[0]), path)
                if all(rank == p - 1 for rank, p in zip(slowest_ranks, self.ranks, strict=True)):
                    return self.of_slowest(spent, slowest_ranks, "", path)
                self.warn(
                    f"position {path}: the slowest rank computes {min(slowest):.2g} to "
                    f"{max(slowest):.2g} times as long as the mean: factors are drawn at random",
                    share * (uneven - 1),
                )
            written = computation(spent[-1], self.ranks[-1], period)
            ratios = np.maximum(means / means[-1], 1e-9).tolist()
            by = self.value(ratios, "the computation before it", path, noise=varies, visits=visits)
        except InputError as error:
            if share > MIN_UNRULED_SHARE:
                raise
            if share >= NEGLIGIBLE:
                self.warn(f"{error.where}: all ranks are taken to compute as long before it", share)
            return seconds(longest[-1])
        compute = written | {"time": times(written["time"], by)}
        imbalance = compute.pop("imbalance", None)
        if imbalance:
            factors = [float(imbalance.get(str(r), 1.0)) for r in range(self.ranks[-1])]
            if np.std(factors) > EQUAL_MEANS * np.mean(factors):
                chosen = sorted(factors)[:: -(-len(factors) // FACTORS)]
                compute["imbalance"] = {"empirical": [float(f"{f:.4g}") for f in chosen]}
            else:
                compute["time"] = times(compute["time"], f"{np.mean(factors):.4g}")
        return plain(compute)

    def of_slowest(
        self,
        spent: Sequence[Mapping[int, Spent]],
        slowest_ranks: Sequence[int],
        key: str,
        here: str,
    ) -> Written:
        """Return computation of one rank that is another function of p than that of the others.

        `key` is its number; empty: it is the last.
        """
        longest = [1e6 * by[rank].mean for by, rank in zip(spent, slowest_ranks, strict=True)]
        totals = [1e6 * sum(one.mean for one in by.values()) for by in spent]
        means = [
            max((total - time) / (p - 1), REST * time)
            for time, total, p in zip(longest, totals, self.ranks, strict=True)
        ]
        usual = self.value(means, "its computation", here)
        slow = self.value(longest, f"the computation of rank {slowest_ranks[-1]}", here)
        factor = f"({slow})/({usual})"
        return {"time": f"1us*({usual})", "imbalance": {key: factor} if key else factor}


def _plain(text: str) -> Number:
    """Return a whole number as such."""
    return int(text) if text.isdecimal() else text


def times(value: str | Written, factor: Number) -> str | Written:
    """Return a time or a distribution that is so many times as long."""
    if str(factor) == "1":
        return value
    if isinstance(value, str):
        return f"{value}*{factor}"
    ((name, of),) = value.items()
    if name == "empirical":
        return {name: {f"{time}*{factor}": weight for time, weight in of.items()}}
    return {name: {**of, "median": f"{of['median']}*{factor}"}}
