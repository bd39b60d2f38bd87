"""What is configured becomes the default of options: whatever is on a command line wins."""

import argparse
from collections.abc import Mapping
from typing import Any

from isochrone.base.errors import InputError
from isochrone.console import configuration
from isochrone.console.configuration import Value

OPTIONS = {
    "limits.kill-after": ("--kill-after", ("measure", "emulate")),
    # of emulated applications nothing is heard until they end, so that only a limit for them counts
    "limits.stall-timeout": ("--stall-timeout", ("measure", "suite", "tune")),
    "limits.budget": ("--budget", ("suite",)),
    "limits.ask-after": ("--yes", ()),
    "thresholds.margin": ("--margin", ("compare",)),
    "thresholds.slow": ("--threshold", ("show", "check")),
}
"""The option whose default a setting is, and the commands where it means this; none: all."""

MACHINE = ("launcher", "launcher-args", "launcher-template", "mpicc", "probe")
"""Settings that only count together; `isochrone.measure.setup` decides when they do."""


def apply(parser: argparse.ArgumentParser, command: str) -> InputError | None:
    """Let a parser of a command take its defaults from the configuration.

    Returns
    -------
    InputError or None
        What is wrong with the configuration, to be raised once the command line is read: a broken
        file keeps nobody from ``--help``, nor from commands that nothing is configured for.
    """
    has = parser._option_string_actions
    wanted = {
        key: option
        for key, (option, commands) in OPTIONS.items()
        if option in has and (not commands or command in commands)
    }
    starts = "--launcher" in has or command in ("demo", "build")
    if not wanted and not starts:
        return None
    try:
        settings = configuration.values()
    except InputError as error:
        return error
    for key, option in wanted.items():
        if (value := settings[key].value) is not None:
            name = "ask_after" if key == "limits.ask-after" else has[option].dest
            parser.set_defaults(**{name: value})
    if starts:
        parser.set_defaults(usual=machine(settings))
    return None


def machine(settings: Mapping[str, Value]) -> dict[str, Any]:
    """Return the settings of `MACHINE` that were made; ``$MPICC`` is read where it counts."""
    return {
        key: settings[key].value
        for key in MACHINE
        if settings[key].value is not None and settings[key].where != "MPICC"
    }
