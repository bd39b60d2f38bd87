"""The options that experiments have of their own, which only the probe knows."""

import argparse

from isochrone.base.errors import InputError, IsochroneError
from isochrone.console import configuration, defaults
from isochrone.console.options import experts_only
from isochrone.measure import discovery
from isochrone.measure.probe import NoMpi, Option, Probe
from isochrone.measure.sources import experiments


def usual_probe(experiment: str = "") -> Probe:
    """Return the probe of this environment, to be asked what an experiment, or all of them, take.

    Raises
    ------
    IsochroneError
        If there is no MPI, or it cannot be compiled.
    """
    try:
        settings = defaults.machine(configuration.values())
    except InputError:  # said by the command that needs it
        settings = {}
    try:
        return discovery.find(settings.get("probe"), settings.get("mpicc"))
    except NoMpi:
        if experiment != "synthetic":
            raise
        return discovery.alone()


def all_options() -> dict[str, list[Option]]:
    """Return the options of all experiments by the probe of this environment; none without one."""
    try:
        built = usual_probe()
    except IsochroneError:
        return {}
    return {name: built.options_of(name) for name in experiments()}


def add_options(
    parser: argparse.ArgumentParser | argparse._ArgumentGroup, options: list[Option]
) -> None:
    """Add options of an experiment to a parser, to be listed and completed; the probe reads them.

    Where the parser has an option of this name, that counts.
    """
    for option in options:
        if option.flag in parser._option_string_actions:
            continue
        help_text = option.words.replace("%", "%%")
        if option.value:
            action = parser.add_argument(option.flag, metavar=option.value, help=help_text)
            action.choices = option.choices or None
        else:
            action = parser.add_argument(option.flag, action="store_true", help=help_text)
        if option.expert:
            experts_only(action)
