"""What was meant by words of a command line that mean nothing where they stand."""

import re
from argparse import REMAINDER, Action, _SubParsersAction
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import chain, takewhile
from pathlib import Path
from shutil import which

from isochrone.base import registry
from isochrone.base.errors import InputError
from isochrone.base.text import did_you_mean, misplaced
from isochrone.cli.parser import Parser, load_all
from isochrone.runfile.file_type import other_kind


@cache
def _everywhere() -> Mapping[str, str]:
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
    options = parser._option_string_actions
    takes = {
        name: (str(option.metavar), _texts(parser, option)) for name, option in options.items()
    }
    here = {f"--{choice}": f"{name} {choice}" for name in takes for choice in takes[name][1]}
    starts_program = any(action.nargs == REMAINDER for action in parser._actions)
    names = {name: option.help or "" for name, option in options.items()}
    previous = None
    for word in takewhile(
        lambda word: word != "--" and not (starts_program and which(word)), words
    ):
        is_value = previous is not None and previous.nargs is None
        previous = options.get(word)
        if previous is not None or is_value:
            continue
        if word.startswith("-"):
            name = word.partition("=")[0]
            text = did_you_mean(name, names, suffix="", elsewhere=lambda: here | _everywhere())
            text = text or did_you_mean(name.strip("-"), (), suffix="")
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
    choices, words = _texts(parser, action), [*parser.words]
    listed = f"choose from {', '.join(choices)}"
    following = words[words.index(value) + 1 :] if value in words else []
    joined = ["-".join([value, *following[:count]]) for count in (2, 1)]
    meant = next((name for name in joined if name in choices), "")
    if isinstance(action, _SubParsersAction):
        below = _everywhere().get(following[0], "") if following else ""
        meant = meant or below * bool(re.match("isochrone measure [^-]", below))
        choices |= dict.fromkeys(parser._option_string_actions, "")
    elif not action.option_strings:
        meant = meant or misplaced(value, words, _takes(parser))
    said = f"did you mean '{meant}'?; " * bool(meant)
    if not said and not (is_file := bool({".", "/"} & {*value})):
        elsewhere = dict if action.option_strings else _everywhere
        said = did_you_mean(value, choices, elsewhere=elsewhere)
    if (
        not said
        and isinstance(action, _SubParsersAction)
        and (is_file or Path(value).exists() or which(value) or value == "--")
    ):
        use = _use(value) if action.metavar == "COMMAND" else ""
        return f"{action.metavar} is missing before {value}; {use or listed}"
    return f"invalid choice: {value!r} ({said}{listed})"


def _use(value: str) -> str:
    """Return the command that takes a file or folder; empty if there is none."""
    path = Path(value)
    if path.is_file() and which(path.absolute()):
        return f"did you mean 'isochrone record -- mpiexec -n 4 {value}'?"
    return _kind(value)[1] or f"did you mean 'isochrone show {value}'?" * path.exists()
