"""Records of a run file as structs."""

from dataclasses import fields
from typing import Any

import numpy as np

from isochrone.base.text import printable
from isochrone.runfile.run import Run


def records(run: Run, name: str, kind: Any) -> list[Any]:
    """Return the records of a name, each as a struct whose members are their keys.

    The rules of run files say that each has all of them; ``source`` is the key ``from``.
    """
    table = run.tables.get(name)
    if table is None or not len(table):
        return []
    columns = []
    for member in fields(kind):
        values = table["from" if member.name == "source" else member.name]
        if member.type is str:
            columns.append([printable(text, 80) for text in values.tolist()])
        else:
            columns.append(values.astype(np.float64 if member.type is float else int).tolist())
    return [kind(*row) for row in zip(*columns, strict=True)]
