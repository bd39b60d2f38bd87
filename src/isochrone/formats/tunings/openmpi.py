"""Rules of Open MPI's component ``tuned`` (coll_tuned_dynamic_rules_filename), 4.1 and 5.0.

The format is as in ``coll_tuned_dynamic_file.c``: numbers, and '#' up to the end of the line. Open
MPI ignores a file that it cannot read, and one whose first message rule is not for 0 bytes, without
a word; and a communicator that is smaller than the first of the file gets the rules of the first.
So each operation begins with communicators of any size and the algorithm 0, which is the library's
own choice, and after each number of ranks comes one more that gives this choice back.
"""

import re
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

from isochrone.base.errors import InputError
from isochrone.collectives.tuning_file import LibraryRule, TuningFile, Written

_VERSION = re.compile(r"Open MPI v(\d+)\.(\d+)(?:\.\d+)?.*")

_IDS = {
    "allgather": 0,
    "allreduce": 2,
    "alltoall": 3,
    "bcast": 7,
    "gather": 9,
    "reduce": 11,
    "reduce_scatter_block": 13,
    "scatter": 15,
}
"""Numbers of the operations (``COLLTYPE_T``); rules of others, such as scan, are not followed."""

_TOTAL = ("allgather", "alltoall", "gather", "scatter", "reduce_scatter_block")
"""Operations whose size is counted over all ranks, not as the block of one: found by the messages
on both sides of a rule; for scatter the manual says otherwise."""

_NAMES = {
    "allgather": ("linear", "bruck", "recursive_doubling", "ring", "neighbor", "two_proc"),
    "allreduce": (
        "basic_linear",
        "nonoverlapping",
        "recursive_doubling",
        "ring",
        "segmented_ring",
        "rabenseifner",
    ),
    "alltoall": ("linear", "pairwise", "modified_bruck", "linear_sync", "two_proc"),
    "bcast": (
        "basic_linear",
        "chain",
        "pipeline",
        "split_binary_tree",
        "binary_tree",
        "binomial",
        "knomial",
        "scatter_allgather",
        "scatter_allgather_ring",
    ),
    "gather": ("basic_linear", "binomial", "linear_sync"),
    "reduce": (
        "linear",
        "chain",
        "pipeline",
        "binary",
        "binomial",
        "in-order_binary",
        "rabenseifner",
    ),
    "reduce_scatter_block": (
        "basic_linear",
        "recursive_doubling",
        "recursive_halving",
        "butterfly",
    ),
    "scan": ("linear", "recursive_doubling"),
    "scatter": ("basic_linear", "binomial", "linear_nb"),
}
"""Algorithms from number 1 on, alike in 4.1 and 5.0 (``ompi_info --param coll tuned``)."""

_SINCE_5 = {"allgather": ("sparbit",)}
"""What 5.0 has after these."""

_FANOUT = {"chain": 4, "knomial": 4}
"""What these take where the user forces them and says no more (coll_tuned_init_chain_fanout)."""


def check(mpi: str) -> None:
    """Refuse other libraries, and versions whose files have another format."""
    version = _VERSION.fullmatch(mpi)
    if version is None:
        raise InputError(f"the runs were measured with {mpi}, not Open MPI", where="--to openmpi")
    if (int(version[1]), int(version[2])) not in ((4, 1), (5, 0)):
        raise InputError(
            f"rules files can be written for Open MPI 4.1 and 5.0, not for {mpi}",
            where="--to openmpi",
        )


def write(rules: Sequence[LibraryRule], path: Path, library: bytes) -> Written:
    """Return the file; each block of it is explained by a comment."""
    left_out = tuple(rule for rule in rules if rule.op not in _IDS)
    usable = [rule for rule in rules if rule.op in _IDS]
    usable.sort(key=lambda rule: (rule.op, rule.ranks, rule.bytes))
    by_op = [(op, list(op_rules)) for op, op_rules in groupby(usable, lambda rule: rule.op)]
    lines = [
        "# Rules of coll/tuned, made by isochrone tune from measurements. Open MPI ignores this",
        "# file in silence unless coll_tuned_use_dynamic_rules is 1; see tune --verify.",
        f"{len(by_op)}  # collectives",
    ]
    for op, op_rules in by_op:
        lines += _of_operation(op, op_rules)
    environ = {
        "OMPI_MCA_coll_tuned_use_dynamic_rules": "1",
        "OMPI_MCA_coll_tuned_dynamic_rules_filename": str(path.absolute()),
        "OMPI_MCA_coll_han_priority": "0",
    }
    warnings = [
        f"Open MPI does not follow rules of {rule.op}: {rule.algorithm} on {rule.ranks} ranks is "
        "left out"
        for rule in left_out
    ]
    warnings.append(
        "coll/han is disabled for all operations: on several nodes it would override the rules"
    )
    return Written({path: "\n".join(lines) + "\n"}, environ, tuple(warnings), left_out)


def number(op: str, algorithm: str) -> int:
    """Return the number of an algorithm.

    Raises
    ------
    InputError
        If it has none.
    """
    names = (*_NAMES.get(op, ()), *_SINCE_5.get(op, ()))
    if algorithm not in names:
        raise InputError(f"Open MPI has no algorithm '{algorithm[:40]}' of {op[:40]}")
    return 1 + names.index(algorithm)


def _of_operation(op: str, rules: Sequence[LibraryRule]) -> list[str]:
    """Return the blocks of one operation: any size, then each number of ranks and what follows."""
    blocks = [_block(0, [], "any other number of ranks: the library's own choice")]
    sizes = {rule.ranks for rule in rules}
    for ranks, same_ranks in groupby(rules, lambda rule: rule.ranks):
        blocks.append(
            _block(ranks, _messages(op, ranks, list(same_ranks)), f"{op} on {ranks} ranks")
        )
        if ranks + 1 not in sizes:
            blocks.append(_block(ranks + 1, [], "more ranks: the library's own choice"))
    measure = "over all ranks" if op in _TOTAL else "of one rank"
    head = [f"{_IDS[op]}  # {op}; bytes are {measure}", f"{len(blocks)}  # numbers of ranks"]
    return [*head, *(line for block in blocks for line in block)]


def _block(ranks: int, messages: Sequence[str], meaning: str) -> list[str]:
    messages = ["0 0 0 0", *messages]
    if len(messages) > 1 and messages[1].startswith("0 "):
        del messages[0]
    return [
        f"{ranks}  # {meaning}",
        f"{len(messages)}  # bytes algorithm fan-out segment",
        *messages,
    ]


def _messages(op: str, ranks: int, rules: Sequence[LibraryRule]) -> list[str]:
    """Return the message rules: the largest that is not above the size holds."""
    times = ranks if op in _TOTAL else 1
    lines = []
    for k, rule in enumerate(rules):
        low, high = (size * times for size in rule.bytes)
        fanout = _FANOUT.get(rule.algorithm, 0)
        lines.append(f"{low} {number(op, rule.algorithm)} {fanout} 0  # {rule.algorithm}")
        follows = rules[k + 1].bytes[0] * times if k + 1 < len(rules) else None
        # the next block of an operation over all ranks is larger by more than one byte
        if follows is None or rules[k + 1].bytes[0] > rule.bytes[1] + 1:
            lines.append(f"{high + 1} 0 0 0")
    return lines


TUNING_FILE = TuningFile(check=check, write=write)
