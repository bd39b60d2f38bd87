"""Sweeps whose samples have a member of their own, such as ``grid``: a subject says what they mean.

A file ``sweeps/MEMBER.py`` of a subject ends in ``SWEEP = SpecialSweep(…)``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from isochrone.base import registry
from isochrone.pages.page import Block, Section
from isochrone.runfile.run import Run

FAMILY = "*.sweeps"


@dataclass(frozen=True)
class SpecialSweep:
    """What is said of such a sweep instead of a table for each of its many curves.

    Attributes
    ----------
    key
        Name of its results in ``show --json``.
    document
        The results of a run as JSON, at a message size or at all.
    sections
        The same in words, with what is said of every sweep: its summary and its pictures.
    """

    key: str
    document: Callable[[Run, int | None], dict[str, Any]]
    sections: Callable[[Run, int | None, Sequence[Block], Sequence[Block]], list[Section]]


def special_of(run: Run) -> SpecialSweep | None:
    """Return what a subject says of such a sweep; None of an ordinary one."""
    found = next((name for name in registry.names(FAMILY) if name in run.by), None)
    return None if found is None else registry.load(FAMILY, found).SWEEP
