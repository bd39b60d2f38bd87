"""Time-independent traces of SimGrid, for ``smpirun -replay``: a list, and a file of each rank.

Computation is written in floating-point operations of a host that does ``speed`` of them in a
second, so that a faster one is faster. Collective operations of all ranks are SimGrid's own; those
of parts of an application, which these traces cannot tell, become messages.
"""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from isochrone.applications.description.actions import Action, Actions
from isochrone.applications.description.point_to_point import as_messages
from isochrone.base.errors import InputError
from isochrone.base.files import whole_file
from isochrone.base.operations import like
from isochrone.formats.program import DEFAULT_SPEED, ProgramFormat

_BYTES = 6
"""SimGrid's number of MPI_BYTE."""

_DOUBLES = 0
_DOUBLE = 8
"""SimGrid's number of MPI_DOUBLE, and its bytes."""

_TAGS = 32768
_MIN_COMPUTATION = 1e-9
"""Computation of less is none."""


def write(actions: Actions, path: Path, *, speed: float | None = None) -> list[Path]:
    """Write the list and the files of all ranks, which are named after it."""
    files = [path.with_name(f"{path.stem}-rank-{rank}.txt") for rank in range(actions.ranks)]
    if path in files or any(not name.name.isprintable() or " " in name.name for name in files):
        raise InputError("SimGrid cannot read a file with this name", where=path)
    for rank, name in enumerate(files):
        with whole_file(name) as stream:
            stream.writelines(
                f"{rank} {line}\n".encode()
                for line in _lines(actions, rank, speed or DEFAULT_SPEED)
            )
    with whole_file(path) as stream:
        stream.writelines(f"{name.name}\n".encode() for name in files)
    return [path, *files]


def _lines(actions: Actions, rank: int, speed: float) -> Iterator[str]:
    """Yield the actions of a rank."""
    yield "init"
    tags: Counter[tuple[str, int]] = Counter()
    open_ = 0
    for action in actions.of(rank):
        everyone = len(action.members) == actions.ranks and set(action.members) == set(
            range(actions.ranks)
        )
        for step in [action] if everyone else as_messages(action, rank):
            if step.op in ("isend", "irecv"):
                open_ += 1
            if step.op == "wait":
                if open_:
                    yield f"waitall {open_}"
                open_ = 0
            else:
                yield from _line(step, tags, speed, actions.ranks)
    if open_:
        yield f"waitall {open_}"
    yield "finalize"


def _line(
    action: Action, tags: Counter[tuple[str, int]], speed: float, ranks: int
) -> Iterator[str]:
    amount, root = round(action.amount), action.root
    op = like(action.op)  # with equal blocks
    if action.op == "compute":
        if action.amount > _MIN_COMPUTATION:
            yield f"compute {action.amount * speed:.10g}"
    elif action.op == "sleep":
        yield f"sleep {action.amount:.10g}"
    elif action.op in ("send", "isend", "recv", "irecv"):
        way = "to" if action.op in ("send", "isend") else "from"
        tag = tags[way, action.peer] % _TAGS
        tags[way, action.peer] += 1
        yield f"{action.op} {action.peer} {tag} {amount} {_BYTES}"
    elif op == "barrier":
        yield "barrier"
    elif op == "bcast":
        yield f"bcast {amount} {root} {_BYTES}"
    elif op == "reduce":
        yield f"reduce {amount // _DOUBLE} 0 {root} {_DOUBLES}"
    elif op in ("allreduce", "scan"):
        yield f"{op} {amount // _DOUBLE} 0 {_DOUBLES}"
    elif op in ("gather", "scatter"):
        yield f"{op} {amount} {amount} {root} {_BYTES} {_BYTES}"
    elif op == "reduce_scatter_block":
        counts = " ".join([str(amount // _DOUBLE)] * ranks)
        yield f"reducescatter {counts} 0 {_DOUBLES}"
    else:
        yield f"{op} {amount} {amount} {_BYTES} {_BYTES}"


PROGRAM = ProgramFormat(suffix=".ti", write=write, takes_speed=True)
