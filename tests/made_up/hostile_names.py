"""Names that nobody wants, and run files in which one kind of name after the other is such a one.

A name that starts something would leave a file called `TRACE`, or a page's ``window.broken``.
"""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

__all__ = [
    "ACCEPTED",
    "COMBINED",
    "FILE_NAMES",
    "NAMES",
    "NUMBERS",
    "TRACE",
    "Field",
    "combined",
    "enriched",
    "fields",
    "renamed",
    "renamed_everywhere",
]

TRACE: Final = "pwned"

_HTML: Final = (
    "<img src=x onerror='window.broken=1'>",
    "</script><script>window.broken=1</script>",
    "<!--<script>window.broken=1//",
    "</title></style></textarea><svg onload=window.broken=1>",
    "\"><iframe srcdoc='<script>parent.broken=1</script>'>",
    "javascript:window.broken=1",
    "data:text/html,<script>window.broken=1</script>",
    "&lt;b&gt;&#x27;]]><![CDATA[ {{ 7*7 }} {% raw %}",
    "[x](javascript:window.broken=1) | ``` _a_ *b*",
    "__proto__",
    "constructor",
)
_SHELL: Final = (
    f"$(touch {TRACE})",
    f"`touch {TRACE}`",
    f"; touch {TRACE};",
    f"| touch {TRACE} &",
    "-n",
    "--launcher-arg",
    "-rf .",
    "*",
    "~root",
    "../../../etc/passwd",
    "$HOME %PATH% !!",
)
_TERMINAL: Final = (
    "\x1b[2J\x1b[31m",
    "\x1b]0;title\x07",
    "\x1b]52;c;cHduZWQ=\x1b\\",
    "\x1b]8;;http://example.org\x07link\x1b]8;;\x07",
    "\x9b31m\x9d0;x\x9c",
    "a\x00b",
    "a\nb",
    "isochrone: all is well\r",
    "a\r\nb",
    "a\tb",
    "\x08\x08\x08\x7f",
    "\x0b\x0c\x1c\x1d\x1e\x85",
    "a\u2028b\u2029c",
    "[bold red]x[/] [link=http://example.org]y[/link] [/nothing]",
    ":boom: \\[",
)
_UNICODE: Final = (
    "\u202eevil\u202c",
    "\u2066a\u2067b\u2068c\u2069\u200f\u061c",
    "a\u200bb\u200cc\u200dd\u2060e\ufeff",
    "\u05d0\u05d1\u0627",
    "\ufffe\uffff\U0001ffff\U000e0041\ue000",
    "e" + "\u0301\u0323" * 40,
    "漢字" * 20,
    "\U0001f600\U0001f468\u200d\U0001f469",
    "\u3164\u00a0\u2003",
    "\u0000",
    "ſKİ",
)
_LANGUAGES: Final = (
    "%n%s%%d%1000000d",
    "{} {0} {0.__class__} {",
    "'); system('touch " + TRACE + "'); x=('",
    '"; system("touch ' + TRACE + '"); "',
    '".system("touch ' + TRACE + '")."',
    f"x' w l; !touch {TRACE}",
    "@macro {/Symbol a}_{b}^{c} ~a{.8b}",
    "$",
    "$\\frac{$ \\undefined{x}",
    "$x$ $$ \\$ a_b^c \\mathdefault{",
    "%matlab '' \"\" ... [1 2]",
    "=cmd|' /C calc'!A0",
    "+1+1",
    "-2+3",
    "@SUM(A1)",
    "\t=1+1",
    "\r=1+1",
    " =1+1",
    "'=1+1",
    "''@a",
    "＝1+1",
    'a,b;"c"',
    '"',
    "'",
    "\\",
    "\\n\\u0000",
    "!!python/object/apply:os.system [touch " + TRACE + "]",
    "&a [*a, *a]",
    "key: value",
    "- item",
)
_HOSTS: Final = (
    "",
    " ",
    "#",
    "# comment",
    "n1:4",
    "n1 slots=99",
    "n[1-3]",
    "n1,n2",
    "n1\nn2",
    "host with blanks",
    "a" * 255,
    "a" * 256,
    "null",
    "NaN",
    "1e999",
    "-1",
    "007",
)

NAMES: Final = (*_HTML, *_SHELL, *_TERMINAL, *_UNICODE, *_LANGUAGES, *_HOSTS)
"""Each does harm to something that takes a name for more than a name."""


def combined(number: int, seed: int = 0) -> tuple[str, ...]:
    """Put some of them together at random, the same for a seed."""
    chance = random.Random(seed)
    return tuple("".join(chance.choices(NAMES, k=chance.randint(2, 4))) for _ in range(number))


COMBINED: Final = combined(40)


FILE_NAMES: Final = tuple(
    dict.fromkeys(
        name[:60].translate({0: "_", ord("/"): "_"})
        for name in (*NAMES, "caf\udce9\udc9b31m", "n" * 200)
        if name not in ("", ".", "..")
    )
)
"""Names that files can have, in bytes that are no UTF-8 as well."""


