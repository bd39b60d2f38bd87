"""The number of ranks of files that do not contain it: given for each, or in their names."""

import re
from collections.abc import Sequence
from pathlib import Path

from isochrone.base.errors import InputError
from isochrone.base.text import listed, printable, whole_number
from isochrone.formats.source import MAX_FILE_RANKS

FROM_NAME = "from-name"

Given = tuple[int, ...] | str
"""Numbers of ranks, or `FROM_NAME`."""

_LISTED_FILES = 3
"""Files that an error names."""

_NAMED = re.compile(r"(?:.*[_-])?(?:np?|p|ranks|procs)[_-]?([0-9]{1,7})(?:[_-].*)?")
_LAST = re.compile(r"(?:.*[_-])?([0-9]{1,7})")


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
    if not all(rank_count and rank_count <= MAX_FILE_RANKS for rank_count in numbers):
        raise InputError(
            f"'{printable(text, 60)}' is not a number of ranks, a number for each file such as "
            f"4,8, or {FROM_NAME}"
        )
    return tuple(rank_count for rank_count in numbers if rank_count)


def in_name(path: Path) -> int:
    """Return the number of ranks in the name of a file such as ``bcast_8.txt``; 0 if none.

    Before it is ``n``, ``np``, ``p``, ``ranks`` or ``procs``; else it is the last number.
    """
    number = _NAMED.fullmatch(path.stem) or _LAST.fullmatch(path.stem)
    rank_count = int(number[1]) if number else 0
    return rank_count if rank_count <= MAX_FILE_RANKS else 0


def ranks_of(lacking: Sequence[Path], requested: Given | None) -> list[int]:
    """Return the number of ranks of each file that does not contain it.

    Parameters
    ----------
    lacking
        These files; one or more.
    requested
        The numbers: one for each of these files, in their order.

    Raises
    ------
    InputError
        If there are more or fewer numbers than these files, or a name has none.
    """
    from_names = [*map(in_name, lacking)]
    if requested == FROM_NAME:
        for path, rank_count in zip(lacking, from_names, strict=True):
            if not rank_count:
                raise InputError(
                    "the name does not end in a number of ranks, as in bcast_8.txt",
                    where=path,
                    hint=f"give one number for each file: --ranks {_example(from_names)}",
                )
        return from_names
    numbers = [rank_count for rank_count in requested or () if isinstance(rank_count, int)]
    if len(numbers) == len(lacking):
        return numbers
    several = len(lacking) > 1
    problem = f"the file{'s do' if several else ' does'} not contain the number of ranks"
    if numbers:
        problem += f", and --ranks has {len(numbers)} number{'s' * (len(numbers) > 1)}"
    hint = f"give {'one for each: ' * several}--ranks {_example(from_names)}"
    raise InputError(
        problem,
        where=listed([printable(path, 120) for path in lacking], _LISTED_FILES),
        hint=hint + f", or --ranks {FROM_NAME}" * all(from_names),
    )


def _example(from_names: Sequence[int]) -> str:
    return ",".join(str(rank_count or "N") for rank_count in from_names[:_LISTED_FILES]) + (
        ",…" * (len(from_names) > _LISTED_FILES)
    )
