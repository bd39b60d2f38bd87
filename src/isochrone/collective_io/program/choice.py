"""Which settings are worth a try for the collective calls that a program made.

One file of hints holds for all files of a program, so that each setting is predicted for all of its
calls together. Predictions are rough: a few settings are returned that differ from each other, and
trying decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from isochrone.base.errors import InputError
from isochrone.collective_io.predict.call_features import independent_features
from isochrone.collective_io.predict.node_cost import NodeCost
from isochrone.collective_io.predict.whole_call import MeasuredCall, WholeCall
from isochrone.collective_io.program.calls import Made, aggregators
from isochrone.collective_io.program.proposals import Proposal
from isochrone.collective_io.program.settings import Change, independent_hints, searched, settings

__all__ = ["MOST", "ompio_ways", "romio_ways"]

MOST: Final = 4
"""Settings to try at most."""

SEARCHED: Final = 2
"""Calls, those with most seconds, whose own best settings are searched."""

WORTH: Final = 1.03
"""Predicted gain below which a setting is not tried: no proof of a few starts would find it."""

LARGE: Final = 64 * 1024
"""Mean bytes of a piece from which on ranks on their own need no data sieving."""


def romio_ways(calls: Sequence[Made], model: NodeCost, whole: WholeCall) -> list[Proposal]:
    """Return promising settings of ROMIO, the one with the shortest predicted time first."""
    collective = [one for one in calls if one.call.collective]
    if not collective:
        return [_enabled([one.call for one in calls])] if calls else []
    return [*_buffered(collective, model, whole)[: MOST - 1], _independent(collective)]


def _buffered(calls: Sequence[Made], model: NodeCost, whole: WholeCall) -> list[Proposal]:
    """Return settings that keep collective buffering, predicted to be faster than the given."""
    now = _predicted(calls, Change(), whole)
    tried: list[tuple[float, Change]] = []
    listed = list(settings([made.call for made in calls], model))
    for made in calls[:SEARCHED]:
        listed += searched(made.call, model, whole)
    for one in dict.fromkeys(listed):
        try:
            seconds = _predicted(calls, one, whole)
        except InputError:  # a list that yields no aggregator of a file, too many windows
            continue
        if now > WORTH * seconds:
            tried.append((seconds, one))
    tried.sort(key=lambda one: (one[0], len(one[1].levers)))
    scale = sum(one.seconds for one in calls) / now
    return [
        Proposal(one.words, one.hints(), expected=scale * seconds)
        for seconds, one in _different(tried)
    ]


def _different(tried: Sequence[tuple[float, Change]]) -> list[tuple[float, Change]]:
    """Return the best setting, and the best of those that change fewer or other things."""
    chosen: list[tuple[float, Change]] = []
    levers: list[frozenset[str]] = []
    for seconds, one in tried:
        if not any(known <= one.levers for known in levers):
            chosen.append((seconds, one))
            levers.append(one.levers)
    return chosen[:MOST]


def _predicted(calls: Sequence[Made], setting: Change, whole: WholeCall) -> float:
    """Return the predicted seconds of all calls in a setting."""
    total = 0.0
    for one in calls:
        call, hosts = one.call.call, one.call.by_rank
        if setting.buffer is not None:
            call = replace(call, buffer=setting.buffer)
        if setting.stripes is not None:
            new = setting.stripes
            call = replace(call, stripe=new.size, targets=new.count, ratio=new.ratio)
        ranks = one.call.aggregators
        if setting.config is not None or setting.nodes is not None:
            nodes = setting.nodes if setting.nodes or setting.config else one.nodes
            ranks = aggregators(hosts, one.members, setting.config or one.config, nodes)
        total += one.times * whole.predict(call, hosts, ranks).seconds
    return total


def _independent(calls: Sequence[Made]) -> Proposal:
    """Return the way without collective buffering.

    What a file system makes of it is not predicted but tried: between 10 times as fast and 10 times
    as slow has been seen.
    """
    measured = [one.call for one in calls]
    features = [independent_features(one.call) for one in measured]
    large = all(one["bytes"] >= LARGE * one["pieces"] * one["ranks"] for one in features)
    words = "collective buffering off: every rank accesses the file on its own"
    return Proposal(words, independent_hints(measured, sieving=not large))


def _enabled(calls: Sequence[MeasuredCall]) -> Proposal:
    """Return the way with collective buffering, for calls that ROMIO made without."""
    ops = sorted({"read" if one.call.reading else "write" for one in calls})
    return Proposal("collective buffering on", {f"romio_cb_{op}": "enable" for op in ops})


def ompio_ways(hosts: Sequence[str], *, romio: bool) -> list[Proposal]:
    """Return settings of Open MPI that have an effect: its own component, or its ROMIO.

    OMPIO looks at no host names, and has no order of aggregators.

    Parameters
    ----------
    hosts
        Of each rank.
    romio
        Whether this Open MPI still has ROMIO (up to version 5).
    """
    count = len(set(hosts))
    numbers = list(dict.fromkeys([count, len(hosts)]))
    found = [
        Proposal(
            f"OMPIO with {number} aggregators",
            environ={"OMPI_MCA_io_ompio_num_aggregators": str(number)},
        )
        for number in numbers
    ]
    individual = {"OMPI_MCA_fcoll": "individual"}
    found.append(Proposal("OMPIO without aggregators (fcoll individual)", environ=individual))
    if romio:
        found.insert(0, Proposal("ROMIO in place of OMPIO", environ={"OMPI_MCA_io": "romio341"}))
    return found[:MOST]
