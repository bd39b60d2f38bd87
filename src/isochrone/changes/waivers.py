"""Waivers for known problems: a host that waits for repair, a level that may be slower.

A waiver is ``host=n05``, ``rank=3``, ``pair=n1,n2`` or ``level=2``, optionally with a limit such as
``:30%``. It is matched by a regular expression and never evaluated.
"""

import re

from isochrone.base.errors import InputError
from isochrone.base.record import Record
from isochrone.base.text import printable

HOST = r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,252})"
"""Host names that are safe in a list of hosts, a shell or a scheduler."""

_RULE = re.compile(
    rf"(?:host=(?P<host>{HOST})|rank=(?P<rank>[0-9]{{1,7}})|level=(?P<level>[0-9]{{1,3}})"
    rf"|pair=(?P<a>{HOST}),(?P<b>{HOST}))(?::(?P<percent>[0-9]{{1,4}}(?:\.[0-9]{{1,3}})?)%)?",
    re.ASCII,
)
_NAME = re.compile(HOST, re.ASCII)


class Rule(Record):
    """One waiver.

    Attributes
    ----------
    text
        As the user wrote it.
    kind
        ``host``, ``rank``, ``pair`` or ``level``.
    names
        The host, the two hosts or ranks of a pair, or the number.
    by
        Fraction of the time by which it may be slower; None: no limit.
    """

    text: str
    kind: str
    names: tuple[str, ...]
    by: float | None = None

    def covers(
        self,
        kind: str,
        hosts: tuple[str, ...],
        ranks: tuple[int, ...],
        level: int | None,
        ratio: float,
    ) -> bool:
        """Return whether it covers a finding.

        Parameters
        ----------
        kind, hosts, ranks
            The finding, and the hosts and ranks it concerns.
        level
            Number of the level, if the finding is one.
        ratio
            Its time over the expected time.
        """
        if self.by is not None and ratio > 1 + self.by:
            return False
        if self.kind == "host":
            # a slow pair with a waived host is attributed to that host
            return self.names[0] in hosts if kind == "pair" else set(hosts) == set(self.names)
        if self.kind == "rank":
            return ranks == (int(self.names[0]),)
        if self.kind == "level":
            return kind == "level" and level == int(self.names[0])
        numbers = tuple(map(str, ranks))
        return kind == "pair" and set(self.names) in (set(hosts), set(numbers))


def is_host_name(text: str) -> bool:
    """Whether a text is a valid host name: letters, digits, dots and dashes."""
    return _NAME.fullmatch(text) is not None


def parse_rule(text: str) -> Rule:
    """Read one waiver.

    Raises
    ------
    InputError
        If it is malformed.
    """
    match = _RULE.fullmatch(text)
    if match is None:
        raise InputError(
            f"'{printable(text, 80)}' is not a valid rule",
            where="--allow",
            hint="write host=n05, rank=3, pair=n1,n2 or level=2, or with a limit host=n05:30%",
        )
    percent = match["percent"]
    by = None if percent is None else float(percent) / 100
    if match["a"]:
        return Rule(text, "pair", (match["a"], match["b"]), by)
    kind = next(name for name in ("host", "rank", "level") if match[name] is not None)
    return Rule(text, kind, (match[kind],), by)
