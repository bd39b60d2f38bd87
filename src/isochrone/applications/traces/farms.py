"""Farms of tasks: a master that hands out tasks to whoever returns a result.

Who does how many is decided at run time, so that no repetition is found in its calls. They are
recognised by the master's receives from any source: it deals with all others, and each of these
with it alone, receiving a task and returning its result in turns.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from isochrone.applications.traces.gaps import Spent, Written, computation
from isochrone.applications.traces.ordering import parts_of
from isochrone.applications.traces.trace import MESSAGES, RECEIVES, SENDS, Calls, Event


@dataclass(frozen=True)
class Farm:
    """A farm.

    Attributes
    ----------
    master, tasks
        Who hands out, and how many.
    task, result
        Their bytes.
    spent, dispatch
        What a worker computes for a task, and what the master does.
    """

    master: int
    tasks: int
    task: int
    result: int
    spent: Spent
    dispatch: Spent

    def exchange(self, ranks: int) -> Written:
        """Return the value of a key ``exchange``."""
        topology: str | Written = "task-farm"
        if self.master:
            others = [rank for rank in range(ranks) if rank != self.master]
            topology = {"edges": [[self.master, rank] for rank in others]}
        exchange: Written = {
            "topology": topology,
            "flow": "farm",
            "tasks": self.tasks,
            "bytes": self.task,
            "reply": self.result,
        }
        if self.spent.mean > 0:
            exchange["compute"] = {"time": computation({0: self.spent}, 1, 0)["time"]}
        if self.dispatch.mean > 0:
            exchange["dispatch"] = computation({0: self.dispatch}, 1, 0)["time"]
        return exchange


def without_farms(
    ranks: Sequence[Calls], groups: Sequence[tuple[int, ...]]
) -> tuple[list[Farm], list[Calls]]:
    """Return the farms, and the calls of all ranks with one call of the operation "farm" for each.

    Its root is the number of the farm.
    """
    sections = [parts_of(events) for events in ranks]
    farms: list[Farm] = []
    if len({len(of_rank) for of_rank in sections}) > 1:
        return farms, [list(events) for events in ranks]
    for index in range(len(sections[0]) if sections else 0):
        candidates = [of_rank[index] for of_rank in sections]
        farm = _farm(candidates)
        if farm is None:
            continue
        for of_rank in sections:
            messages = [event for event in of_rank[index] if event.op in MESSAGES]
            gap = messages[0].gap if messages else 0.0
            farm_call = Event(
                "farm",
                root=len(farms),
                gap=gap,
                seconds=sum(event.seconds for event in messages),
                site=messages[0].site if messages else -1,
            )
            of_rank[index] = [farm_call, *of_rank[index][len(messages) :]]
        farms.append(farm)
    return farms, [[event for section in of_rank for event in section] for of_rank in sections]


def _farm(sections: Sequence[Calls]) -> Farm | None:
    calls = [[e for e in section if e.op in (*SENDS, *RECEIVES)] for section in sections]
    masters = [rank for rank, events in enumerate(calls) if any(e.any for e in events)]
    if len(masters) != 1:
        return None
    (master,) = masters
    workers = [rank for rank, events in enumerate(calls) if events and rank != master]
    sent = [e for e in calls[master] if e.op in SENDS]
    if not workers or {e.peer for e in sent} != set(workers):
        return None
    for worker in workers:
        turns = [e.op in SENDS for e in calls[worker]]
        alternate = all(a != b for a, b in pairwise(turns))
        if not alternate or any(e.peer != master for e in calls[worker]):
            return None
    asks = all(calls[worker][0].op in SENDS for worker in workers)
    results = [e for w in workers for e in calls[w][1 if asks else 0 :] if e.op in SENDS]
    tasks = sorted((e.bytes for e in sent), reverse=True)[: len(results)]
    if not results:
        return None
    between = calls[master][1:]  # what is before the first call is before the farm
    dispatch = Spent.pooled([Spent.of([event]) for event in between if event.op in SENDS])
    return Farm(
        master,
        len(results),
        round(sum(tasks) / len(tasks)),
        round(sum(e.bytes for e in results) / len(results)),
        Spent.pooled([Spent.of([event]) for event in results]),
        Spent(dispatch.gap, sum(event.gap for event in between) / len(results)),
    )
