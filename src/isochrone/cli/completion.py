"""What shells complete: the parser as a script, generated once, that starts no Python at a TAB."""

from argparse import Action, ArgumentParser
from copy import copy
from pathlib import Path
from typing import Any

import shtab

from isochrone.base import registry
from isochrone.cli.all_commands import MEASURE, actions_of, whole_parser
from isochrone.cli.experiments import all_options
from isochrone.cli.parser import subcommands
from isochrone.measure import presets

SHELLS = ("bash", "zsh", "fish")


def script(shell: str) -> tuple[str, bool]:
    """Return the script for a shell, and whether experiments' own options are in it."""
    options = all_options()
    top = whole_parser(options)
    commands = subcommands(top)
    for action in actions_of(top):
        _say_values(action, list(commands))
    measure = commands[MEASURE]
    for name, experiment_parser in subcommands(measure).items():
        _choose(experiment_parser, [preset.name for preset in presets.of(name)])
    # zsh would complete it before the experiment that has the presets is looked at.
    measure._actions.remove(measure._option_string_actions["--preset"])
    return shtab.complete(top, shell), bool(options)


def _say_values(action: Action, commands: list[str]) -> None:
    """Say of an option or argument what it takes, where the parser itself does not."""
    if isinstance(action.help, str):  # shells show one line; a colon or bracket means something
        action.help = " ".join(action.help.split())
    if action.choices is not None:
        return
    if action.metavar == "FAMILY":
        action.choices = ["auto", *registry.names("*.families")]
    elif action.dest == "words":
        action.choices = commands
    elif action.metavar == "FOLDER":
        _complete(action, shtab.DIRECTORY)
    elif action.type is Path or action.dest in ("files", "before", "after"):
        _complete(action, shtab.FILE)


def _complete(action: Any, how: object) -> None:
    action.complete = how  # where shtab looks


def _choose(parser: ArgumentParser, presets: list[str]) -> None:
    """Let ``--preset`` of one parser have choices; the action is shared with others."""
    shared = parser._option_string_actions["--preset"]
    option = copy(shared)
    option.choices = presets or None
    parser._actions[parser._actions.index(shared)] = option
    parser._option_string_actions["--preset"] = option
