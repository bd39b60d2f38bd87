"""The model file: one JSON document, with the hash of what it says.

Format history
--------------
1
    First format: ``{"record": "model", "format": 1, "family": …, "weights": …, "pieces": [{"where":
    {…}, "range": {…}, "terms": […], "coefficients": […], "low": […], "high": […], …}], …,
    "sha256": …}``. Seconds and bytes. ``sha256`` is that of the document without it, as JSON
    with sorted keys and no blanks; a file written by hand may leave it out. Unknown keys are kept.
"""

import hashlib
import json
import math
from pathlib import Path
from typing import Any, Literal

import msgspec

from isochrone.base.documents import IfKnown, Inline, Schema, record
from isochrone.base.errors import InputError, located
from isochrone.base.files import check_ordinary, read_bytes, whole_file
from isochrone.base.format_version import check_format
from isochrone.models.data.extension import kept
from isochrone.models.data.terms import Selector, variables_of
from isochrone.models.formulas.linear import WEIGHTS
from isochrone.models.formulas.segment import Rival, Segment
from isochrone.models.prediction.deviation import Quality, Ranked
from isochrone.models.prediction.model import Model
from isochrone.models.prediction.questions import needed

MODEL_FORMAT = 1

MAX_BYTES = 64 * 1024**2
"""A model file larger than this is none."""

_FLOAT_ROUNDING = 1e-9

_KEYS = [
    field.encode_name
    for field in msgspec.structs.fields(Model)
    if field.name not in ("extra", "kept")
]


class Explained(msgspec.Struct):
    """Why a formula was taken, the point to measure next, and those within a budget."""

    where: dict[str, Selector]
    sentences: list[str]
    measure: dict[str, float] | None
    then: list[dict[str, float]]


class ModelFile:
    """A model: formulas for times of communication.

    Attributes
    ----------
    sha256
        Of the document without it, as JSON with sorted keys, no blanks.
    """

    record: Literal["model"]
    format: int
    family: str
    model: Inline[Model]
    quality: IfKnown[Quality]
    ranking: IfKnown[list[Ranked]]
    explanation: IfKnown[list[Explained]]
    sha256: IfKnown[str]


def model_file() -> Schema:
    """Return the JSON Schema of a model file, with what readers keep beside the formulas."""
    lists: list[Any] = [(key, list[kind.struct], []) for key, kind in kept().items()]  # type: ignore[name-defined]
    return record(msgspec.defstruct("Beside", lists), ModelFile)


def read(path: str | Path) -> Model:
    """Read a model file.

    Raises
    ------
    InputError
        If it cannot be opened, is not a model file, is of a newer format, was changed after it was
        written, or is damaged.
    """
    path = Path(path)
    check_ordinary(path)
    with located(str(path)):
        if path.stat().st_size > MAX_BYTES:
            raise InputError("the file is too large for a model file")
        try:
            content = msgspec.json.decode(read_bytes(path), type=dict[str, object])
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise InputError(
                f"the file is not a model file: {error}", hint="isochrone fit -o writes one"
            ) from error
        return from_document(content)


def write(model: Model, path: str | Path) -> None:
    """Write a model file; it appears whole or not at all."""
    text = json.dumps(document(model), indent=1, ensure_ascii=False, allow_nan=False)
    with whole_file(Path(path)) as stream:
        stream.write(text.encode() + b"\n")


def document(model: Model) -> dict[str, object]:
    """Return a model as what is written to its file."""
    body = {key: value for key, value in _by_name_in_file(model).items() if value}
    pieces = [
        {
            key: value
            for key, value in _by_name_in_file(segment).items()
            if value not in ({}, [], None, "") and (key, value) != ("freedom", 0)
        }
        for segment in model.segments
    ]
    content = {
        "record": "model",
        "format": MODEL_FORMAT,
        "family": model.family,
        **{key: value for key, value in body.items() if key not in ("pieces", "kept", "extra")},
        **dict(sorted(model.kept.items())),
        "pieces": pieces,
        **model.extra,
    }
    # Tuples become lists, as they will be read.
    content = json.loads(json.dumps(content, default=msgspec.to_builtins))
    return {**content, "sha256": _hash(content)}


