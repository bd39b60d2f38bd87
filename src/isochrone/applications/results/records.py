"""Records of a run file as structs."""

from collections.abc import Iterable
from typing import TypeVar, get_origin

from msgspec import Struct
from msgspec.structs import fields

from isochrone.base.errors import InputError
from isochrone.base.table import Table
from isochrone.base.text import printable, whole_number
from isochrone.runfile.run import Run

_Kind = TypeVar("_Kind", bound=Struct)


def records(run: Run, name: str, kind: type[_Kind]) -> list[_Kind]:
    """Return the records of a name, each as a struct whose members are their keys.

    The rules of run files say that each has all of them, but for those with a default; ``source``
    is the key ``from``, and several numbers are written as text: ``3 4 5``.

    Raises
    ------
    InputError
        If such a text holds something else.
    """
    table = run.tables.get(name, Table())
    if not len(table):
        return []

    def column(key: str, of: object) -> Iterable[object]:
        if of in (int, float):
            return table[key].astype(of).tolist()  # type: ignore[no-any-return]
        texts = table[key].tolist()
        if get_origin(of) is not tuple:
            return [printable(text, 80) for text in texts]
        lists = [tuple(map(whole_number, text.split())) for text in texts]
        if any(None in numbers for numbers in lists):
            raise InputError(f"the '{key}' of a '{name}' record are not numbers", where=run.where)
        return lists

    columns = [
        column("from" if member.name == "source" else member.name, member.type)
        for member in fields(kind)
        if member.required or member.name in table
    ]
    return [kind(*row) for row in zip(*columns, strict=True)]
