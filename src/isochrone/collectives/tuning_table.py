"""The tuning table: which collective operations use a grid, and the saved time.

Written by ``isochrone tune``, applied inside a program by the library of ``probe/interposer``,
which loads it in a compiled form (`compiled`).

Format history
--------------
1
    First format: one JSON object ``{"record": "tuning", "format": 1, "mpi": …, "min_gain": …,
    "made_from": […], "origin": …, "rules": [{"op": …, "ranks": …, "nodes": …, "bytes": [low,
    high], "grid": …, "points": [[bytes, seconds of the library, seconds of the grid], …]}, …]}``.
    Unknown keys are ignored. What no rule names is left to the library.
"""

import hashlib
import json
import os
import re
import struct
import zlib
from bisect import bisect_left
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from isochrone.base.errors import InputError, located
from isochrone.base.files import check_ordinary, read_bytes, whole_file
from isochrone.base.format_version import check_format
from isochrone.base.record import Members
from isochrone.base.table import grouped
from isochrone.base.text import printable
from isochrone.base.units import MAX_SECONDS
from isochrone.collectives.grid_collectives import MAX_RANKS, OPERATIONS, Grid
from isochrone.measure.cache import cache_folder

TUNING_FORMAT = 1

MAX_BYTES = 16 * 1024**2
"""A tuning table larger than this is none."""

MAX_RULES = 10000

MAX_BLOCK = 2**53
"""Largest block in bytes: an integer that every reader of JSON can hold."""

_Bytes = Annotated[int, Meta(ge=0, le=MAX_BLOCK)]
_Seconds = Annotated[float, Meta(gt=0, le=MAX_SECONDS)]

_MAGIC = b"isochrone-tuning 1\n"
_TUNABLE = (
    "bcast",
    "gather",
    "scatter",
    "reduce",
    "allreduce",
    "allgather",
    "alltoall",
    "reduce_scatter_block",
)
"""Numbers of the operations in a compiled table."""

_HAS_NUMBER = re.compile(r"v?\d")


class Rule(msgspec.Struct, omit_defaults=True):
    """One choice: an operation on so many ranks, and its blocks of a range of sizes, on a grid.

    Attributes
    ----------
    op
        Operation, as in ``measure collective --op``.
    ranks
        Of the communicator.
    bytes
        Smallest and largest block, as in ``measure collective --bytes``, both within.
    grid
        As it is typed: ``4x4``, ``rows-of-5``, ``nodes``.
    points
        What is known: bytes, seconds of the library, seconds of the grid; by ascending bytes.
    nodes
        Nodes that the communicator must be on; None: any.
    """

    op: Annotated[str, Meta(pattern=f"^({'|'.join(OPERATIONS)})$")]
    ranks: Annotated[int, Meta(ge=1, le=MAX_RANKS)]
    bytes: tuple[_Bytes, _Bytes]
    grid: str
    points: Annotated[list[tuple[_Bytes, _Seconds, _Seconds]], Meta(min_length=1)]
    nodes: Annotated[int, Meta(ge=1)] | None = None


class Table(msgspec.Struct):
    """A tuning table.

    Attributes
    ----------
    mpi
        Name and version of the MPI it is for, as `mpi_name` returns them.
    rules
        None of them overlaps another one.
    min_gain
        Part of the time that a choice had to save.
    made_from
        Path and SHA-256 of the files it was made from.
    origin
        Of these: ``measured``, ``simulated``, …
    """

    mpi: str
    rules: Annotated[list[Rule], Meta(max_length=MAX_RULES)]
    min_gain: Annotated[float, Meta(ge=0, lt=1)] = 0.0
    made_from: list[dict[str, str]] = []
    origin: str = ""


def mpi_name(library: str) -> str:
    """Return name and version from what MPI_Get_library_version says.

    They are the words up to the first with a number, without the word "version":
    ``MPICH 5.0.2``, ``Open MPI v5.0.11``.
    """
    words = []
    for word in library.split():
        if word.strip(":").lower() == "version" or word == ":":
            continue
        words.append(word.strip(",:"))
        if _HAS_NUMBER.match(word):
            break
    return " ".join(words)


def read(path: str | Path) -> Table:
    """Read a tuning table.

    Raises
    ------
    InputError
        If it cannot be opened, is not a tuning table, is of a newer format, or is damaged.
    """
    path = Path(path)
    check_ordinary(path)
    if path.stat().st_size > MAX_BYTES:
        raise InputError("the file is too large for a tuning table", where=path)
    text = read_bytes(path)
    hint = "isochrone tune writes one"
    with located(str(path)):
        try:
            content = msgspec.json.decode(text, type=Members)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise InputError(f"the file is not a tuning table: {error}", hint=hint) from error
        if content.get("record") != "tuning":
            raise InputError("the file is not a tuning table", hint=hint)
        check_format(content.get("format"), TUNING_FORMAT, "the tuning table")
        return _checked(content)


