"""What was meant by words of a command line that mean nothing where they stand."""

import re
from argparse import REMAINDER, Action, _SubParsersAction
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import chain
from pathlib import Path
from shutil import which

from isochrone.base import registry
from isochrone.base.errors import InputError
from isochrone.base.synonyms import synonyms
from isochrone.base.text import command_line, did_you_mean, misplaced
from isochrone.cli.parser import Parser, load_all
from isochrone.measure.presets import PRESETS
from isochrone.runfile.file_type import other_kind


@cache
def everywhere() -> Mapping[str, str]:
    """Return all names that commands take, and where; of several commands, the most usual."""
    from isochrone.cli.main import GROUPS, parser

    usual = [*chain(*GROUPS.values())]
    commands = [*load_all(parser())]
    commands.sort(
        key=lambda command: [*usual, *command.prog.split()].index(command.prog.split()[1])
    )
    places = {command.prog.split()[-1]: command.prog for command in reversed(commands)}
    for command in commands:
        for action in command._actions:
            option = " ".join([command.prog, *action.option_strings[-1:]])
            places |= {name: option for name in action.option_strings if name not in places}
            for choice in map(str, action.choices or ()):
                places.setdefault(choice, f"{option} {choice}")
        places[command.prog.removeprefix("isochrone ")] = command.prog
    for name, preset in PRESETS.items():
        places.setdefault(name, f"isochrone measure {preset.experiment} --preset {name}")
    return places


def _texts(parser: Parser, action: Action) -> dict[str, str]:
    """Return the choices of an option or argument, and the help of each, if it has one."""
    texts = dict(re.findall(r"^  (\S+)  +(.*)$", parser.description or "", re.MULTILINE))
    choices = {*map(str, action.choices or ())}
    for family in registry.FAMILIES:
        if choices and choices.issuperset(names := registry.names(family)):
            texts |= {name: registry.summary(family, name) for name in names}
    texts |= {choice.dest: choice.help for choice in getattr(action, "_choices_actions", ())}
    return {choice: texts.get(choice, "") for choice in map(str, action.choices or ())}


def _takes(parser: Parser) -> dict[str, tuple[str, dict[str, str]]]:
    """Return the name of the value of each option, and its choices."""
    options = parser._option_string_actions
    return {name: (str(option.metavar), _texts(parser, option)) for name, option in options.items()}


def of_words(parser: Parser, words: Sequence[str]) -> str:
    """Return ``did you mean '--ranks'?`` for the first word that is understood; else "".

    A choice typed as an option means the option that takes it: ``--heatmap``.
    """
    options, takes = parser._option_string_actions, _takes(parser)
    here = {choice: f"{name} {choice}" for name in takes for choice in takes[name][1]}
    names = {name: option.help or "" for name, option in options.items()}
    arguments = {str(one.metavar).lower(): one for one in parser._get_positional_actions()}
    starts_program = any(one.nargs == REMAINDER for one in arguments.values())
    previous = None
    for index, word in enumerate(words):
        if word == "--" or (starts_program and which(word)):
            break
        if word in options:
            previous = options[word]
            continue
        taker, previous = previous, previous if previous and previous.nargs == "+" else None
        if taker is not None and taker.nargs != 0 and not word.startswith("-"):
            continue
        name = word.partition("=")[0]
        if (plain := name.strip("-")) in arguments and plain != word:
            return f"write {arguments[plain].metavar} without {name}"
        if starts_program and (name == "-n" or synonyms(["-n"]).get(name) == "-n"):
            return f"write the launcher: -- mpiexec {command_line(parser.words[index:])}"
        if word.startswith("-"):
            text = did_you_mean(name, names, suffix="", elsewhere=lambda: {**everywhere(), **here})
            text = text or did_you_mean(plain, (), suffix="")
        else:
            place = misplaced(word, parser.words, takes) or _by_content(word, takes)
            text = f"did you mean '{place}'?" if place else did_you_mean(word, (), suffix="")
        if text:
            return text
    return ""


def _by_content(word: str, options: Mapping[str, object]) -> str:
    """Return the option that takes an existing file or folder."""
    if "--baseline" in options and Path(word).is_dir():
        return f"--baseline {word}"
    return f"--model {word}" if "--model" in options and "a model" in _kind(word)[0] else ""


def _kind(word: str) -> tuple[str, str]:
    """Return why a file is no run file, and how to use it; empty if it seems to be one, or none."""
    try:
        return other_kind(Path(word))
    except (OSError, InputError):
        return "", ""


def of_choice(parser: Parser, action: Action, value: str) -> str:
    """Return why a value is none of the choices, and what was probably meant."""
    choices = _texts(parser, action)
    words = [*parser.words] if value in parser.words else [*parser.words, value]
    listed, is_file = f"choose from {', '.join(choices)}", bool({".", "/"} & {*value})
    index = words.index(value)
    joined = ["-".join(words[index : index + count]) for count in (3, 2)]
    meant = next((name for name in joined if name in choices), "")
    said, elsewhere = "", dict if action.option_strings else everywhere
    if isinstance(action, _SubParsersAction):
        below = everywhere().get("".join(words[index + 1 : index + 2]), "")
        meant = meant or below * bool(re.match("isochrone measure [^-]", below))
        choices |= dict.fromkeys(parser._option_string_actions, "")
    elif not action.option_strings:
        meant = meant or misplaced(value, words, _takes(parser))
        said = of_words(parser, words[index - 1 : index] if words[index - 1][:1] == "-" else ())
    said = f"did you mean '{meant}'?" if meant else said
    starts = bool(which(value)) and action.metavar == "WHAT"
    if not said and not is_file and not starts:
        said = did_you_mean(value, choices, suffix="", elsewhere=elsewhere)
    if not said and not action.option_strings and (is_file or Path(value).exists()):
        said = _use(value) if action.metavar != "WHAT" else ""
    is_missing = is_file or value == "--" or (not said and (which(value) or Path(value).exists()))
    if isinstance(action, _SubParsersAction) and is_missing:
        return f"{action.metavar} is missing before {value}; {said or listed}"
    return f"invalid choice: {value!r} ({said}{said and '; '}{listed})"


def _use(value: str) -> str:
    """Return the command that takes a file or folder; empty if there is none."""
    return _kind(value)[1] or f"did you mean 'isochrone show {value}'?" * Path(value).exists()
