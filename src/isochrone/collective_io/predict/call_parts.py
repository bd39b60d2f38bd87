"""Times of the phases of a collective call: laws weighted by measured calls.

The phases other than the exchange have no benchmark. They are observed in runs of a program, mostly
in a single setting. Each phase may depend on a few quantities, such as rounds or the bytes of the
busiest aggregator; any mixture of them is a law of the phase. One setting determines the scale of
each law, and the spread of the laws is the interval. Every further setting weights the laws by
likelihood (a posterior on a grid of mixtures, with an inverse gamma distribution of the scatter),
and the interval shrinks. The prediction is the median over the laws, which is robust to a single
steep law.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import product

import numpy as np
from scipy.special import ndtri

from isochrone.base.record import Record
from isochrone.base.table import grouped
from isochrone.collective_io.workload import Floats

PARTS = ("offsets", "counts", "exchange", "file", "rest")
"""Phases of a collective call, in order."""

INDEPENDENT = "independent"
"""The whole call when every rank accesses the file on its own."""

LATE = "late"
"""Part of the remainder spent waiting for the last rank; independent of settings."""

Quantities = Mapping[str, float]
"""Values by name: of what a part depends on, or seconds of parts."""

LAWS: Mapping[str, Quantities] = {
    # lists of offsets: found by each rank, then sent to the aggregators, 16 bytes a piece
    "offsets": {"ranks": 1, "pieces": 1, "list_pieces": 1},
    # one MPI_Allreduce, and an MPI_Alltoall in each round
    "counts": {"calls": 2, "1": 1, "calls*ranks": 1},
    # the modelled hot spot, or its bytes and messages; packing; cost of each round
    "exchange": {"exchange": 16, "busiest": 1, "rounds": 0.1},
    # bandwidth of each aggregator, or of all together; what each access costs
    "file": {"busiest_file": 2, "bytes_file": 2, "rounds": 0.1},
    # copies and packing, memory that is touched for the first time, waiting for the last rank
    "rest": {"bytes": 4, "busiest": 1, "rounds": 0.5, "1": 1},
    LATE: {"1": 1},
    INDEPENDENT: {"own_accesses": 1, "own_bytes": 1, "moved": 1, "1": 1},
}
"""Quantities that a part depends on, and how likely a law of each alone is, before any is tried."""

WITHOUT_MODEL = {"hot_bytes": 16, "hot_messages": 1, "rounds": 0.1, "busiest": 1}
"""Laws of the exchange without a hot-spot model."""

LEVELS = (0.0, 1 / 64, 1 / 16, 1 / 4, 1.0)
"""Weights of quantities in a law, before they are made to sum up to 1."""

SCATTER = 0.12
"""Prior of the relative scatter between launches."""

MOST_SCATTER = 1.0
"""Calls with a larger scatter (factor e) carry no information on launches."""

BELIEF = 4.0
"""Weight of the prior, in launches."""

MIN_PART = 1e-3
"""A part shorter than this part of the call is taken as this long: it has no logarithm else."""

_NOISE: Floats = ndtri((np.arange(9) + 0.5) / 9)
"""Quantiles of the scatter, each as likely as the others."""

_INTERVAL = (0.025, 0.975)


class Parts(Record):
    """Seconds of each of `PARTS`; None where it was not seen."""

    offsets: float | None = None
    counts: float | None = None
    exchange: float | None = None
    file: float | None = None
    rest: float | None = None


class Observation(Record):
    """A call measured in one setting.

    Attributes
    ----------
    features
        The quantities of `LAWS`, of this call.
    seconds
        Of each recorded phase.
    whole
        Seconds of the whole call.
    reading
        Whether it is a read: its phases are separate from those of a write.
    scatter
        Standard deviation of the logarithm of a phase among equal calls, if known.
    """

    features: Quantities
    seconds: Quantities
    whole: float
    reading: bool = False
    scatter: Mapping[str, float] = {}


class Estimate(Record):
    """Seconds, and the ends of their 95 % interval."""

    seconds: float
    low: float
    high: float


class PartLaw(Record):
    """Laws of a part, weighed by what was measured.

    Attributes
    ----------
    terms
        Names of the quantities.
    coefficients
        Seconds for one of each quantity; a row for each law, shape (laws, terms).
    weight
        How likely each law is; sums up to 1.
    scatter
        Standard deviation of the logarithm of a new time, for each law.
    """

    terms: Sequence[str]
    coefficients: Floats
    weight: Floats
    scatter: Floats

    def ask(self, features: Quantities) -> Estimate:
        """Return how long the part takes in a call of these quantities."""
        by_law = self._by_law(features)
        seconds = _quantile(by_law, self.weight, 0.5)
        spread = (by_law[:, None] * np.exp(self.scatter[:, None] * _NOISE)).ravel()
        weight = np.repeat(self.weight / len(_NOISE), len(_NOISE))
        low, high = (_quantile(spread, weight, fraction) for fraction in _INTERVAL)
        return Estimate(seconds, min(low, seconds), max(high, seconds))

    def least(self, features: Quantities) -> float:
        """Return the seconds by the laws that give the fewest, without the scatter of launches."""
        return _quantile(self._by_law(features), self.weight, _INTERVAL[0])

    def _by_law(self, features: Quantities) -> Floats:
        values = np.array([_value(features, term) for term in self.terms])
        return np.asarray(self.coefficients @ values)


class PartTimes(Record):
    """Laws of the parts, by direction: of writes and of reads.

    Attributes
    ----------
    laws
        By ``(reading, part)``; a part that was not measured is not among them.
    ranges
        Least and greatest value of each quantity that was measured, by ``reading``.
    """

    laws: Mapping[tuple[bool, str], PartLaw] = {}
    ranges: Mapping[bool, Mapping[str, tuple[float, float]]] = {}

    def knows(self, reading: bool, part_name: str) -> bool:
        """Whether the part was measured."""
        return (reading, part_name) in self.laws

    def ask(self, reading: bool, part_name: str, features: Quantities) -> Estimate | None:
        """Return how long a part takes; None: it was not measured."""
        law = self.laws.get((reading, part_name))
        return law.ask(features) if law else None


def fit(observations: Iterable[Observation]) -> PartTimes:
    """Weigh the laws of every part by what was measured."""
    laws = {}
    ranges = {}
    listed = list(observations)
    for reading in (False, True):
        mine = [observation for observation in listed if observation.reading == reading]
        for part_name in LAWS:
            seen = [observation for observation in mine if part_name in observation.seconds]
            if part_name == "rest":  # where the other parts were not seen, it is the whole call
                seen = [
                    observation for observation in seen if "exchange" in observation.seconds
                ] or seen
            if seen:
                laws[reading, part_name] = _weighed(part_name, seen)
        values = grouped(item for observation in mine for item in observation.features.items())
        ranges[reading] = {name: (min(seen), max(seen)) for name, seen in values.items()}
    return PartTimes(laws, ranges)


def _weighed(part_name: str, seen: Sequence[Observation]) -> PartLaw:
    """Scale each law of a part to the measured times, and weigh it by how well it fits."""
    modelled = all("exchange" in observation.features for observation in seen)
    prior = LAWS[part_name]
    if part_name == "exchange" and not modelled:
        prior = WITHOUT_MODEL
    if part_name == "rest" and not any("exchange" in observation.seconds for observation in seen):
        hot = {"exchange": 4.0} if modelled else {"hot_bytes": 3.0, "hot_messages": 1.0}
        prior = {**hot, "bytes": 1, "busiest": 1, "rounds": 1}
    table = np.array(
        [[_value(observation.features, term) for term in prior] for observation in seen]
    )
    usable = np.asarray((table > 0).any(axis=0))
    terms = [term for term, use in zip(prior, usable.tolist(), strict=True) if use]
    term_means = table[:, usable].mean(axis=0)
    # Mixtures, shape (laws, terms). One term dominates, the others have a fourth, a sixteenth … of
    # it: a small share in one setting may dominate in another with many more rounds.
    mixtures = np.array([row for row in product(LEVELS, repeat=len(terms)) if 1.0 in row])
    shares: Floats = mixtures / mixtures.sum(axis=1, keepdims=True)
    belief = np.array([prior[term] for term in terms])
    chance = np.prod(belief**shares, axis=1)
    by_law = (table[:, usable] / term_means) @ shares.T  # (settings, laws), 1 in the usual setting
    time = np.array(
        [
            max(observation.seconds[part_name], MIN_PART * observation.whole, 1e-12)
            for observation in seen
        ]
    )
    off = np.log(time)[:, None] - np.log(np.maximum(by_law, 1e-12))
    scale = off.mean(axis=0)
    misfit = ((off - scale) ** 2).sum(axis=0)
    free = BELIEF + len(seen) - 1
    # launches scatter at least as much as the calls within one
    alike = [min(observation.scatter.get(part_name, 0.0), MOST_SCATTER) for observation in seen]
    variance = (BELIEF * max(SCATTER**2, float(np.mean(np.square(alike)))) + misfit) / free
    weight = chance * (variance / variance.min()) ** (-free / 2)
    coefficients = np.exp(scale)[:, None] * shares / term_means
    scatter = np.sqrt(variance * (1 + 1 / len(seen)))
    return PartLaw(terms, coefficients, weight / weight.sum(), scatter)


def _quantile(values: Floats, weight: Floats, fraction: float) -> float:
    """Return the value below which this part of the weight is."""
    order = np.argsort(values)
    at = int(np.searchsorted(np.cumsum(weight[order]), fraction * weight.sum()))
    return float(values[order[min(at, len(order) - 1)]])


def _value(features: Quantities, term: str) -> float:
    """Return the value of a product of quantities; ``1`` is one."""
    value = 1.0
    for name in term.split("*"):
        value *= 1.0 if name == "1" else features.get(name, 0.0)
    return value
