"""Messages of a phase that begin together, and the ports of ranks and nodes that they share."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

import numpy as np

from isochrone.base.arrays import Bools, Floats, Ints


@dataclass
class Port:
    """Messages by the port that they need: indices into the messages, padded by their number."""

    rows: Ints
    seconds: Floats

    @classmethod
    def of(cls, messages: Ints, ports: Ints, seconds: Floats, count: int) -> Port:
        """Sort `messages` of a phase with `count` of them by the port that each needs so long."""
        order = np.argsort(ports, kind="stable")
        _, first, counts = np.unique(ports[order], return_index=True, return_counts=True)
        line = np.repeat(np.arange(len(counts)), counts)
        cell = line, np.arange(len(ports)) - np.repeat(first, counts)
        rows = np.full((len(counts), counts.max()), count)
        times = np.zeros(rows.shape)
        rows[cell], times[cell] = messages[order], seconds[order]
        return cls(rows, times)

    def finish(self, enters: Floats, ends: Floats) -> None:
        """Raise `ends` to when messages leave the port, which all that are in it share evenly.

        Each is served until it has had its `seconds`; `had` is what one that never leaves would
        have had by now, so that a message leaves when `had` reaches its tag.
        """
        times = np.append(enters, inf)[self.rows]
        valid = self.rows < len(enters)
        if times.shape[1] == 1:
            left = times + self.seconds
            np.maximum.at(ends, self.rows[valid], left[valid])
            return
        lines = np.arange(len(times))
        left = np.empty_like(times)
        tags = np.full_like(times, inf)
        now = np.zeros(len(times))
        had = np.zeros(len(times))
        inside = np.zeros(len(times))
        for _ in range(2 * times.shape[1]):
            comes, goes = times.argmin(axis=1), tags.argmin(axis=1)
            arrival, tag = times[lines, comes], tags[lines, goes]
            with np.errstate(invalid="ignore"):
                departure = np.where(inside > 0, now + (tag - had) * inside, inf)
            arrives = arrival < departure
            moment = np.minimum(arrival, departure)
            active = np.isfinite(moment)
            if not active.any():
                break
            with np.errstate(invalid="ignore", divide="ignore"):
                had = np.where(inside > 0, had + (moment - now) / inside, had)
            now = moment
            into, out = lines[arrives & active], lines[~arrives & active]
            tags[into, comes[into]] = had[into] + self.seconds[into, comes[into]]
            times[into, comes[into]] = inf
            left[out, goes[out]] = moment[out]
            tags[out, goes[out]] = inf
            inside[into] += 1
            inside[out] -= 1
        np.maximum.at(ends, self.rows[valid], left[valid])


@dataclass
class Messages:
    """Messages of a phase that all begin together and are waited for together."""

    source: Ints
    target: Ints
    begins: Floats
    latency: Floats
    asks: Bools
    waits: Bools
    busy: Floats
    ports: list[Port]

    def done(self, times: Floats, free_at: Floats) -> Floats:
        """Return when each rank has all, from when it reached the phase and did all else."""
        begin = times[self.source] + self.begins
        begin = np.where(self.asks, np.maximum(begin, times[self.target]), begin)
        enters = begin + self.latency
        ends = enters.copy()
        for port in self.ports:
            port.finish(enters, ends)
        finished = free_at + self.busy
        np.maximum.at(finished, self.target, ends)
        np.maximum.at(finished, self.source[self.waits], ends[self.waits])
        return finished
