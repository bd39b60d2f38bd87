"""Writes src/isochrone/base/operation_table.py from operation_table.h: `make operations`."""

import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
_ROW = re.compile(r"ROW\(X, (\w+), (\w+), (\w+), \(([^)]*)\)")

_HEAD = '''"""The collective operations of MPI, made from operation_table.h by `make operations`."""

TABLE = """
'''


def derived(header: str) -> str:
    """Return the Python module for the text of the header: a line for each row."""
    rows = _ROW.findall(re.sub(r"\s*\\\n\s*", " ", header))
    rows.sort(key=lambda row: row[0] != "barrier")  # the header has it last
    lines = [
        " ".join([name, title, like, *re.findall(r"\.(\w+) = 1", traits)])
        for name, title, like, traits in rows
    ]
    meaning = '"""Name, name in MPI, what stands for it where it was not measured, and traits."""'
    return _HEAD + "\n".join(lines) + f'\n"""\n{meaning}\n'


if __name__ == "__main__":
    sys.stdout.write(derived((HERE / "operation_table.h").read_text()))