def from_document(content: dict[str, object]) -> Model:
    """Return the model a document holds, checked."""
    if content.get("record") != "model":
        raise InputError("the file is not a model file", hint="isochrone fit -o writes one")
    check_format(content.get("format"), MODEL_FORMAT, "the model file")
    body = {key: value for key, value in content.items() if key != "sha256"}
    if "sha256" in content and content["sha256"] != _hash(body):
        raise InputError(
            "the file was changed after it was written: its hash is wrong",
            hint="remove its 'sha256' if the change was intended",
        )
    fields = {key: body.pop(key) for key in _KEYS if key in body}
    extra = {k: v for k, v in body.items() if k not in ("record", "format", "family")}
    kinds = {key: kind for key, kind in kept().items() if key in extra} if extra else {}
    lists = [(key, list[k.struct]) for key, k in kinds.items()]  # type: ignore[name-defined]
    beside = msgspec.defstruct("Beside", lists)
    try:
        model = msgspec.convert({**fields, "extra": extra}, type=Model)
        model.kept = msgspec.structs.asdict(msgspec.convert(extra, type=beside))
    except msgspec.ValidationError as error:
        raise InputError(f"the file is damaged: {error}") from error
    _check(model)
    for key in kinds:
        del model.extra[key]
    return model


def _check(model: Model) -> None:
    if not model.segments:
        raise InputError("the model has no segments")
    if model.weights not in WEIGHTS:
        raise InputError("'weights' are neither 'relative' nor 'absolute'")
    for index, segment in enumerate(model.segments):
        _check_segment(segment, f"pieces[{index}]")
    for index, neighbour in enumerate(model.neighbours):
        if wrong := neighbour.wrong():
            raise InputError(f"neighbours[{index}]: {wrong}")


def _check_segment(segment: Segment, name: str) -> None:
    """Refuse what cannot be evaluated: see the other checks; unknown terms, empty ranges."""
    _check_formula(segment, name)
    variables_of(list(segment.fitted))
    if not needed([segment]):
        raise InputError(f"{name}: the formula has no variable")
    range_fields = (segment.range, segment.switch, segment.reach, segment.fitted)
    for low, high in (ends for ranges in range_fields for ends in ranges.values()):
        if low is not None and high is not None and low > high:
            raise InputError(f"{name}: a range ends before it starts")
    for index, rival in enumerate(segment.rivals):
        _check_formula(rival, f"{name}, rival {index}")
    weights = [rival.weight for rival in segment.rivals]
    if not all(weight >= 0 for weight in weights) or sum(weights) > 1 + _FLOAT_ROUNDING:
        raise InputError(f"{name}: the weights of alternative formulas are not from 0 to 1")
    for variable, widening in segment.beyond.items():
        if variable not in segment.fitted or not (widening.once and widening.twice):
            raise InputError(f"{name}: 'beyond' has no value, or is of no fitted variable")


def _check_formula(formula: Segment | Rival, name: str) -> None:
    """Refuse lists of unequal length and numbers that are not finite."""
    count = len(formula.terms)
    covariance = formula.covariance or []
    lists = [formula.coefficients, formula.covariance, *covariance]
    if isinstance(formula, Segment):
        lists += [formula.low, formula.high]
    if not count or any(values is not None and len(values) != count for values in lists):
        raise InputError(f"{name}: not exactly one coefficient per term")
    if not all(math.isfinite(value) for value in formula.coefficients):
        raise InputError(f"{name}: a coefficient is not a finite number")
    variables_of(formula.terms)


def _by_name_in_file(struct: msgspec.Struct) -> dict[str, object]:
    """Return the fields of a model or a segment by their names in a model file."""
    fields = msgspec.structs.fields(struct)
    return {field.encode_name: getattr(struct, field.name) for field in fields}


def _hash(content: dict[str, object]) -> str:
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
