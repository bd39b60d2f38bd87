"""All commands with all they take, in one parser: for completion, manual pages and their tests."""

import argparse
from collections.abc import Mapping

from isochrone.cli.experiments import add_options
from isochrone.cli.main import parser
from isochrone.cli.parser import Parser, load_all, subcommands
from isochrone.measure.probe import Option
from isochrone.measure.sources import experiments

MEASURE = "measure"


def whole_parser(options: Mapping[str, list[Option]] | None = None) -> Parser:
    """Return the parser with every command loaded.

    Parameters
    ----------
    options
        Those that experiments have of their own, by name. If given, each experiment becomes a
        command below ``measure``, with those of ``measure`` as well.
    """
    top = parser()
    for _ in load_all(top):  # loading is what is wanted
        pass
    if options is not None:
        _split(subcommands(top)[MEASURE], options)
    return top


def _split(measure: Parser, options: Mapping[str, list[Option]]) -> None:
    """Let the experiments be commands below ``measure``."""
    named = next(action for action in measure._actions if action.dest == "experiment")
    measure._actions.remove(named)
    measure._positionals._group_actions.remove(named)
    shared = [action for action in measure._actions if action.option_strings]
    below = measure.add_subparsers(metavar="EXPERIMENT", parser_class=Parser)
    for name in experiments():
        experiment_parser = below.add_parser(name, help=f"experiment {name}", add_help=False)
        group = experiment_parser.add_argument_group(f"options of {name}")
        for action in shared:
            experiment_parser._add_action(action)
        add_options(group, options.get(name, []))


def actions_of(top: argparse.ArgumentParser) -> list[argparse.Action]:
    """List the options and arguments of a parser and of all commands below it."""
    below = (action for subparser in subcommands(top).values() for action in actions_of(subparser))
    return [*top._actions, *below]
