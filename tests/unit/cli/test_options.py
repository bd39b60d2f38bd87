"""Options of all commands: one name has one meaning, and helps are short and say what is usual."""

from __future__ import annotations

import argparse
import re
import textwrap
from collections import defaultdict
from pathlib import Path

import pytest

from beds.command_line import Command
from isochrone.base.errors import InputError
from isochrone.base.units import parse_percent
from isochrone.cli.main import GROUPS, parser
from isochrone.cli.parser import Subcommand, load_all, subcommands
from isochrone.console.options import (
    read_percent,
    read_size,
    read_time,
    read_time_or_zero,
)
from isochrone.measure.sources import experiments

COMMANDS = list(load_all(parser()))

READERS = {
    "PERCENT": {read_percent},
    "TIME": {read_time, read_time_or_zero},
    "SIZE": {read_size},
    "FILE": {Path, str},
    "FOLDER": {Path},
}
"""What reads a value, by what the help calls it; the program that --probe names is a str."""

SEVERAL_VALUES = {
    "--bytes": "of a map one size, of a question to a model a list",
    "--from": "the format, or the file, that something is made from",
    "--hints": "of a call, or the file with those of a program",
    "--hosts": "those to plot, or the file with those of all ranks",
    "--nodes": "how many, or the ranks of each",
    "--op": "a model holds the names, a figure takes several",
    "--output": "a file, or a folder for several",
    "--ppn": "of an application one number, of a question to a model a list",
    "--ranks": "of a job one number, of measurements and models a list",
    "--schema": "of the documents of a command by name, or of descriptions",
    "--set": "one value, or for predictions several",
    "--to": "a format to convert to, or numbers of ranks to predict",
}
"""Options of one meaning that take another value somewhere, and why."""

SEVERAL_OBJECTS = {
    "--baseline": "says what is done with what is slower",
    "--verbose": "what more is printed",
    "--dry-run": "start nothing, or write nothing",
    "--measure": "two commands, or two proposals",
    "--launches": "says of what, and which files",
    "--model": "says what it is for",
    "--quiet": "says what is left out",
    "--ranks": "says of what",
    "--repeats": "says of what",
    "--to": "lists the formats of the command",
    "--verify": "says what is checked",
    "--figure": "says what it shows",
    **SEVERAL_VALUES,
}
"""Options of one meaning whose help names what the command has of it."""


def options() -> list[tuple[Subcommand, argparse.Action]]:
    return [
        (command, action)
        for command in COMMANDS
        for action in command._actions
        if action.option_strings and action.help != argparse.SUPPRESS
    ]


def core(action: argparse.Action) -> str:
    """Return the help up to a first stop, without the conditions at its beginning."""
    text = re.sub(r"^((with )?--[a-z-]+|[a-z-]+(, [a-z-]+)*): ", "", str(action.help))
    return re.split(r"[(;:,]", text)[0].strip()


def test_one_name_takes_one_kind_of_value(subtests: pytest.Subtests) -> None:
    found = defaultdict(set)
    for _, action in options():
        found[action.option_strings[-1]].add((action.metavar, action.nargs == 0))
    for name, kinds in found.items():
        with subtests.test(name):
            assert (len(kinds) > 1) <= (name in SEVERAL_VALUES), kinds


def test_one_name_has_one_meaning(subtests: pytest.Subtests) -> None:
    found = defaultdict(set)
    for _, action in options():
        found[action.option_strings[-1]].add(core(action))
    for name, said in found.items():
        with subtests.test(name):
            assert (len(said) > 1) <= (name in SEVERAL_OBJECTS), said


def test_no_exception_outlives_its_reason() -> None:
    assert set(SEVERAL_OBJECTS) <= {action.option_strings[-1] for _, action in options()}


def test_values_of_one_kind_have_one_reader(subtests: pytest.Subtests) -> None:
    for command, action in options():
        allowed = READERS.get(str(action.metavar))
        if allowed is not None:
            with subtests.test(f"{command.prog} {action.option_strings[-1]}"):
                assert action.type in allowed


