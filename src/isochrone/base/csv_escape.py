"""Text from elsewhere as a cell of a table, such that no program takes it for more; and back."""

from __future__ import annotations

import re
from typing import Final

_FORMULA: Final = re.compile(r"'*[=+\-@＝＋－＠]")
_MARKED: Final = re.compile(r"'+[=+\-@＝＋－＠]")
_AT_AN_EDGE: Final = re.compile(r"^ | $")
_ESCAPE: Final = re.compile(
    # no half of a surrogate pair, which is no character
    r"\\(?:\\|x([0-9a-f]{2})|u((?!d[89a-f])[0-9a-f]{4})|U(00(?:0[1-9a-f]|10)[0-9a-f]{4}))"
)


def escaped(text: str) -> str:
    r"""Write what cannot be seen, and blanks at the edges, by number: ``\x1b``, ``\u202e``.

    So names that differ still do where control characters or blanks are dropped. A backslash is
    doubled. No valid name of a host has any of these (RFC 1123), so a real one is never changed.
    """
    plain = "".join(c if c.isprintable() and c != "\\" else _number(c) for c in text)
    return _AT_AN_EDGE.sub(r"\\x20", plain)


def unescaped(text: str) -> str:
    """Return the text of which `escaped` made this one; what is no number of ours is left alone."""
    return _ESCAPE.sub(_character, text)


def cell_of(text: str) -> str:
    """Make a text a cell that a spreadsheet does not run.

    It runs a cell that begins with ``= + - @``, quoted or not. An apostrophe in front marks it as
    text; one that has apostrophes before such a sign gets one more.
    """
    plain = escaped(text)
    return f"'{plain}" if _FORMULA.match(plain) else plain


def text_of(cell: str) -> str:
    """Return the text of which `cell_of` made a cell."""
    return unescaped(cell[1:] if _MARKED.match(cell) else cell)


def _number(character: str) -> str:
    code = ord(character)
    if character == "\\":
        return r"\\"
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _character(found: re.Match[str]) -> str:
    number = next(filter(None, found.groups()), None)
    return chr(int(number, 16)) if number else "\\"
