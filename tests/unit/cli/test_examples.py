"""Every command ends its help with examples, and each of them is a command line that it takes."""

from __future__ import annotations

import shlex

import pytest

from isochrone.cli.main import parser
from isochrone.cli.parser import load_all

COMMANDS = {one.prog: one for one in load_all(parser())}
LINES = sorted({line for one in COMMANDS.values() for _, line in one.examples})


def words_of(line: str) -> list[str]:
    """Return what the program gets of a line, without what the shell keeps to itself."""
    words = shlex.split(line)
    return words[1 : words.index(">") if ">" in words else None]


def test_every_command_has_two_examples_in_its_help(subtests: pytest.Subtests) -> None:
    """Somebody who sees the command for the first time copies one of them."""
    for command in COMMANDS.values():
        with subtests.test(str(command)):
            assert len(command.examples) >= 2
            said = command.format_help()
            for what, line in command.examples:
                assert what in said
                assert line in said
                assert line.startswith("isochrone ")
                assert len(line) <= 110


def test_some_example_shows_the_command_itself() -> None:
    for prog, command in COMMANDS.items():
        assert any(line.startswith(prog) for _, line in command.examples), prog


def test_an_example_parses(subtests: pytest.Subtests) -> None:
    """Only the probe knows the options of experiments; all others must be known here."""
    for line in LINES:
        with subtests.test(str(line)):
            try:
                args, rest = parser().parse_known_args(words_of(line))
            except SystemExit as end:  # --schema prints and ends
                assert not end.code
                continue
            assert args.passes_options_on or not rest
            assert callable(args.run)
