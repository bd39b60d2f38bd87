"""The environment of a measurement: settings of the MPI library, its version, memory, machine.

Where two runs of the same measurement differ, their environments are the first explanation.
"""

from collections.abc import Sequence
from typing import Literal

from msgspec.structs import asdict

from isochrone.base.record import Members, Record
from isochrone.base.text import printable
from isochrone.runfile.header import Header

Kind = Literal["setting", "library", "memory", "machine"]

Key = tuple[Kind, str]
"""What is compared: its kind and its name."""

NOT_SET = "(not set)"
SECRET = "(left out: it looks like a secret)"

MAX_SHOWN_VALUE = 120
"""Characters of a value that are shown."""

_OUTPUT = ("LOG", "WARN", "VERBOSE", "DEBUG", "STATS", "PROFILE", "SHOW", "PRINT", "DIR")
"""Words in names of variables that change the output of a library rather than its behaviour."""


class Differing(Record):
    """A difference between the environments of two sides.

    Attributes
    ----------
    kind
        What it concerns.
    what
        Name of the variable, or a few words: ``mpi library``, ``frequency governor``.
    before, after
        The values in all runs of a side, readable and safe to print.
    """

    kind: Kind
    what: str
    before: str
    after: str


def differing(before: Sequence[Header], after: Sequence[Header]) -> list[Differing]:
    """List the differences between the environments of two sides, likely explanations first.

    A value missing from a file is not a difference.

    Parameters
    ----------
    before, after
        Headers of the runs of either side.

    Returns
    -------
    list of Differing
        Settings by name, those that only change output last; library; memory; machine.
    """
    environments = [[_known(header) for header in side] for side in (before, after)]
    keys = sorted(
        {key for side in environments for environment in side for key in environment}, key=_order
    )
    differences = []
    for key in keys:
        left, right = _values(key, environments[0], before), _values(key, environments[1], after)
        if left and right and left != right:
            differences.append(Differing(key[0], printable(key[1], 130), *_shown(left, right)))
    return differences


def settings_in_words(header: Header) -> str:
    """Return settings as a line: ``UCX_TLS=tcp,self, FI_TOKEN left out``; empty if there are none.

    The text is not yet safe to print.
    """
    assignments = [f"{name}={value}" for name, value in sorted(header.settings.items())]
    return ", ".join(assignments + [f"{name} left out" for name in sorted(header.left_out)])


def environment_document(header: Header) -> Members:
    """Return the environment of a run for JSON; only what is recorded."""
    if not header.knows_settings:
        return {}
    machine = {key: value for key, value in asdict(header.machine).items() if value}
    return {
        "settings": header.settings,
        "settings_left_out": list(header.left_out),
        "memory": header.memory,
        "machine": machine,
    }


def _known(header: Header) -> dict[Key, str]:
    """Return the values of a header, by kind and name."""
    machine = header.machine
    values: dict[Key, str] = {
        ("library", "mpi library"): " ".join(header.mpi.library.split()),
        ("library", "mpi standard"): header.mpi.standard,
        ("memory", "memory"): header.memory,
        ("machine", "frequency governor"): machine.governor,
        ("machine", "processor model"): machine.processor,
        ("machine", "kernel"): machine.kernel,
        ("machine", "NUMA nodes"): "" if machine.numa is None else str(machine.numa),
    }
    values = {key: value for key, value in values.items() if value}
    values |= {("setting", name): SECRET for name in header.left_out}
    return values | {("setting", name): value for name, value in header.settings.items()}


_KINDS = ("setting", "library", "memory", "machine")


def _order(key: Key) -> tuple[int, bool, str]:
    kind, name = key
    output = kind == "setting" and any(token in _OUTPUT for token in name.upper().split("_"))
    return _KINDS.index(kind), output, name


def _values(
    key: Key, environments: Sequence[dict[Key, str]], headers: Sequence[Header]
) -> list[str]:
    """Return the values of one side, each once."""
    values = set()
    for environment, header in zip(environments, headers, strict=True):
        if key in environment:
            values.add(environment[key])
        elif key[0] == "setting" and header.knows_settings:
            values.add(NOT_SET)
    return sorted(values)


def _shown(left: list[str], right: list[str]) -> tuple[str, str]:
    """Write both so that they fit a line and one sees that they differ."""
    texts = [" and ".join(side) for side in (left, right)]
    short = [printable(text, MAX_SHOWN_VALUE) for text in texts]
    if short[0] == short[1]:  # they differ farther behind, or in what cannot be printed
        same = next((k for k, (a, b) in enumerate(zip(*texts, strict=False)) if a != b), 0)
        start = max(0, same - MAX_SHOWN_VALUE // 4)
        short = ["…" + printable(ascii(text[start:])[1:-1], MAX_SHOWN_VALUE) for text in texts]
    return short[0], short[1]
