"""Untrusted text as a cell of a table that no spreadsheet executes, and its inverse."""

import re

_FORMULA = re.compile(r"'*[=+\-@＝＋－＠]")
_MARKED = re.compile(r"'+[=+\-@＝＋－＠]")
_AT_AN_EDGE = re.compile(r"^ | $")
_ESCAPE = re.compile(
    # without surrogates
    r"\\(?:\\|x([0-9a-f]{2})|u((?!d[89a-f])[0-9a-f]{4})|U(00(?:0[1-9a-f]|10)[0-9a-f]{4}))"
)


def escaped(text: str) -> str:
    r"""Escape invisible characters, and blanks at the edges, by number: ``\x1b``, ``\u202e``.

    Different names stay different where programs drop such characters. A backslash is doubled.
    Valid host names (RFC 1123) are never changed.
    """
    plain = "".join(c if c.isprintable() and c != "\\" else _number(c) for c in text)
    return _AT_AN_EDGE.sub(r"\\x20", plain)


def unescaped(text: str) -> str:
    """Return the original of an `escaped` text; other escapes are not changed."""
    return _ESCAPE.sub(_character, text)


def cell_of(text: str) -> str:
    """Return a text as a cell that a spreadsheet does not execute.

    It executes cells that begin with ``= + - @``, quoted or not. A leading apostrophe marks text;
    a text with apostrophes before such a sign gets one more.
    """
    plain = escaped(text)
    return f"'{plain}" if _FORMULA.match(plain) else plain


def text_of(cell: str) -> str:
    """Return the original text of a cell of `cell_of`."""
    return unescaped(cell[1:] if _MARKED.match(cell) else cell)


def _number(character: str) -> str:
    code = ord(character)
    if character == "\\":
        return r"\\"
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _character(match: re.Match[str]) -> str:
    digits = next(filter(None, match.groups()), None)
    return chr(int(digits, 16)) if digits else "\\"
