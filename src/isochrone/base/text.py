"""Untrusted text (host names, logs, names of files) made safe to print; names that are alike."""

import os
import re
import shlex
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import takewhile

_CLOSE, _LIKE = 0.85, 0.65
"""Similarities (of difflib) of a word to the name that is meant, and to one that may be."""

_STEM = 4
"""Letters by which a word is recognised in a help."""

Tell = Callable[[str], None]
"""Receives a line for the user."""

MAX_PATH = 4096

_MAX_DIGITS = 18
"""Maximum number of digits of a whole number, which fits into 64 bits."""


def printable(text: object, limit: int = 200) -> str:
    """Return ``text`` on one line, without control characters, cut after ``limit`` characters.

    A host name in a run file may contain terminal escape sequences.
    """
    clean = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in str(text))
    return clean if len(clean) <= limit else clean[: limit - 1] + "…"


def listed(names: Sequence[str], max_names: int) -> str:
    """List the first names, and count the others: ``a, b and 3 more``."""
    suffix = f" and {len(names) - max_names} more" if len(names) > max_names else ""
    return ", ".join(names[:max_names]) + suffix


def printable_path(path: object) -> str:
    """Return the name of a file likewise, with a limit for file names."""
    return printable(path, MAX_PATH)


listeners: list[Tell] = []
"""Receive each line of `warn`, too."""


def warn(text: object, limit: int = 500) -> None:
    """Print a line on standard error."""
    line = printable(text, limit)
    print(f"isochrone: {line}", file=sys.stderr)
    for listener in listeners:
        listener(line)


def shell_word(word: str) -> str:
    """Return a word quoted for a shell.

    Control characters are written in ``$'…'``, which bash, ksh and zsh read.
    """
    if word.isprintable():
        return shlex.quote(word)
    typed = "".join(c if c.isprintable() and c not in "\\'" else _numbers(c) for c in word)
    return f"$'{typed}'"


def command_line(words: Iterable[str]) -> str:
    """Return a command quoted for a shell."""
    return " ".join(map(shell_word, words))


def _numbers(character: str) -> str:
    return "".join(f"\\{byte:03o}" for byte in os.fsencode(character))


def whole_number(text: str) -> int | None:
    """Read a whole number of at most 18 ASCII digits; None if it is none."""
    fits = len(text) <= _MAX_DIGITS and text.isascii() and text.isdigit()
    return int(text) if fits else None


Names = Sequence[str] | Mapping[str, str]
"""Names, perhaps with the help of each."""


def nearest(word: str, choices: Names) -> str:
    """Return the known name that ``word`` means, or is similar to; empty if there is none."""
    from isochrone.base.synonyms import advice

    meant = _meant(word, choices)
    return "" if meant in advice().values() else meant


def did_you_mean(
    word: str,
    choices: Names,
    *,
    suffix: str = "; ",
    elsewhere: Callable[[], Mapping[str, str]] = dict,
) -> str:
    """Return ``did you mean 'show'?`` or advice, followed by ``suffix``; empty if none fits.

    ``elsewhere`` returns names that other commands have, and where they are typed.
    """
    from isochrone.base.synonyms import advice

    meant = _meant(word, choices, elsewhere)
    if meant and meant not in advice().values():
        meant = f"did you mean '{meant}'?"
    return f"{meant}{suffix}" if meant else ""


def _meant(word: str, choices: Names, elsewhere: Callable[[], Mapping[str, str]] = dict) -> str:
    """Return the name or the advice that a word means.

    In this order: by meaning; a similar name or meaning; a name that has the word as a part; a name
    elsewhere; parts of the word by meaning (``--pin-processes``); a name whose help has the word; a
    name that is less similar.
    """
    from isochrone.base.synonyms import advice, synonyms

    texts = dict(choices) if isinstance(choices, Mapping) else dict.fromkeys(choices, "")
    meanings = advice() | synonyms(texts) | {name: name for name in texts}
    plainly = {_plain(meaning): name for meaning, name in [*meanings.items()][::-1]}
    dash, plain = "-" * (word[:1] == "-"), _plain(word)
    parts = re.split("[-_ ]+", word.strip("-_ "))
    some = [
        _plain(dash + "".join(parts[first : first + count]))
        for count in range(len(parts) - 1, 0, -1)
        for first in range(len(parts) - count + 1)
    ]
    whole = [name for name in texts if plain in (dash + part for part in name.split("-")[1:])]
    return (
        meanings.get(word)
        or plainly.get(plain)
        or _alike(word, texts, _CLOSE)
        or meanings.get(_alike(word, meanings, _CLOSE))
        or next(iter(whole), "")
        or (_there(plain, elsewhere()) if len(plain.strip("-")) > 1 else "")
        or next((plainly[part] for part in some if part in plainly), "")
        or _by_help(plain.strip("-"), texts)
        or _alike(word, texts, _LIKE)
    )


