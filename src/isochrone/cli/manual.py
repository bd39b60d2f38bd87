"""Manual pages, a page for each command, from what ``--help`` says.

``python -m isochrone.cli.manual FOLDER`` (``make man``) writes them. The text of a help is laid out
already; of it, only options and arguments are set anew, by the macros of man(7).
"""

import re
import sys
from argparse import SUPPRESS, Action, ArgumentParser, _ArgumentGroup, _SubParsersAction
from collections.abc import Iterator, Sequence
from pathlib import Path

from isochrone import __version__
from isochrone.cli.all_commands import MEASURE, whole_parser
from isochrone.cli.experiments import all_options
from isochrone.cli.parser import Parser, Subcommand, subcommands
from isochrone.measure.probe import Option

_BLOCK = re.compile(r"\n\s*\n")

EXIT_CODES = (
    ("0", "done; also if the reader of the output has gone"),
    ("1", "a check that was asked for failed, or you did not want to go on"),
    ("2", "wrong use or bad input"),
    ("3", "the measurement failed"),
    ("4", "check: the verdict is not known, or a suspect was not confirmed"),
    ("130, 143, 129", "ended by SIGINT (Ctrl-C), SIGTERM, SIGHUP"),
)

FILES = (
    ("~/.config/isochrone/config.toml", "settings of the user"),
    ("/etc/isochrone.toml", "settings of the site; isochrone config shows the effective ones"),
)


def pages(options: dict[str, list[Option]]) -> dict[str, str]:
    """Return the manual pages by the names of their files.

    Parameters
    ----------
    options
        Of experiments, by name; none of what is not known.
    """
    top = whole_parser()
    manual = {}
    for parser in (top, *_all(top)):
        experiment_options = options if parser.prog == f"{top.prog} {MEASURE}" else {}
        manual[f"{parser.prog.replace(' ', '-')}.1"] = _page(parser, experiment_options)
    return manual


def write(folder: Path) -> list[Path]:
    """Write the manual pages into a folder, which is made; return them."""
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for name, text in pages(all_options()).items():
        path = folder / name
        path.write_text(text, encoding="utf-8")
        files.append(path)
    return files


def _all(parser: ArgumentParser) -> Iterator[Subcommand]:
    for subcommand in subcommands(parser).values():
        yield subcommand
        yield from _all(subcommand)


def _page(parser: Parser, experiments: dict[str, list[Option]]) -> str:
    """Return one page."""
    name = parser.prog.replace(" ", "-")
    summary, *details = _BLOCK.split((parser.description or "").strip(), maxsplit=1)
    parser.whole_help = True
    usage = " ".join(parser.format_usage().removeprefix("usage:").split())
    lines = [
        f'.TH "{name.upper()}" 1 "" "isochrone {__version__}" "Isochrone"',
        ".SH NAME",
        f"{name} \\- {_escaped(' '.join(summary.split()).rstrip('.'))}",
        ".SH SYNOPSIS",
        _escaped(usage),
    ]
    if details:
        lines += [".SH DESCRIPTION", *_paragraphs(details[0])]
    for group in parser._action_groups:
        lines += _group(group)
    for experiment, options in experiments.items():
        lines += [f".SH OPTIONS OF {_escaped(experiment.upper())}"]
        for option in options:
            lines += _item(_bold(option.flag, option.value), option.words)
    lines += _end(parser, name)
    return "\n".join(lines) + "\n"


def _group(group: _ArgumentGroup) -> list[str]:
    """Return the options or arguments of a group."""
    actions = [option for option in group._group_actions if option.help is not SUPPRESS]
    if not actions:
        return []
    title = {"positional arguments": "arguments"}.get(group.title or "", group.title or "options")
    lines = [f".SH {_escaped(title.upper())}"]
    for action in actions:
        if isinstance(action, _SubParsersAction):
            for choice in action._choices_actions:
                lines += _item(_bold(choice.dest), choice.help or "")
        else:
            text = (action.help or "").replace("%(prog)s", "isochrone").replace("%%", "%")
            lines += _item(_invocation(action), text)
    return lines


def _invocation(action: Action) -> str:
    value = action.metavar or ("" if action.nargs == 0 else action.dest.upper())
    if isinstance(value, tuple):
        value = " ".join(value)
    if not action.option_strings:
        return _bold(value)
    if action.choices is not None and action.metavar is None:
        value = "|".join(map(str, action.choices))
    return ", ".join(_bold(name, value) for name in action.option_strings)


def _end(parser: Parser, name: str) -> list[str]:
    """Return what stands at the end: examples, other texts, exit codes, files, other pages."""
    lines = []
    examples = getattr(parser, "examples", ())
    if examples:
        lines += [".SH EXAMPLES"]
        for purpose, line in examples:
            lines += [
                ".PP",
                _escaped(f"{purpose}:"),
                ".PP",
                ".RS 4",
                ".nf",
                _escaped(line),
                ".fi",
                ".RE",
            ]
    if name == "isochrone":
        lines += [".SH EXIT STATUS", *_items(EXIT_CODES), ".SH FILES", *_items(FILES)]
    below = [f"{name}-{command}" for command in subcommands(parser)]
    others = below or (["isochrone"] if name != "isochrone" else [])
    lines += [".SH SEE ALSO", ",\n".join(f".BR {_escaped(page)} (1)" for page in others)]
    return [line.replace("(1),\n", "(1) ,\n") for line in lines]


def _items(pairs: Sequence[tuple[str, str]]) -> list[str]:
    return [line for key, meaning in pairs for line in _item(_bold(key), meaning)]


def _item(title: str, text: str) -> list[str]:
    return [".TP", title, _escaped(" ".join(text.split()))]


def _paragraphs(text: str) -> Iterator[str]:
    """Yield paragraphs; those that are indented keep their lines."""
    for block in _BLOCK.split(text.strip("\n")):
        preformatted = block.startswith(" ")
        yield ".PP"
        if preformatted:
            yield from [".nf", *(_escaped(line) for line in block.splitlines()), ".fi"]
        else:
            yield _escaped(" ".join(block.split()))


def _bold(name: str, value: str = "") -> str:
    return f"\\fB{_escaped(name)}\\fR" + (f" \\fI{_escaped(value)}\\fR" if value else "")


def _escaped(text: str) -> str:
    """Let roff take a text as it is: no escapes, no requests, no typographic dashes."""
    plain = text.replace("\\", "\\e").replace("-", "\\-")
    plain = "".join(c if c.isascii() else f"\\[u{ord(c):04X}]" for c in plain)
    return f"\\&{plain}" if plain[:1] in (".", "'") else plain


if __name__ == "__main__":
    write(Path(sys.argv[1]))
