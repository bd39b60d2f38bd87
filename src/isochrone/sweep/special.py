"""Sweeps whose samples have an additional member, such as ``grid``, which a subject interprets.

A file ``sweeps/MEMBER.py`` of a subject ends in ``SWEEP = SpecialSweep(…)``.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from isochrone.base import registry
from isochrone.base.record import Members
from isochrone.pages.page import Block, Section
from isochrone.runfile.run import Run

FAMILY = "*.sweeps"


@dataclass(frozen=True)
class SpecialSweep:
    """How such a sweep is shown, instead of a table for each of its many curves.

    Attributes
    ----------
    key
        Name of its results in ``show --json``.
    document
        The results of a run as JSON, at one message size or all.
    sections
        The same as text, given the summary and the pictures that every sweep has.
    """

    key: str
    document: Callable[[Run, int | None], Members]
    sections: Callable[[Run, int | None, Sequence[Block], Sequence[Block]], list[Section]]


def special_of(run: Run) -> SpecialSweep | None:
    """Return how such a sweep is shown; None for an ordinary one."""
    special = next((name for name in registry.names(FAMILY) if name in run.by), None)
    return None if special is None else registry.load(FAMILY, special).SWEEP