def _there(plain: str, places: Mapping[str, str]) -> str:
    """Return where other commands have a name, also a choice typed as an option, or the reverse."""
    from isochrone.base.synonyms import synonyms

    there = {_plain(name): place for name, place in [*places.items()][::-1]}
    for word, meant in synonyms(places).items():
        name, _, rest = meant.partition(" ")
        if name in places and not word.startswith("-"):
            there.setdefault(_plain(word), f"{places[name]} {rest}".strip())
    as_other = plain.strip("-") if plain.startswith("-") else f"-{plain}"
    return there.get(plain) or (there.get(as_other, "") if len(plain) > _STEM else "")


def _plain(word: str) -> str:
    """Return a word without dashes inside; of capital letters, only an option of one keeps its."""
    letters = re.sub("[-_ ]", "", word)
    return "-" * (word[:1] == "-") + (letters.lower() if len(letters) > 1 else letters)


def _alike(word: str, known: Iterable[str], cutoff: float) -> str:
    """Return the most similar option, or other name; empty if none is so similar."""
    import difflib  # slow, and rarely needed

    option = word[:1] == "-"
    alike = {name.lower().lstrip("-"): name for name in known if option == (name[:1] == "-")}
    close = difflib.get_close_matches(word.lower().lstrip("-"), alike, n=1, cutoff=cutoff)
    return alike[close[0]] if close else ""


def _by_help(word: str, texts: Mapping[str, str]) -> str:
    """Return the name whose help has a word, or one that begins like it, earliest.

    Of a help, the text before the first punctuation counts.
    """
    stem = re.escape(word[: max(_STEM, len(word) * 3 // 4)])
    found = {name: re.match(rf"[^.,:;()]*?\b{stem}", text.lower()) for name, text in texts.items()}
    places = [(match.end(), name) for name, match in found.items() if match]
    return min(places, default=(0, ""))[1] if len(word) >= _STEM else ""


_FORMS = {
    r"[1-9]\d*(,\d+)*": ("-n", "--ranks", "--nodes"),
    r"\d+-\d+(,\d+-\d+)*": ("--pairs",),
    r"[\d.]+%": ("PERCENT",),
    r"[\d.]+(s|m|h|min|sec)": ("TIME",),
    r"[\d.]+[kKMG]i?B?([:,].*)?": ("--bytes",),
    r".+\.(png|svg|pdf|html|xml)": ("-o",),
}
"""Forms of words, and the options that take them, or the names of the values of these."""


def misplaced(word: str, words: Sequence[str], options: Mapping[str, tuple[str, Names]]) -> str:
    """Return how a word is typed that stands where it means nothing; empty if that is not known.

    Parameters
    ----------
    word, words
        The word, and the command line that it is in.
    options
        Name of the value of each option, and its choices.
    """
    before, after = words[: words.index(word)], words[words.index(word) + 1 :]
    values = [*takewhile(_is_value, before[::-1])][::-1]
    option = before[-len(values) - 1] if len(values) < len(before) else ""
    value, choices = options.get(option, ("", ()))
    values += [word, *takewhile(_is_value, after)]
    if value in ("TEXT", "QUESTION", "WORDS"):
        return f"{option} {shell_word(' '.join(values))}"
    if re.search("LIST|SIZES|,", value) and all(v[0].isdigit() or v in choices for v in values):
        return f"{option} {','.join(values)}"
    for name, (_, choices) in options.items():
        if {*map(_plain, word.split(","))} <= {*map(_plain, choices)}:
            return f"{name} {word}"
    forms = [takers for form, takers in _FORMS.items() if re.fullmatch(form, word)]
    for name, (value, _) in options.items():
        if any(name in takers or value in takers for takers in forms):
            return f"{name} {word}"
    return ""


def _is_value(word: str) -> bool:
    return not word.startswith("-")
