"""Whatever is described rightly runs to its end, and is what the schema says."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML

from isochrone.applications.description import lowering, program_file, reading, schema
from isochrone.applications.description.program import Application, Farm
from isochrone.base.errors import InputError
from made_up.descriptions import descriptions
from made_up.played import play

ROOT = Path(__file__).parents[3]

EXAMPLES = sorted(path.name for path in (ROOT / "examples/apps").glob("*.yaml"))

SLOW = settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.too_slow])


@SLOW
@given(descriptions())
def test_every_description_runs_to_its_end(document: dict[str, Any]) -> None:
    """No flow waits for itself, even if nothing is buffered; what is sent is received."""
    program = lowering.program(reading.parse(document, "made up"))
    for app in program.applications:
        first = known(app, play(app, iterations=1, seed=1))
        assert sorted(known(app, play(app, iterations=2, seed=2))) == sorted(first * 2)


def known(app: Application, messages: list[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """Return what is known of messages beforehand: of a farm not who does which task."""
    farms = {step.phase for steps in app.steps for step in steps if isinstance(step, Farm)}
    return [message[2:] if message[2] in farms else message for message in messages]


@SLOW
@given(descriptions())
def test_a_description_can_be_written_and_read_again(document: dict[str, Any]) -> None:
    """As JSON, too: a run file holds it so."""
    description = reading.parse(document, "made up")
    again = reading.parse(json.loads(json.dumps(reading.as_document(description))), "run")
    assert again == description
    assert lowering.program(again) == lowering.program(description)
    with suppress(InputError):  # two applications, one file
        program_file.data(lowering.program(again))


@SLOW
@given(document=descriptions())
def test_what_is_written_as_yaml_is_read_again(
    document: dict[str, Any], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """As an import writes it, and a person goes on with it."""
    path = tmp_path_factory.mktemp("written") / "app.yaml"
    reading.write(reading.parse(document, "made up"), path)
    assert reading.as_document(reading.read(path)) == document


WRONG = [
    "",
    " ",
    "-1",
    "-1us",
    "1e400",
    "1/0",
    "m",
    "n*",
    "4KiB",
    "1us",
    "p**p**p",
    0,
    -1,
    1e300,
    10**400,
    0.5,
    1e-320,
    2**63,
    "token-ring",
    "farm",
    "stream",
    "0" * 3000,
    "\x1b[31m",
    "é",
    "all",
]
"""Put wherever a number or a text stands."""

CHARACTERS = [*"{}[]&*!|>'\"%@`:,-#?\t\n 0x~<=\0", "<<: "]
"""Put anywhere into a file."""


@SLOW
@given(descriptions(), st.data())
def test_whatever_is_put_in_is_understood_or_one_line(
    document: dict[str, Any], data: st.DataObject
) -> None:
    """Which names a path; no exception but InputError, and what is left runs to its end."""
    for _ in range(8):
        wrong = copy.deepcopy(document)
        leaves = [(o, k) for o, k in places(wrong) if not isinstance(o[k], dict | list)]
        owner, key = data.draw(st.sampled_from(leaves))
        owner[key] = data.draw(st.sampled_from(WRONG))
        try:
            program = lowering.program(reading.parse(wrong, "made up"), 64)
        except InputError as error:
            assert error.where.startswith("made up: ")
            assert str(error).isprintable()
            continue
        for app in program.applications:
            if sum(map(len, app.steps)) < 10_000:
                play(app, 1)


@SLOW
@given(data=st.data())
def test_no_file_raises_anything_else(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Examples with a few characters changed."""
    text = (ROOT / "examples/apps" / data.draw(st.sampled_from(EXAMPLES))).read_text()
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text)))
        new = data.draw(st.sampled_from(CHARACTERS))
        text = text[:at] + new + text[at + data.draw(st.integers(0, 3)) :]
    path = tmp_path_factory.mktemp("changed") / "app.yaml"
    path.write_text(text)
    try:
        lowering.program(reading.read(path), 16)
    except InputError as error:
        assert str(path) in error.where
        assert str(error).isprintable()


def accepted(document: Any) -> bool:
    """Whether the reader takes a document."""
    try:
        reading.parse(document, "made up")
    except InputError:
        return False
    return True


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield each list or mapping with each of its keys."""
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield value, key
            yield from places(value[key])


VALIDATOR = jsonschema.Draft202012Validator(schema.schema())


@SLOW
@given(descriptions(), st.data())
def test_the_schema_and_the_reader_agree(document: dict[str, Any], data: st.DataObject) -> None:
    """On what is right, and on what is wrong after something was put, renamed or taken away."""
    assert accepted(document)
    VALIDATOR.validate(document)
    for _ in range(8):
        wrong = copy.deepcopy(document)
        owner, key = data.draw(st.sampled_from(list(places(wrong))))
        match data.draw(st.sampled_from(["put", "rename", "remove", "add"])):
            case "put":
                owner[key] = data.draw(st.sampled_from([True, None, [], {}, [[]], {"x": 1}]))
            case "rename" if isinstance(owner, dict):
                owner["unknown"] = owner.pop(key)
            case "add" if isinstance(owner, dict):
                owner["unknown"] = 1
            case _:
                del owner[key]
        names = [app.get("name") for app in wrong["apps"]] if _has_apps(wrong) else []
        if _names_somebody_else(wrong, names):
            continue
        assert accepted(wrong) == VALIDATOR.is_valid(wrong), json.dumps(wrong)


def _has_apps(document: Any) -> bool:
    apps = document.get("apps")
    return isinstance(apps, list) and all(isinstance(app, dict) for app in apps)


def _names_somebody_else(document: dict[str, Any], names: list[Any]) -> bool:
    """Whether runs name an application that is not there, which no schema can see."""
    runs = document.get("runs", [])
    return isinstance(runs, list) and any(
        isinstance(run, list) and any(isinstance(n, str) and n not in names for n in run)
        for run in runs
    )


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_examples_are_what_the_schema_says(name: str) -> None:
    """And run to their end."""
    description = reading.read(ROOT / "examples/apps" / name)
    VALIDATOR.validate(reading.as_document(description))
    for app in lowering.program(description, 16).applications:
        play(app)


def test_what_the_page_shows_is_right() -> None:
    """Each whole description of docs/applications.md can be read, and is what the schema says."""
    page = (ROOT / "docs/applications.md").read_text()
    shown = re.findall(r"(?<=^```yaml\n)isochrone: .*?(?=^```$)", page, re.DOTALL | re.MULTILINE)
    assert len(shown) >= 2
    for text in shown:
        document = YAML(typ="safe", pure=True).load(text)
        VALIDATOR.validate(document)
        assert lowering.program(reading.parse(document, "page"), 4).ranks == 4