@dataclass(frozen=True)
class Field:
    """Where a text of a run file stands: its kind of record, and the keys on the way to it.

    The last key may be ``<key>``: then the keys of what is there are names themselves.
    """

    record: str
    path: tuple[str, ...]

    def __str__(self) -> str:
        return ".".join((self.record, *self.path))


KEY: Final = "<key>"
_OPEN: Final = frozenset({"notes", "settings", "options", "imported"})
"""Members of a header whose keys come from elsewhere as well."""

_MEANING: Final = frozenset({"record", "experiment", "kind", "by"})
"""What says how a file is read: these are damaged elsewhere, by `fuzz`."""

ACCEPTED: Final = frozenset(
    {
        "rank.host",
        "run.mpi.library",
        "run.mpi.standard",
        "run.notes.a",
        "run.notes.<key>",
        "run.settings.UCX_TLS",
        "run.settings.<key>",
        "run.settings_left_out.*",
        "run.machine.kernel",
        "run.machine.processor",
        "run.machine.governor",
        "run.memory",
        "run.probe",
        "run.host",
        "run.clock.source",
        "run.started",
        "run.seconds_are",
        "run.imported.path",
        "run.options.<key>",
        "warning.text",
        "warning.code",
    }
)
"""Fields in which any text is taken as it is, since none says what anything means."""


NUMBERS: Final = frozenset(
    {
        "app.ranks",
        "launch.together",
        "group.members",
        "sample.grid",
        "sample.phase",
        "pattern.op",
        "independent.op",
    }
)
"""Texts of which only some are allowed: lists of ranks, grids, reading or writing."""


def enriched(text: str) -> str:
    """Add to a run file all that its header can say, and warnings."""
    lines = text.splitlines()
    header = json.loads(lines[0])
    header |= {
        "notes": header.get("notes", {}) | {"a": "b", "launcher": "srun", "launch": "1 of 1"},
        "settings": {"UCX_TLS": "rc", "FI_PROVIDER": "tcp"},
        "settings_left_out": ["UCX_KEY", "UCX_TOKEN"],
        "machine": {"kernel": "6.1", "processor": "x", "governor": "performance", "numa": 2},
        "memory": "host",
        "probe": "1.2",
        "host": "login",
        "imported": {"format": "osu", "path": "a.txt", "sha256": "0" * 64},
    }
    lines[0] = json.dumps(header)
    said = [{"code": f"c{k}", "text": f"text {k}"} for k in range(4)]
    place = 1 + sum(json.loads(line)["record"] == "rank" for line in lines)
    lines[place:place] = [json.dumps({"record": "warning", **one}) for one in said]
    return "\n".join(lines) + "\n"


def fields(text: str) -> list[Field]:
    """List where a run file has texts, but for those that say how it is read."""
    found: dict[Field, None] = {}
    for line in text.splitlines():
        record = json.loads(line)
        for path, _ in _texts(record):
            if path[0] not in _MEANING:
                found[Field(record["record"], path)] = None
        for key in _OPEN & set(record):
            found[Field(record["record"], (key, KEY))] = None
    return list(found)


def renamed(text: str, field: Field, names: Sequence[str]) -> str:
    """Give other names to all that a field holds: to each its own, in turn."""
    supply = itertools.cycle(names)
    new: dict[str, str] = {}

    def name(old: str) -> str:
        if old not in new:
            new[old] = next(supply)
        return new[old]

    lines = []
    for line in text.splitlines():
        record = json.loads(line)
        if record["record"] == field.record:
            record = _changed(record, field.path, name)
        lines.append(json.dumps(record))
    return "\n".join(lines) + "\n"


def renamed_everywhere(text: str, names: Sequence[str] = NAMES, *, deep: bool = False) -> str:
    """Give other names to all that may have any: each field begins elsewhere in their list.

    ``deep`` takes those as well that a reader knows some words of, such as operations.
    """
    text = enriched(text)
    for number, field in enumerate(fields(text)):
        if str(field) in ACCEPTED or (deep and str(field) not in NUMBERS):
            start = 7 * number % len(names)
            text = renamed(text, field, (*names[start:], *names[:start]))
    return text


def _texts(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the way to each text, and the text."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for key, one in value.items():
            yield from _texts(one, (*path, key))
    elif isinstance(value, list):
        for one in value:
            yield from _texts(one, (*path, "*"))


def _changed(value: Any, path: tuple[str, ...], name: Callable[[str], str]) -> Any:
    """Return a value in which the texts at a path have other names."""
    if not path:
        return name(value) if isinstance(value, str) else value
    key, *rest = path
    if key == KEY and isinstance(value, dict):
        return {name(old): one for old, one in value.items()}
    if key == "*" and isinstance(value, list):
        return [_changed(one, tuple(rest), name) for one in value]
    if isinstance(value, dict) and key in value:
        return value | {key: _changed(value[key], tuple(rest), name)}
    return value
