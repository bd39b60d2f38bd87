"""Random MPI programs, and what a recording of them must hold.

An action is done by several ranks, in the same order of actions at all of them, so that none waits
for one that waits for it. Actions are instructions of the program in ``scripted.c``.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

__all__ = ["Program", "Seen", "random_program"]

Seen = tuple[str, int, int, int, int, int, tuple[int, ...]]
"""A call as a recording knows it: operation, peer, bytes, source, bytes received, root, ranks of a
collective; ranks are those of the world."""

NONE = -1


@dataclass
class Repeat:
    """Actions that are repeated."""

    count: int
    body: list[Action | Repeat]


@dataclass
class Action:
    """Instructions and what is seen of them, by rank."""

    lines: dict[int, list[str]] = field(default_factory=dict)
    seen: dict[int, list[Seen]] = field(default_factory=dict)

    def add(self, rank: int, line: str, seen: Seen | None = None) -> None:
        self.lines.setdefault(rank, []).append(line)
        if seen:
            self.seen.setdefault(rank, []).append(seen)


@dataclass
class Program:
    """Ranks, communicators as lists of ranks of the world for each colour, and actions."""

    ranks: int
    splits: list[tuple[list[int], list[int]]]
    actions: list[Action | Repeat]

    def write(self, folder: Path) -> None:
        """Write a script for each rank."""
        folder.mkdir()
        for rank in range(self.ranks):
            lines = [f"split {colours[rank]} {keys[rank]}" for colours, keys in self.splits]
            lines += _lines(self.actions, rank)
            (folder / str(rank)).write_text("".join(f"{line}\n" for line in lines))

    def seen(self, rank: int) -> list[Seen]:
        """Return all calls of a rank, in order."""
        return list(_seen(self.actions, rank))

    def matrix(self) -> dict[tuple[int, int], tuple[int, int]]:
        """Return messages and bytes from each rank to each other one."""
        messages: Counter[tuple[int, int]] = Counter()
        sent: Counter[tuple[int, int]] = Counter()
        for rank in range(self.ranks):
            for op, peer, size, *_ in self.seen(rank):
                if "send" in op and peer != NONE:
                    messages[rank, peer] += 1
                    sent[rank, peer] += size
        return {pair: (messages[pair], sent[pair]) for pair in messages}


def _lines(actions: Sequence[Action | Repeat], rank: int) -> Iterator[str]:
    for action in actions:
        if isinstance(action, Repeat):
            yield f"repeat {action.count}"
            yield from _lines(action.body, rank)
            yield "end"
        else:
            yield from action.lines.get(rank, [])


def _seen(actions: Sequence[Action | Repeat], rank: int) -> Iterator[Seen]:
    for action in actions:
        if isinstance(action, Repeat):
            for _ in range(action.count):
                yield from _seen(action.body, rank)
        else:
            yield from action.seen.get(rank, [])


def random_program(seed: int, ranks: int = 4, length: int = 8) -> Program:
    """Draw a program."""
    return _Drawing(random.Random(seed), ranks).program(length)


class _Drawing:
    def __init__(self, chance: random.Random, ranks: int) -> None:
        self.chance = chance
        self.ranks = ranks
        self.splits = []
        self.groups: list[dict[int, tuple[int, ...]]] = [
            {rank: tuple(range(ranks)) for rank in range(ranks)}
        ]
        for _ in range(chance.randint(1, 3)):
            colours = [chance.randint(0, 1) for _ in range(ranks)]
            keys = [chance.randint(-5, 5) for _ in range(ranks)]
            self.splits.append((colours, keys))
            order = sorted(range(ranks), key=lambda r: (keys[r], r))
            members = {c: tuple(r for r in order if colours[r] == c) for c in (0, 1)}
            self.groups.append({r: members[colours[r]] for r in range(ranks)})
        self.tag = 0

    def program(self, length: int) -> Program:
        return Program(self.ranks, self.splits, self.actions(length, 0))

    def actions(self, length: int, depth: int) -> list[Action | Repeat]:
        found: list[Action | Repeat] = []
        for _ in range(self.chance.randint(1, length)):
            if depth < 3 and self.chance.random() < 0.3:
                body = self.actions(max(1, length // 2), depth + 1)
                found.append(Repeat(self.chance.randint(1, 6), body))
            else:
                kinds = [
                    self.message,
                    self.exchange,
                    self.shift,
                    self.collective,
                    self.begun,
                    self.persistent,
                ]
                found.append(self.chance.choice(kinds)())
        return found

    def communicator(self) -> tuple[int, tuple[int, ...]]:
        """Draw a communicator, and one of the groups that it is."""
        index = self.chance.randrange(len(self.groups))
        return index, self.groups[index][self.chance.randrange(self.ranks)]

    def size(self) -> int:
        return self.chance.choice([0, 1, 8, 100, 1000, 5000])

    def next_tag(self) -> int:
        self.tag += 1
        return self.tag

    def message(self) -> Action:
        """One blocking message."""
        action, (comm, group), size, tag = Action(), self.communicator(), self.size(), 0
        if len(group) < 2:
            return self.collective()
        tag = self.next_tag()
        a, b = self.chance.sample(range(len(group)), 2)
        how = self.chance.choice(["send", "ssend", "bsend"])
        recv = self.chance.choice(["recv", "recv_any", "probe_recv"])
        action.add(group[a], f"{how} {comm} {b} {size} {tag}", message(how, group[b], size))
        action.add(group[b], f"{recv} {comm} {a} 0 {tag}", message("recv", group[a], size))
        return action

    def exchange(self) -> Action:
        """Some messages at once, completed in one of several ways."""
        action, (comm, group) = Action(), self.communicator()
        used: Counter[int] = Counter()
        how = self.chance.choice(["isend", "issend"])
        for _ in range(self.chance.randint(1, 6)):
            a, b = (self.chance.randrange(len(group)) for _ in range(2))
            size, tag = self.size(), self.next_tag()
            line = f"irecv {comm} {a} {size} {tag} {used[group[b]]}"
            action.add(group[b], line, message("irecv", group[a], size))
            used[group[b]] += 1
            line = f"{how} {comm} {b} {size} {tag} {used[group[a]]}"
            action.add(group[a], line, message(how, group[b], size))
            used[group[a]] += 1
        for rank, count in used.items():
            self.complete(action, rank, count)
        return action

    def complete(self, action: Action, rank: int, count: int) -> None:
        """Complete the first requests of a rank."""
        how = self.chance.choice(["waitall", "wait", "waitany", "test"])
        if how == "waitall":
            action.add(rank, f"waitall 0 {count}", done("waitall"))
        elif how == "waitany":  # which one is left to chance: only the last is of the sequence
            for k in range(count):
                action.add(rank, f"waitany 0 {count}", done("waitany") if k == count - 1 else None)
        else:
            for k in range(count):
                action.add(rank, f"{how} {k}", done(how))

    def shift(self) -> Action:
        """A ring: everybody sends to the next and receives from the one before."""
        action, (comm, group), size, tag = Action(), self.communicator(), self.size(), 0
        tag = self.next_tag()
        for k, rank in enumerate(group):
            to, source = (k + 1) % len(group), (k - 1) % len(group)
            action.add(
                rank,
                f"sendrecv {comm} {to} {size} {tag} {source}",
                ("sendrecv", group[to], size, group[source], size, NONE, ()),
            )
        return action

    def collective(self) -> Action:
        """One operation of all ranks of a communicator."""
        action, (comm, group), size = Action(), self.communicator(), self.size()
        rooted = ("bcast", "gather", "scatter", "reduce")
        others = (
            "barrier",
            "allreduce",
            "allgather",
            "allgatherv",
            "alltoall",
            "alltoallv",
            "reduce_scatter_block",
            "scan",
        )
        op = self.chance.choice([*rooted, *others])
        root = self.chance.randrange(len(group)) if op in rooted else NONE
        size = 0 if op == "barrier" else size
        for rank in group:
            world = group[root] if root >= 0 else NONE
            action.add(rank, f"{op} {comm} {size} {root}", together(op, size, world, group))
        return action

    def begun(self) -> Action:
        """A nonblocking operation and the wait for it."""
        action, (comm, group), size = Action(), self.communicator(), self.size()
        op = self.chance.choice(["ibarrier", "ibcast", "iallreduce"])
        root = self.chance.randrange(len(group)) if op == "ibcast" else NONE
        size = 0 if op == "ibarrier" else size
        for rank in group:
            world = group[root] if root >= 0 else NONE
            action.add(rank, f"{op} {comm} {size} {root} 0 0", together(op, size, world, group))
            action.add(rank, "wait 0", done("wait"))
        return action

    def persistent(self) -> Action:
        """Requests that are started several times."""
        action, (comm, group), size, tag = Action(), self.communicator(), self.size(), 0
        if len(group) < 2:
            return self.collective()
        tag = self.next_tag()
        a, b = self.chance.sample(range(len(group)), 2)
        for rank, init, op, peer in (
            (group[a], "send_init", "isend", b),
            (group[b], "recv_init", "irecv", a),
        ):
            action.add(rank, f"{init} {comm} {peer} {size} {tag} 63")
            for _ in range(3):
                action.add(rank, "start 63", message(op, group[peer], size))
                action.add(rank, "wait 63", done("wait"))
            action.add(rank, "request_free 63")
        return action


def message(op: str, peer: int, size: int) -> Seen:
    """Return a message as it is seen."""
    return op, peer, size, NONE, 0, NONE, ()


def done(op: str) -> Seen:
    """Return a completion as it is seen."""
    return op, NONE, 0, NONE, 0, NONE, ()


def together(op: str, size: int, root: int, group: tuple[int, ...]) -> Seen:
    """Return a collective operation as it is seen."""
    return op, NONE, size, NONE, 0, root, group
