"""A description's file as plain data; it may come from anywhere, so all of it is bounded."""

import io
import math
import warnings
from collections.abc import Iterable
from itertools import count
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.scanner import Scanner

from isochrone.applications.description.shapes import KeyPath
from isochrone.base.errors import InputError, failing
from isochrone.base.files import check_ordinary, whole_file
from isochrone.base.text import printable

MAX_FILE = 2**20
"""Bytes of the largest description; more edges than fit into it belong into a GraphML file."""

MAX_VALUES = 300_000
"""Values of the largest description, each alias counted with all that it stands for."""

_MAX_DATA_DEPTH = 20


class _Scanner(Scanner):
    """Refuses what is too deep before it costs time: it takes the square of the depth."""

    def fetch_flow_collection_start(self, *args: str, **kwargs: str) -> None:
        """Begin a list or mapping in brackets."""
        self._check(self.flow_level)
        super().fetch_flow_collection_start(*args, **kwargs)

    def add_indent(self, column: int) -> bool:
        """Begin a list or mapping by indentation."""
        self._check(len(self.indents))
        return bool(super().add_indent(column))

    def _check(self, depth: int) -> None:
        if depth > _MAX_DATA_DEPTH:
            raise RecursionError


def load(path: Path) -> object:
    """Return what is in a YAML 1.2 file, which `plain` has to copy.

    Raises
    ------
    InputError
        If it cannot be read, is too large, or is no YAML; says the line.
    """
    check_ordinary(path)
    with failing("the file cannot be read", path), path.open("rb") as stream:
        data = stream.read(MAX_FILE + 1)
    if len(data) > MAX_FILE:
        raise InputError(
            "the file is larger than 1 MiB, too large for a description",
            where=path,
            hint="put many edges into a GraphML file",
        )
    if data.lstrip().startswith(b'{"record"'):
        hint = f"isochrone show {path} reads it"
        raise InputError("the file is a run file, not a description", where=path, hint=hint)
    try:
        yaml = YAML(typ="safe", pure=True)
        yaml.Scanner = _Scanner
        with warnings.catch_warnings(action="ignore"):  # of anchors that are there twice
            return yaml.load(data.decode())
    except UnicodeDecodeError as error:
        raise InputError("the file is not UTF-8 text", where=path) from error
    except RecursionError as error:
        raise InputError("the file has too many nested lists", where=path) from error
    except (YAMLError, ValueError, OverflowError) as error:
        problem, where, hint = str(error).partition("\n")[0], str(path), ""
        if isinstance(error, MarkedYAMLError):
            problem = str(error.problem or problem)
            if error.problem_mark is not None:
                where += f":{error.problem_mark.line + 1}"
            if "'\\t'" in problem:
                hint = "indent with blanks"
        problem = f"the file is not valid YAML: {printable(problem)}"
        raise InputError(problem, where=where, hint=hint) from error


def plain(document: object, at: KeyPath) -> Any:
    """Return a copy made of dicts with texts as keys, lists, texts, numbers, booleans and None.

    Raises
    ------
    InputError
        If there is anything else in it, a number that is none, or too much.
    """
    seen = count(1)

    def copy(value: object, at: KeyPath, depth: int) -> object:
        if next(seen) > MAX_VALUES:
            raise at.error(
                f"the description has more than {MAX_VALUES} values (aliases count each time)"
            )
        if depth > _MAX_DATA_DEPTH:
            raise at.error(f"the description has more than {_MAX_DATA_DEPTH} levels")
        if value is None or isinstance(value, bool | str | int):
            return value
        if isinstance(value, float):
            if not math.isfinite(value):
                raise at.error(f"{value} is not a finite number")
            return value
        if isinstance(value, list):
            return [copy(v, at.item(k), depth + 1) for k, v in enumerate(value)]
        if not isinstance(value, dict):
            kind = type(value).__name__
            raise at.error(
                f"YAML reads {printable(value, 40)} as a {kind}", "put a text into quotes"
            )
        copied = {}
        for key, below in value.items():  # numbers as keys become texts, as JSON has them
            if not isinstance(key, str | int | float) or isinstance(key, bool):
                raise at.error(f"the key {printable(key, 40)} is not a text", "put it into quotes")
            if str(key) in copied:
                raise at.error(f"the key {printable(key, 40)} appears twice")
            copied[str(key)] = copy(below, at.key(str(key)), depth + 1)
        return copied

    return copy(document, at, 0)


def save(document: object, path: Path, comments: Iterable[str] = ()) -> None:
    """Write plain data as YAML, after lines of comments.

    Raises
    ------
    InputError
        If the file cannot be written.
    """
    with whole_file(path) as stream:
        lines = "".join(f"# {printable(comment, 400)}\n" for comment in comments)
        stream.write((lines + text(document)).encode())


def text(document: object) -> str:
    """Return plain data as YAML."""
    yaml = YAML(typ="safe", pure=True)
    yaml.default_flow_style = None  # innermost lists and mappings on one line
    yaml.sort_base_mapping_type_on_output = False  # type: ignore[assignment]
    yaml.width = 100
    stream = io.StringIO()
    yaml.dump(document, stream)
    return stream.getvalue()
