"""A reader of GOAL schedules, after the grammar of LogGOPSim's txt2bin, which runs them, too."""

from __future__ import annotations

import re
from collections import defaultdict, deque
from dataclasses import dataclass, field

_LABEL = r"[a-zA-Z][a-zA-Z0-9_]*"
_OPERATION = re.compile(
    rf"(?P<label>{_LABEL}): (?:calc (?P<calc>\d+)|"
    r"(?P<verb>send|recv) (?P<bytes>\d+)b (?P<way>to|from) (?P<peer>\d+) tag (?P<tag>\d+))"
)
_REQUIRES = re.compile(rf"({_LABEL}) requires ({_LABEL})")


@dataclass
class Operation:
    """One operation: ``calc`` and nanoseconds, or ``send``/``recv`` and bytes, rank and tag."""

    kind: str
    amount: int
    peer: int = -1
    tag: int = 0
    after: list[str] = field(default_factory=list)


Schedule = list[dict[str, Operation]]


def read(text: str) -> Schedule:
    """Read a schedule; a line that the grammar does not know fails."""
    lines = deque(line.strip() for line in text.splitlines() if line.strip())
    first = re.fullmatch(r"num_ranks (\d+)", lines.popleft())
    assert first
    ranks: Schedule = []
    while lines:
        assert lines.popleft() == f"rank {len(ranks)} {{"
        ranks.append(_block(lines))
    assert len(ranks) == int(first[1])
    return ranks


def _block(lines: deque[str]) -> dict[str, Operation]:
    found: dict[str, Operation] = {}
    while (line := lines.popleft()) != "}":
        if match := _REQUIRES.fullmatch(line):
            assert match[2] in found, "a label is required before it is known"
            found[match[1]].after.append(match[2])
            continue
        match = _OPERATION.fullmatch(line)
        assert match, line
        assert match["label"] not in found, "a label is given twice"
        if match["calc"] is not None:
            found[match["label"]] = Operation("calc", int(match["calc"]))
        else:
            assert (match["verb"], match["way"]) in (("send", "to"), ("recv", "from"))
            found[match["label"]] = Operation(
                match["verb"], int(match["bytes"]), int(match["peer"]), int(match["tag"])
            )
    return found


def run(schedule: Schedule) -> list[int]:
    """Return when each rank ends, in ns, if messages take no time; all operations must be done.

    A send waits for nobody. Messages are matched by sender, receiver and tag, and must agree in
    their sizes.
    """
    done: list[dict[str, int]] = [{} for _ in schedule]
    sent: dict[tuple[int, int, int], deque[tuple[int, int]]] = defaultdict(deque)
    waiting = [dict(operations) for operations in schedule]
    moved = True
    while moved:
        moved = False
        for rank, operations in enumerate(waiting):
            for label, operation in list(operations.items()):
                if any(other not in done[rank] for other in operation.after):
                    continue
                time = max((done[rank][other] for other in operation.after), default=0)
                if operation.kind == "recv":
                    queue = sent[operation.peer, rank, operation.tag]
                    if not queue:
                        continue
                    arrived, size = queue.popleft()
                    assert size == operation.amount, "sent and received sizes differ"
                    time = max(time, arrived)
                elif operation.kind == "send":
                    sent[rank, operation.peer, operation.tag].append((time, operation.amount))
                else:
                    time += operation.amount
                done[rank][label] = time
                del operations[label]
                moved = True
    assert not any(waiting), "deadlock"
    assert not any(sent.values()), "a message is never received"
    return [max(of_rank.values(), default=0) for of_rank in done]
