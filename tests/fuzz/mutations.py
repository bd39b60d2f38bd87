"""Files, damaged: at random, but with an eye to what they are made of."""

from __future__ import annotations

import io
import json
import random
import re
import zipfile
import zlib
from collections.abc import Callable, Sequence
from typing import Any, Final

from fuzz import archives

__all__ = ["MUTATIONS", "mutate"]

Mutation = Callable[[bytes, random.Random], bytes]

NAMES: Final = (
    "\x1b[31mred\x07",
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(1)>",
    "a\nb",
    "\u202egnol",
    "$(touch /tmp/owned)",
    "`id`",
    "'; DROP",
    '"',
    "=1+1",
    "@sum",
    "a\x00b",
    "%s%n",
    "..",
    "../../etc/passwd",
    "-rf",
    "$\\frac{1}{0}$",
    "",
    " ",
    "é" * 50,
    "x" * 3000,
    "n[1-99999999]",
    "\ud800",
    "[/red]",
    "[link=file:///etc/passwd]x",
    "{0.__class__}",
)
"""What nobody should be named."""

NUMBERS: Final = (
    0,
    -1,
    1,
    2,
    255,
    65536,
    2**31 - 1,
    2**31,
    2**32,
    2**53 + 1,
    2**63 - 1,
    2**63,
    2**64,
    -(2**63) - 1,
    10**18,
    10**40,
    10**400,
    0.0,
    -0.0,
    0.5,
    1e-300,
    5e-324,
    1e-12,
    1e300,
    1.7e308,
    -1e-9,
    1e18,
    3,
)
"""Numbers that programs get wrong."""

WORDS: Final = (
    "nan",
    "inf",
    "-inf",
    "NaN",
    "Infinity",
    "1e999",
    "1" * 400,
    "9" * 5000,
    "0x10",
    "1_000",
    "١٢",
    "1,5",
    "1e",
    "--",
    "null",
    "true",
    "[]",
    "{}",
    "1KiB",
    "1e30PiB",
    "8EiB",
    "-1KiB",
    "1us",
    "5%",
    "*",
    "...",
    "1:9:1",
    "1:99999999999:1",
    "1-99999999",
    "1..9",
    "{1..9}",
    "p**9**9**9",
    "p^p^p",
    "sqrt(-1)",
    "1/0",
    "1e99999999",
    "1e-99999999",
)
"""Words for places where a number or a range stands."""


RANKS: Final = (7, 16, 100, 256, 600, 1000, 2048, 8192, 100_000)
"""Numbers of ranks that a file claims."""


def mutate(data: bytes, kind: str, dice: random.Random) -> bytes:
    """Return a file damaged in one to four ways; ``kind`` is a key of `MUTATIONS`."""
    for _ in range(min(4, 1 + int(dice.expovariate(1.2)))):
        data = dice.choice(MUTATIONS[kind])(data, dice)
    return data


def _cut(data: bytes, dice: random.Random) -> bytes:
    return data[: dice.randrange(len(data) + 1)]


