"""The number of ranks of files that do not contain it: given for each, or in their names."""

import re
from collections.abc import Sequence
from pathlib import Path

from isochrone.base.errors import InputError
from isochrone.base.text import listed, printable, whole_number
from isochrone.formats.source import MAX_RANKS

FROM_NAME = "from-name"

Given = tuple[int, ...] | str
"""Numbers of ranks, or `FROM_NAME`."""

_LISTED = 3
"""Files that an error names."""

_LAST = re.compile(r"(?:.*[_-])?(?:np?|p|ranks|procs)?([0-9]{1,7})")


def read_given(text: str) -> Given:
    """Read ``4``, ``4,8``, or ``from-name``.

    Raises
    ------
    InputError
        If it is none.
    """
    if text == FROM_NAME:
        return FROM_NAME
    numbers = [whole_number(word.strip()) for word in text.split(",")]
    if not all(number and number <= MAX_RANKS for number in numbers):
        raise InputError(
            f"'{printable(text, 60)}' is not a number of ranks, a number for each file such as "
            f"4,8, or {FROM_NAME}"
        )
    return tuple(number for number in numbers if number)


def in_name(path: Path) -> int:
    """Return the number at the end of the name of a file such as ``bcast_8.txt``; 0 if none.

    Before it is ``_`` or ``-``, perhaps with ``n``, ``np``, ``p``, ``ranks`` or ``procs``.
    """
    last = _LAST.fullmatch(path.stem)
    number = int(last[1]) if last else 0
    return number if number <= MAX_RANKS else 0


def ranks_of(lacking: Sequence[Path], given: Given | None) -> list[int]:
    """Return the number of ranks of each file that does not contain it.

    Parameters
    ----------
    lacking
        These files; one or more.
    given
        The numbers: one for each of these files, in their order.

    Raises
    ------
    InputError
        If there are more or fewer numbers than these files, or a name has none.
    """
    from_names = [*map(in_name, lacking)]
    if given == FROM_NAME:
        for path, number in zip(lacking, from_names, strict=True):
            if not number:
                raise InputError(
                    "the name does not end in a number of ranks, as in bcast_8.txt", where=path,
                    hint=f"give one number for each file: --ranks {_example(from_names)}",
                )  # fmt: skip
        return from_names
    numbers = [number for number in given or () if isinstance(number, int)]
    if len(numbers) == len(lacking):
        return numbers
    several = len(lacking) > 1
    problem = f"the file{'s do' if several else ' does'} not contain the number of ranks"
    if numbers:
        problem += f", and --ranks has {len(numbers)} number{'s' * (len(numbers) > 1)}"
    hint = f"give {'one for each: ' * several}--ranks {_example(from_names)}"
    raise InputError(
        problem, where=listed([printable(path, 120) for path in lacking], _LISTED),
        hint=hint + f", or --ranks {FROM_NAME}" * all(from_names),
    )  # fmt: skip


def _example(from_names: Sequence[int]) -> str:
    return ",".join(str(number or "N") for number in from_names[:_LISTED]) + (
        ",…" * (len(from_names) > _LISTED)
    )