def write(path: str | Path, table: Table) -> None:
    """Write a tuning table, a rule a line; it appears whole or not at all.

    Raises
    ------
    InputError
        If it is one that `read` would refuse, or cannot be written.
    """
    head = {"record": "tuning", "format": TUNING_FORMAT, **msgspec.to_builtins(table)}
    _checked(head)
    rules = [json.dumps(rule, allow_nan=False) for rule in head.pop("rules")]
    opening = json.dumps(head, ensure_ascii=False, allow_nan=False).removesuffix("}")
    listed = ",".join(f"\n {rule}" for rule in rules)
    text = f'{opening},\n "rules": [{listed}]}}\n'
    with whole_file(Path(path)) as stream:
        stream.write(text.encode())


def compiled(path: Path) -> Path:
    """Read a table, and compile it; return the file that the library of ``probe/interposer`` loads.

    It is in the cache, where the library is: ranks on other hosts find it there. Its records are
    those of ``probe/interposer/table.h``, in the bytes of this machine.

    Raises
    ------
    InputError
        If `read` refuses the table, or the cache cannot be written.
    """
    table = read(path)
    rules = sorted(
        (_TUNABLE.index(rule.op), rule.ranks, rule.bytes, index)
        for index, rule in enumerate(table.rules)
    )
    operations = [operation for operation, *_ in rules]
    first = [bisect_left(operations, operation) for operation in range(len(_TUNABLE) + 1)]
    records, points = bytearray(), bytearray()
    for operation, ranks, (low, high), index in rules:
        rule = table.rules[index]
        grid = Grid.parse(rule.grid)
        kind = 0 if grid.rows else 1 if grid.length else 2
        records += struct.pack(
            "=8i2q",
            operation,
            ranks,
            rule.nodes or 0,
            kind,
            grid.rows,
            grid.length,
            len(rule.points),
            len(points) // 24,
            low,
            high,
        )
        points += b"".join(struct.pack("=3d", *point) for point in rule.points)
    mpi, name = mpi_name(table.mpi).encode(), os.fsencode(path.absolute())
    body = struct.pack("=9i64s4096s", *first, mpi[:63], name[:4095]) + records + points
    data = struct.pack("=24sI", _MAGIC, zlib.crc32(body)) + body
    file = cache_folder() / f"tuning-{hashlib.sha256(data).hexdigest()[:16]}"
    with whole_file(file) as stream:
        stream.write(data)
    return file


def _checked(content: Members) -> Table:
    """Refuse what cannot be applied, and rules of which it is not clear which one holds."""
    try:
        table = msgspec.convert(content, type=Table)
    except msgspec.ValidationError as error:
        raise InputError(f"the table is damaged: {printable(error)}") from error
    if not _HAS_NUMBER.search(table.mpi):
        raise InputError(f"'mpi' has no version: '{printable(table.mpi, 60)}'")
    for index, rule in enumerate(table.rules):
        _check_rule(rule, f"rule {index}")
    numbered = (((rule.op, rule.ranks), (index, rule)) for index, rule in enumerate(table.rules))
    for rules in grouped(numbered).values():
        _check_overlaps(rules)
    return table


def _check_rule(rule: Rule, name: str) -> None:
    if rule.nodes and rule.nodes > rule.ranks:
        raise InputError(f"{name}: {rule.ranks} ranks cannot be on {rule.nodes} nodes")
    if rule.bytes[0] > rule.bytes[1]:
        raise InputError(f"{name}: 'bytes' is not a range: {rule.bytes[0]} to {rule.bytes[1]}")
    try:
        Grid.parse(rule.grid).over(rule.ranks, per_node=rule.ranks)
    except InputError as error:
        raise InputError(f"{name}: {error.what}") from error
    sizes = [size for size, *_ in rule.points]
    if sizes != sorted(set(sizes)):
        raise InputError(f"{name}: points are not in ascending order of bytes")


def _check_overlaps(rules: list[tuple[int, Rule]]) -> None:
    """Refuse two rules that hold for the same call; ``rules`` are of one operation and ranks.

    Sizes ascend, so a rule can overlap only the one that reaches farthest before it: for its own
    number of nodes, for any number where one of the two does not say.
    """
    farthest: dict[int | None, tuple[int, int]] = {}  # nodes: where it ends, number of the rule
    for index, rule in sorted(rules, key=lambda numbered: numbered[1].bytes):
        nodes = farthest if rule.nodes is None else (None, rule.nodes)
        for node_count in nodes:
            end, by = farthest.get(node_count, (-1, -1))
            if end >= rule.bytes[0]:
                raise InputError(f"rules {by} and {index} overlap: {rule.op}, {rule.ranks} ranks")
        ends = farthest.get(rule.nodes, (-1, -1))
        farthest[rule.nodes] = max(ends, (rule.bytes[1], index))
