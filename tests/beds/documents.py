"""JSON documents that commands print, checked against what is declared of them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from isochrone.base import registry
from isochrone.console import documents

LONGEST = 1_000_000
"""Characters of a document that is checked beside another test; larger ones take too long."""


def check(document: object, name: str) -> None:
    """Fail if a document is not as it is declared under a name; says where."""
    _check(document, validator(name), name)


def check_printed(args: Sequence[object], stdout: str) -> None:
    """Fail if what a command with ``--json`` printed is not what it is declared to print."""
    words = [str(word) for word in args]
    if "--json" not in words or not stdout.startswith(("{", "[")) or len(stdout) > LONGEST:
        return
    within = f"cli.commands.{words[0]}" in registry.FAMILIES
    command = " ".join(words[: 2 if within else 1])
    document = strictly(stdout)
    if not validator_of(command).is_valid(document):
        known = [Draft202012Validator(one) for one in documents.of_command(command).values()]
        nearest = min(known, key=lambda one: _distance(one, document))
        _check(document, nearest, f"isochrone {command} --json")


def check_run_file(file: Path, most: int = 3) -> None:
    """Fail if one of the first records of each name is not as it is declared."""
    seen: Counter[str] = Counter()
    with file.open() as lines:
        for line in lines:
            record = strictly(line)
            seen[record["record"]] += 1
            if seen[record["record"]] <= most:
                check(record, "run-file")


def _distance(schema: Draft202012Validator, document: object) -> int:
    """Count what is wrong; a key that is missing or not declared tells most."""
    wrong = list(schema.iter_errors(document))
    return len(wrong) + 10 * sum(len(one.message) for one in wrong if not one.absolute_path)


def strictly(text: str) -> Any:
    """Read JSON as it is standardised, which has no NaN and no Infinity."""
    return json.loads(text, parse_constant=_refuse)


def _refuse(word: str) -> None:
    raise AssertionError(f"{word} is no JSON")


def _check(document: object, schema: Draft202012Validator, what: str) -> None:
    wrong = best_match(schema.iter_errors(document))
    assert wrong is None, f"{what}: {wrong.json_path}: {wrong.message[:500]}"


@cache
def validator(name: str) -> Draft202012Validator:
    return Draft202012Validator(documents.schema(name))


@cache
def validator_of(command: str) -> Draft202012Validator:
    return Draft202012Validator(documents.printed_by(command))
