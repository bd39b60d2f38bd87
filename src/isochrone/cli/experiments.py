"""The options that experiments have of their own, which only the probe knows."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from isochrone.base.errors import InputError, IsochroneError
from isochrone.console import configuration, defaults
from isochrone.measure import finding
from isochrone.measure.probe import Probe

__all__ = ["Option", "add_options", "asked", "options_of", "usual_probe"]

_LINE: Final = re.compile(r"  (--[a-z][a-z0-9-]*)(?: (\S+))?\s+(\S.*)")
_LISTED: Final = re.compile(r": ((?:[a-z_]+, )+[a-z_]+)")


@dataclass(frozen=True)
class Option:
    """An option of an experiment: its name, what it is given (empty: nothing), and its help."""

    name: str
    value: str
    help: str

    @property
    def choices(self) -> list[str]:
        """The words it takes, if these are all it takes or a list of them."""
        if "|" in self.value:
            return self.value.split("|")
        listed = _LISTED.search(self.help) if self.value.endswith(",...") else None
        return listed[1].split(", ") if listed else []


def usual_probe() -> Probe:
    """Return the probe of this environment, to be asked what experiments take.

    Raises
    ------
    IsochroneError
        If there is no MPI, or it cannot be compiled.
    """
    try:
        usual = defaults.machine(configuration.values())
    except InputError:  # said by the command that needs it
        usual = {}
    return finding.find(usual.get("probe"), usual.get("mpicc"))


def asked() -> Probe | None:
    """Return the probe of this environment; None if there is none."""
    try:
        return usual_probe()
    except IsochroneError:
        return None


def options_of(built: Probe, experiment: str) -> list[Option]:
    """List the options of an experiment, as its help has them."""
    return list(_read(built.options_help(experiment)))


def _read(text: str) -> Iterator[Option]:
    for line in text.splitlines():
        if found := _LINE.fullmatch(line):
            yield Option(found[1], found[2] or "", found[3])


def add_options(
    parser: argparse.ArgumentParser | argparse._ArgumentGroup, options: list[Option]
) -> None:
    """Add options of an experiment to a parser, to be listed and completed; the probe reads them.

    Where the parser has an option of this name, that counts.
    """
    for option in options:
        if option.name in parser._option_string_actions:
            continue
        words = option.help.replace("%", "%%")
        if option.value:
            action = parser.add_argument(option.name, metavar=option.value, help=words)
            action.choices = option.choices or None
        else:
            parser.add_argument(option.name, action="store_true", help=words)
