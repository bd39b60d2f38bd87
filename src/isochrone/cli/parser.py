"""Parsers whose subcommands are plug-ins, each imported only when it is the one that is named."""

import textwrap
from argparse import (
    SUPPRESS,
    Action,
    ArgumentError,
    ArgumentParser,
    HelpFormatter,
    Namespace,
    RawDescriptionHelpFormatter,
    _MutuallyExclusiveGroup,
    _SubParsersAction,
)
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NoReturn

from isochrone.base import registry
from isochrone.base.errors import InputError
from isochrone.base.text import command_line, printable

FEW_OPTIONS = 2
"""Options that a usage lists."""

SHORT = len("-n")
"""Length of an option of one letter."""

MORE = "More options: --help-all"


def is_expert(action: Action) -> bool:
    """Whether only ``--help-all`` shows an option."""
    return bool(getattr(action, "expert", False))


class _HelpFormatter(RawDescriptionHelpFormatter):
    """Leaves expert options out, and breaks lines between words only, not inside of names."""

    whole = False
    """Whether expert options are shown."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=28)
        self._action_max_length = 18  # of a help with short names, too

    def add_usage(
        self,
        usage: str | None,
        actions: Iterable[Action],
        groups: Iterable[_MutuallyExclusiveGroup],
        prefix: str | None = None,
    ) -> None:
        """Add the usage; of many options only those that have to be given."""
        actions = [action for action in actions if self._shows(action)]
        left = [action for action in actions if action.option_strings and not action.required]
        if usage is None and not self.whole and len(left) > FEW_OPTIONS:
            needed = [self._word(action) for action in actions if action not in left]
            usage = " ".join(["%(prog)s [options]", *needed])
        super().add_usage(usage, actions, groups, prefix)

    def _word(self, action: Action) -> str:
        """Return what is typed of an option or an argument."""
        metavar = self._get_default_metavar_for_positional(action)
        return " ".join([*action.option_strings[-1:], self._format_args(action, metavar)])

    def _format_action_invocation(self, action: Action) -> str:
        """Write ``-o, --output FILE``."""
        if not action.option_strings or action.nargs == 0:
            return super()._format_action_invocation(action)
        value = self._format_args(action, self._get_default_metavar_for_optional(action))
        return f"{', '.join(action.option_strings)} {value}"

    def add_argument(self, action: Action) -> None:
        """Add the help of an option if it is shown."""
        if self._shows(action):
            super().add_argument(action)

    def _shows(self, action: Action) -> bool:
        return self.whole or not is_expert(action)

    def _split_lines(self, text: str, width: int) -> list[str]:
        return textwrap.wrap(" ".join(text.split()), width, break_on_hyphens=False)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        if "\n" in text:
            return super()._fill_text(text, width, indent)
        lines = self._split_lines(text, width - len(indent))
        return "\n".join(indent + line for line in lines)


class _Help(Action):
    """Prints the help and ends; --help-all: with the options for experts."""

    def __call__(
        self,
        parser: ArgumentParser,
        namespace: Namespace,
        values: object,
        option_string: str | None = None,
    ) -> None:
        if isinstance(parser, Parser):
            if option_string == "-h" and parser.words and "-h" not in parser.words:  # -host
                parser.refuse([word for word in parser.words if word.startswith("-h")])
            parser.whole_help |= option_string == "--help-all"
        parser.print_help()
        parser.exit()


class Parser(ArgumentParser):
    """Reports wrong use in one line, as everything else does, and what was probably meant.

    Attributes
    ----------
    whole_help
        Whether its help shows the options for experts.
    words
        The command line that it parses.
    """

    words: tuple[str, ...] = ()

    def __init__(self, *, add_help: bool = True, **options: Any) -> None:
        super().__init__(
            allow_abbrev=False, formatter_class=_HelpFormatter, add_help=False, **options
        )
        self._positionals.title = "arguments"
        self.whole_help = False
        if add_help:
            help_option = self.add_argument(
                "-h",
                "--help",
                "--help-all",
                action=_Help,
                nargs=0,
                default=SUPPRESS,
                dest=SUPPRESS,
                help="show the help; --help-all: with all options",
            )
            help_option.expert = True  # type: ignore[attr-defined]

    def format_help(self) -> str:
        """Return the help; its end says whether there are more options."""
        hidden = sum(map(is_expert, self._actions)) > 1 and not self.whole_help
        return super().format_help() + (f"\n{MORE}\n" if hidden else "")

    def _get_formatter(self) -> HelpFormatter:
        formatter = super()._get_formatter()
        if isinstance(formatter, _HelpFormatter):
            formatter.whole = self.whole_help
        return formatter

    def error(self, message: str) -> NoReturn:
        """Say what is wrong and end with exit code 2."""
        lines = [line for _, line in getattr(self, "examples", ())]
        tried = ""
        if " are required: " in message:
            missing = self._get_positional_actions()[-1:]
            choices = [", ".join(map(str, one.choices)) for one in missing if one.choices]
            message += self._meant(self.words) or "".join(
                f"; choose from {text}" for text in choices
            )
            tried = f"for example: {lines[0]}; " if lines else ""
        self.exit(2, f"{self.prog}: {printable(message, 1000)} ({tried}try: {self.prog} --help)\n")

    def refuse(self, unknown: Sequence[str]) -> NoReturn:
        """Say which words of a command line mean nothing, and end with exit code 2."""
        names = [str(action.metavar) for action in self._get_positional_actions()]
        takes = f"; what it takes: {' (quote blanks) '.join([*names, '']) or 'options only'}" * (
            unknown[0][:1] != "-"
        )
        meant = self._meant(unknown) or self._meant(self.words) or takes
        self.error(f"unrecognized arguments: {' '.join(unknown)}{meant}")

    def _meant(self, words: Sequence[str]) -> str:
        from isochrone.cli import intentions

        text = intentions.of_words(self, words)
        return f"; {text}" if text else ""

    def check_order(self, args: Sequence[str]) -> None:
        """Refuse options before the name of a subcommand, and say where they belong."""
        self.words = tuple(args)
        below = next((one for one in self._actions if isinstance(one, _SubParsersAction)), None)
        word = args[0] if args else ""
        if below is None or not word.startswith("-") or word in self._option_string_actions:
            return
        named = next((k for k, word in enumerate(args) if word in below.choices), None)
        if named is not None and "--" not in args[:named]:
            line = command_line([*args[named:], *args[:named]])
            self.error(f"options follow {below.metavar}: {self.prog} {line}")
        choices = f"; choose from {', '.join(below.choices)}"
        meant = self._meant(args) if args[1:] == [] else ""
        self.error(f"{below.metavar} is missing before {word}{meant or choices}")

    def _get_value(self, action: Action, text: str) -> object:
        """Read a value; what its reader refuses is said like other wrong values.

        ``-np`` of other programs is read as ``-n`` with the value ``p``.
        """
        try:
            return super()._get_value(action, text)
        except InputError as error:
            error.where = ""  # the option is named anyway
            typed = [f"{name}{text}" for name in action.option_strings if len(name) == SHORT]
            also = self._meant([word for word in typed if word in self.words])
            raise ArgumentError(action, f"{error}{also}") from error

    def _check_value(self, action: Action, value: object) -> None:
        """Refuse what is none of the choices; argparse lists them, and knows no likeness."""
        if action.choices is not None and value not in action.choices:
            from isochrone.cli import intentions

            text = intentions.of_choice(self, action, str(value))
            if " is missing before " in text:
                self.error(text)
            raise ArgumentError(action, text)


class Subcommand(Parser):
    """One plug-in of a family; to be listed in a help, its file is not imported.

    It becomes a parser when it is first used as one: of 30 commands only one is named.
    """

    def __init__(self, *, family: str, plugin: str, **options: Any) -> None:
        self.family, self.plugin = family, plugin
        self.examples: tuple[tuple[str, str], ...] = ()
        self._loaded = False
        self._options: dict[str, object] | None = options

    def __getattr__(self, name: str) -> object:
        """Become a parser, if that was not done, and look again."""
        if name.startswith("__") or not self._become():
            raise AttributeError(f"{type(self).__name__} has no attribute '{name}'")
        return getattr(self, name)

    def _become(self) -> bool:
        """Become a parser; return whether that had still to be done."""
        options, self._options = self.__dict__.get("_options"), None
        if options is None:
            return False
        super().__init__(**options)
        return True

    def load(self) -> None:
        """Import the plug-in and let it add its options, unless that was done."""
        if self._loaded:
            return
        self._loaded = True
        self._become()
        module = registry.load(self.family, self.plugin)
        self.description = module.__doc__
        inner = f"{self.family}.{self.plugin}"
        self.examples = tuple(getattr(module, "EXAMPLES", ()))
        if inner in registry.FAMILIES:  # a folder of subcommands
            add_subcommands(self, inner, "WHAT")
        else:
            module.add_arguments(self)
            self.set_defaults(run=module.run)
        self.epilog = examples(self.examples)
        self.set_defaults(parser=self)

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: Namespace | None = None
    ) -> tuple[Namespace, list[str]]:
        """Load the plug-in, let its options have the defaults of this site, and parse them."""
        from isochrone.console import defaults  # of no command, none are read

        self.load()
        self.check_order(args or ())
        trouble = defaults.apply(self, self.plugin)
        parsed = super().parse_known_args(args, namespace)
        if trouble is not None:
            raise trouble
        return parsed


def examples(pairs: Sequence[tuple[str, str]]) -> str | None:
    """Return the end of a help: what each command line does, and the line."""
    lines = [f"  # {purpose}\n  {line}" for purpose, line in pairs]
    return "\n".join(["examples:", *lines]) if lines else None


def add_subcommands(parser: ArgumentParser, family: str, metavar: str) -> None:
    """Add one subcommand for each plug-in of a family; the named one sets ``run``."""
    added = parser.add_subparsers(metavar=metavar, required=True, parser_class=Subcommand)
    for name in registry.names(family):
        added.add_parser(name, help=registry.summary(family, name), family=family, plugin=name)


def subcommands(parser: ArgumentParser) -> dict[str, Subcommand]:
    """Return the subcommands of a parser by name; none if it has none."""
    return {
        name: subparser
        for action in parser._actions
        if isinstance(action, _SubParsersAction)
        for name, subparser in action.choices.items()
    }


def load_all(parser: ArgumentParser) -> Iterator[Subcommand]:
    """Load all commands below a parser, at any depth, and yield those that do something."""
    for command in subcommands(parser).values():
        command.load()
        if subcommands(command):
            yield from load_all(command)
        else:
            yield command
