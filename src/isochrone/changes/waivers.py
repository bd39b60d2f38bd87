"""Rules that allow what is known: a host that is waiting for repair, a level that may be slower.

A rule is ``host=n05``, ``rank=3``, ``pair=n1,n2`` or ``level=2``, with ``:30%`` behind it if only
so much is allowed. It is read by a pattern; nothing of it is ever evaluated.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from isochrone.base.errors import InputError
from isochrone.base.text import printable

HOST: Final = r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,252})"
"""What a list of hosts, a shell or a scheduler can be given without harm."""

_RULE: Final = re.compile(
    rf"(?:host=(?P<host>{HOST})|rank=(?P<rank>[0-9]{{1,7}})|level=(?P<level>[0-9]{{1,3}})"
    rf"|pair=(?P<a>{HOST}),(?P<b>{HOST}))(?::(?P<percent>[0-9]{{1,4}}(?:\.[0-9]{{1,3}})?)%)?",
    re.ASCII,
)
_NAME: Final = re.compile(HOST, re.ASCII)


@dataclass(frozen=True)
class Rule:
    """One thing that is allowed.

    Attributes
    ----------
    text
        As the user wrote it.
    kind
        ``host``, ``rank``, ``pair`` or ``level``.
    names
        The host, the two hosts or ranks of a pair, or the number.
    by
        Part of the time by which it may be slower; None: by anything.
    """

    text: str
    kind: str
    names: tuple[str, ...]
    by: float | None = None

    def covers(
        self, kind: str, hosts: tuple[str, ...], ranks: tuple[int, ...], level: int | None,
        ratio: float,
    ) -> bool:  # fmt: skip
        """Tell whether it allows a finding.

        Parameters
        ----------
        kind, hosts, ranks
            What was found, and the hosts and ranks it concerns.
        level
            Number of the level, of a finding that is one.
        ratio
            Its time over what it should be.
        """
        if self.by is not None and ratio > 1 + self.by:
            return False
        if self.kind == "host":
            # whatever is slow between a known bad host and another one is laid to that host
            return self.names[0] in hosts if kind == "pair" else set(hosts) == set(self.names)
        if self.kind == "rank":
            return ranks == (int(self.names[0]),)
        if self.kind == "level":
            return kind == "level" and level == int(self.names[0])
        numbers = tuple(map(str, ranks))
        return kind == "pair" and set(self.names) in (set(hosts), set(numbers))


def is_host_name(text: str) -> bool:
    """Whether a text can be nothing but the name of a host: letters, digits, dots and dashes."""
    return _NAME.fullmatch(text) is not None


def parse_rule(text: str) -> Rule:
    """Read one rule.

    Raises
    ------
    InputError
        If it is none; says what rules look like.
    """
    found = _RULE.fullmatch(text)
    if found is None:
        raise InputError(
            f"'{printable(text, 80)}' is no rule", where="--allow",
            hint="rules are host=n05, rank=3, pair=n1,n2 or level=2, each with :30% if only so "
            "much is allowed",
        )  # fmt: skip
    percent = found["percent"]
    by = None if percent is None else float(percent) / 100
    if found["a"]:
        return Rule(text, "pair", (found["a"], found["b"]), by)
    kind = next(name for name in ("host", "rank", "level") if found[name] is not None)
    return Rule(text, kind, (found[kind],), by)