def test_a_help_says_what_is_usual_in_two_lines(subtests: pytest.Subtests) -> None:
    """At 100 columns; a number, a time, a size or a percentage has a default."""
    for command, action in options():
        with subtests.test(f"{command.prog} {action.option_strings[-1]}"):
            text = " ".join(str(action.help).replace("%%", "%").split())
            assert len(textwrap.wrap(text, 70, break_on_hyphens=False)) <= 2, text
            if action.metavar in ("N", "TIME", "PERCENT", "SIZE") and not action.required:
                assert "default" in text or "without it" in text


@pytest.mark.parametrize("command", COMMANDS, ids=lambda one: one.prog)
def test_a_help_fits_a_screen_or_so(command: Subcommand, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    brief = command.format_help()
    assert brief.count("\n") <= 62
    monkeypatch.setattr(command, "whole_help", True)
    whole = command.format_help()
    for action in command._actions:
        if action.option_strings and action.help != argparse.SUPPRESS:
            name = action.option_strings[-1]
            shown = re.search(rf"(?m)^  (-.*)?{name}\b", brief) is not None
            assert shown != getattr(action, "expert", False), name
            assert name in whole


def test_the_help_of_measure_says_what_each_experiment_measures() -> None:
    measure = next(one for one in COMMANDS if one.prog == "isochrone measure")
    lines = re.findall(r"(?m)^  ([a-z-]+) +(\S.*)$", measure.description or "")
    assert [name for name, _ in lines] == experiments()
    assert all(len(words.split()) <= 8 for _, words in lines)


def test_help_all_shows_what_help_leaves_out(isochrone: Command) -> None:
    brief = isochrone("place", "orders", "--help").stdout
    whole = isochrone("place", "orders", "--help-all").stdout
    assert "--hints" not in brief
    assert "--hints" in whole


def test_the_help_lists_every_command_in_a_group() -> None:
    known = [name for names in GROUPS.values() for name in names]
    assert sorted(known) == sorted(subcommands(parser()))
    said = parser().format_help()
    places = [said.index(f"\n  {name} ") for name in known]
    assert places == sorted(places)


def test_without_a_command_the_first_steps_are_shown(isochrone: Command) -> None:
    answer = isochrone()
    assert answer.returncode == 0
    assert len(re.findall(r"(?m)^  isochrone \w+ ", answer.stdout)) == 3
    assert answer.stderr == ""


@pytest.mark.parametrize(
    ("text", "value"),
    [("5%", 0.05), ("5 %", 0.05), (" 0.05 ", 0.05), ("0", 0.0), ("150%", 1.5), ("1e-2", 0.01)],
)
def test_a_percentage_is_read(text: str, value: float) -> None:
    assert parse_percent(text) == pytest.approx(value)


@pytest.mark.parametrize("text", ["5", "1", "", "%", "-5%", "nan", "inf%", "5%%", "1e99%", "five"])
def test_what_is_no_percentage_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        parse_percent(text)


def test_a_bare_number_is_refused_with_what_to_write() -> None:
    with pytest.raises(InputError, match="write 5%"):
        parse_percent("5")


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("300", 300),
        ("300s", 300),
        ("5m", 300),
        ("10min", 600),
        ("1h", 3600),
        ("200ms", 0.2),
        ("50us", 5e-5),
    ],
)
def test_a_duration_is_read(text: str, seconds: float) -> None:
    assert read_time(text) == pytest.approx(seconds)


def test_all_commands_that_launch_have_the_same_options_of_the_journal() -> None:
    """-v and --log are declared once, with --mpicc."""
    launching = [one for one in load_all(parser()) if "--mpicc" in one._option_string_actions]
    names = {one.prog.removeprefix("isochrone ") for one in launching}
    assert names >= {"measure", "suite", "emulate", "demo", "scale", "record", "exec", "doctor"}
    assert names >= {"tune collectives", "tune program", "tune collective-io", "build"}
    for one in launching:
        actions = one._option_string_actions
        assert actions["-v"] is actions["--verbose"]
        assert (actions["-v"].dest, actions["--log"].dest) == ("journal", "log"), one.prog
