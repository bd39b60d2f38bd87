"""Settings of a description for many values: ``n=1024,2048`` and ``p=4:64:x2``."""

import re
from collections.abc import Iterable
from itertools import product
from math import prod

from isochrone.base.errors import InputError
from isochrone.base.units import parse_sizes

MAX_SWEEP_POINTS = 10_000

_RANGE = re.compile(r"\d+:\d+:x?\d+(\.\d+)?")


def settings(pairs: Iterable[tuple[str, str]]) -> list[dict[str, str]]:
    """Return all combinations of settings, the last one fastest.

    Parameters
    ----------
    pairs
        Names and values: one value, several joined by commas, or START:STOP:STEP or
        START:STOP:xFACTOR of whole numbers. Commas in parentheses are of an expression.

    Returns
    -------
    list of dict
        Values by name, as `reading.read` takes them; one empty dict if nothing is set.

    Raises
    ------
    InputError
        If one is given twice, or there are too many combinations.
    """
    choices: dict[str, list[str]] = {}
    for name, values in pairs:
        where = f"--set {name}"
        if name in choices:
            raise InputError(
                f"'{name}' is set twice", where="--set", hint=f"several values: {name}=A,B"
            )
        choices[name] = []
        for choice in _parts(values):
            if not choice:
                raise InputError("the value is empty", where=where)
            if not _RANGE.fullmatch(choice):
                choices[name].append(choice)
                continue
            try:
                choices[name] += map(str, parse_sizes(choice, MAX_SWEEP_POINTS))
            except InputError as error:
                raise InputError(error.what, where=where, hint=error.hint) from error
        if prod(map(len, choices.values())) > MAX_SWEEP_POINTS:
            raise InputError(
                f"the values have more than {MAX_SWEEP_POINTS} combinations", where="--set"
            )
    return [dict(zip(choices, values, strict=True)) for values in product(*choices.values())]


def _parts(values: str) -> list[str]:
    """Cut a list at its commas, but for those in parentheses."""
    choices, depth = [""], 0
    for letter in values:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            choices.append("")
        else:
            choices[-1] += letter
    return [choice.strip() for choice in choices]