def _flip(data: bytes, dice: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(dice.choice((1, 1, 2, 8))):
        if changed:
            changed[dice.randrange(len(changed))] = dice.randrange(256)
    return bytes(changed)


def _piece(data: bytes, dice: random.Random) -> bytes:
    """Leave out, repeat or move a piece."""
    start = dice.randrange(len(data) + 1)
    end = min(len(data), start + dice.choice((1, 4, 30, 300)))
    piece, rest = data[start:end], data[:start] + data[end:]
    target = dice.randrange(len(rest) + 1)
    return rest[:target] + piece * dice.choice((0, 1, 2, 50)) + rest[target:]


def _noise(data: bytes, dice: random.Random) -> bytes:
    where = dice.randrange(len(data) + 1)
    return data[:where] + dice.randbytes(dice.choice((1, 5, 100))) + data[where:]


def _lines(data: bytes, dice: random.Random) -> bytes:
    """Leave out, repeat, swap or join lines."""
    lines = data.splitlines(keepends=True) or [b""]
    one, other = dice.randrange(len(lines)), dice.randrange(len(lines))
    match dice.randrange(5):
        case 0:
            del lines[one]
        case 1:
            lines[other:other] = [lines[one]] * dice.choice((1, 2, 100))
        case 2:
            lines[one], lines[other] = lines[other], lines[one]
        case 3:
            lines[one] = lines[one].rstrip(b"\r\n")
        case _:
            del lines[min(one, other) : max(one, other)]
    return b"".join(lines)


def _word(data: bytes, dice: random.Random) -> bytes:
    """Put something else in the place of a word or a number of a text."""
    found = list(re.finditer(rb"[\w.+-]+", data))
    if not found:
        return data
    at = dice.choice(found)
    other = dice.choice((*WORDS, *NAMES, *map(_written, NUMBERS), at[0].decode("latin1") * 2))
    return data[: at.start()] + other.encode("utf-8", "replace") + data[at.end() :]


def _deep(data: bytes, dice: random.Random) -> bytes:
    where = dice.randrange(len(data) + 1)
    depth = dice.choice((50, 1000, 20000))
    opening, closing = dice.choice(((b"[", b"]"), (b'{"a":', b"}"), (b"(", b")"), (b"- ", b"")))
    return data[:where] + opening * depth + b"1" + closing * depth + data[where:]


def _separators(data: bytes, dice: random.Random) -> bytes:
    one, other = dice.choice(
        ((b",", b";"), (b" ", b"\t"), (b"\n", b"\r\n"), (b".", b","), (b":", b"="), (b"\n", b"\r"))
    )
    return data.replace(one, other)


def _encoding(data: bytes, dice: random.Random) -> bytes:
    match dice.randrange(4):
        case 0:
            return b"\xef\xbb\xbf" + data
        case 1:
            return data.decode("latin1").encode("utf-16")
        case 2:
            return data.replace(b"\n", b"\x00\n", dice.choice((1, -1)))
        case _:
            return data.decode("latin1").encode("utf-8").replace(b"e", b"\xe9", 1)


def _written(number: float) -> str:
    """Return a number as text, also one of 400 digits."""
    return f"1{'0' * 400}" if number == 10**400 else str(number)


def _tree(data: bytes, dice: random.Random) -> bytes:
    """Damage one value of a JSON document."""
    try:
        tree = json.loads(data)
    except (ValueError, RecursionError):
        return _word(data, dice)
    return _dumped(_damaged(tree, dice))


def _record(data: bytes, dice: random.Random) -> bytes:
    """Damage one value of one line of JSON; often of the first, which says what all others are."""
    lines = data.splitlines()
    if not lines:
        return data
    number = 0 if dice.random() < 0.3 else dice.randrange(len(lines))
    lines[number] = _tree(lines[number], dice)
    return b"\n".join(lines) + b"\n"


def _records(data: bytes, dice: random.Random) -> bytes:
    """Damage one member of all records of one name."""
    lines = data.splitlines()
    try:
        records = [json.loads(line) for line in lines]
        name = dice.choice(records)["record"]
        alike = [record for record in records if record["record"] == name]
        member = dice.choice([key for key in alike[0] if key != "record"])
    except (ValueError, KeyError, TypeError, IndexError, RecursionError):
        return _record(data, dice)
    value = _other(alike[0].get(member), dice)
    for record in alike:
        record[member] = value
    return b"\n".join(map(_dumped, records)) + b"\n"


def _claim(data: bytes, dice: random.Random) -> bytes:
    """Say that there were more ranks than the file holds; each may be on a host of its own."""
    try:
        start, *records = [json.loads(line) for line in data.splitlines()]
        most = int(dice.choice(RANKS))
        start["ranks"] = most
        kept = [record for record in records if record["record"] != "rank"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return _record(data, dice)
    if dice.random() < 0.5:
        hosts = range(min(most, RANKS[-2]))
        listed = [{"record": "rank", "rank": k, "host": f"h{k}", "node": k} for k in hosts]
        records = [*listed, *kept]
    return b"\n".join(map(_dumped, [start, *records])) + b"\n"


def _dumped(tree: Any) -> bytes:
    text = json.dumps(tree, ensure_ascii=True)
    return text.replace('"1e400"', "1" + "0" * 400).encode()


def _damaged(tree: Any, dice: random.Random) -> Any:
    """Return the tree with one value, somewhere, changed, left out, doubled or renamed."""
    if isinstance(tree, dict) and tree and dice.random() < 0.85:
        key = dice.choice(list(tree))
        match dice.randrange(10):
            case 0:
                return {name: value for name, value in tree.items() if name != key}
            case 1:
                return {**tree, dice.choice(NAMES[:-1]): tree[key]}
            case 2:
                return {**tree, key: tree[dice.choice(list(tree))]}
            case _:
                return {**tree, key: _damaged(tree[key], dice)}
    if isinstance(tree, list) and tree and dice.random() < 0.85:
        at = dice.randrange(len(tree))
        match dice.randrange(8):
            case 0:
                return tree[:at] + tree[at + 1 :]
            case 1:
                return tree[:at] + [tree[at]] * dice.choice((2, 200)) + tree[at + 1 :]
            case _:
                return [*tree[:at], _damaged(tree[at], dice), *tree[at + 1 :]]
    return _other(tree, dice)


def _other(value: Any, dice: random.Random) -> Any:
    """Return something in the place of a value: mostly of its own type."""
    if dice.random() < 0.25:
        return dice.choice((None, True, [], {}, "", 0, -1, 0.5, [1], {"a": 1}, [[]], "x"))
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        near = (value * 2, value + 1, -value)
        near += (value * 1e6, value / 3) if abs(value) < 1e300 else ()
        number = dice.choice((*NUMBERS, *near))
        return "1e400" if number == 10**400 else number
    return dice.choice((*NAMES, *WORDS))


def _members(data: bytes, dice: random.Random) -> bytes:
    """Damage one member of a zip archive, its name, or its number."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = [(entry.filename, archive.read(entry)) for entry in archive.infolist()]
    except (zipfile.BadZipFile, zlib.error, ValueError, RuntimeError, EOFError, OSError):
        return _flip(data, dice)  # RuntimeError: it says that it is encrypted
    at = dice.randrange(len(members)) if members else 0
    for number, (name, content) in enumerate(members[at : at + 1], at):
        match dice.randrange(4):
            case 0:
                del members[number]
            case 1:
                members[number] = (dice.choice(("x.npy", "../x.npy", "object.npy")), content)
            case _:
                members[number] = (name, dice.choice((_flip, _cut, _header))(content, dice))
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in dict(members).items():
            archive.writestr(name, content)
    return out.getvalue()


def _header(content: bytes, dice: random.Random) -> bytes:
    """Let an array claim another shape or type."""
    shapes = (
        b"(4096, 4096)",
        b"(100000, 100000)",
        b"(2, 2, 2)",
        b"()",
        b"(-1,)",
        b"(1, 99999999999)",
    )
    types = (b"'|O'", b"'<U99999'", b"'<i8'", b"'<c16'", b"'|V8'", b"'<M8[s]'")
    content = re.sub(rb"\([\d, ]*\)", lambda _: dice.choice(shapes), content, count=1)
    return re.sub(rb"'[<|>=]\w+'", lambda _: dice.choice(types), content, count=dice.randrange(2))


def _packed(data: bytes, dice: random.Random) -> bytes:
    """Damage one file of an archive, or leave it out."""
    content = archives.files(data)
    if not content:
        return data
    name = dice.choice(list(content))
    if dice.random() < 0.1:
        del content[name]
    else:
        content[name] = dice.choice(ANY)(content[name], dice)
    return archives.pack(content)


ANY: Final[Sequence[Mutation]] = (_cut, _flip, _piece, _noise)
TEXT: Final[Sequence[Mutation]] = (
    _cut,
    _flip,
    _piece,
    _lines,
    _lines,
    _word,
    _word,
    _word,
    _deep,
    _separators,
    _encoding,
)

MUTATIONS: Final[dict[str, Sequence[Mutation]]] = {
    "records": (*TEXT, *(_record,) * 12, *(_records,) * 6, _claim),
    "tree": (*TEXT, *(_tree,) * 16),
    "text": TEXT,
    "zip": (*ANY, *(_members,) * 6),
    "binary": ANY,
    "archive": (_packed,),
}
"""Ways to damage, by what a file is made of."""
