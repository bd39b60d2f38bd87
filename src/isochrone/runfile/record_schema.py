"""The JSON Schema of one record, a line of a run file."""

from typing import Any, Literal

from msgspec import Struct

from isochrone.base.documents import Scalar, Schema, record, shape
from isochrone.runfile.header import Header


class _Run(Header, frozen=True, kw_only=True):
    """The first line.

    Attributes
    ----------
    settings_more
        Variables there was no room for.
    """

    record: Literal["run"]
    format: int
    settings_more: int = 0


class _Rank(Struct):
    """Where a rank ran."""

    record: Literal["rank"]
    rank: int
    host: str
    node: int = -1
    cpu: int = -1
    core: int = -1
    package: int = -1
    numa: int = -1
    l2: int = -1
    l3: int = -1
    processor: str = ""
    gpu: int = -1
    gpu_numa: int = -1
    gpu_pci: str = ""
    gpu_links: dict[str, str] = {}


class _Pair(Struct):
    """Round trips of two ranks, in seconds."""

    record: Literal["pair"]
    i: int
    j: int
    bytes: int
    n: int = 0
    batch: int = 1
    shared_cpu: bool = False
    retest: bool = False
    mean: float = 0.0
    stddev: float = 0.0
    min: float = 0.0
    median: float = 0.0
    p95: float = 0.0
    max: float = 0.0
    low: float = 0.0
    high: float = 0.0


class _Warning:
    """A data-quality warning."""

    record: Literal["warning"]
    code: str
    text: str


class _End(Struct):
    """The last line of a run that came to its end; seconds: how long it took."""

    record: Literal["end"]
    complete: bool
    seconds: float = 0.0


def _open(kind: type, additional: Any = Any) -> Schema:
    return {**record(kind), "additionalProperties": shape(additional)}


LINE = {
    "description": "A line of a run file",
    "anyOf": [
        record(_Run), _open(_Rank, Scalar), record(_Pair), _open(_Warning), _open(_End),
        {
            "type": "object", "description": "a sample, or what else its experiment writes",
            "properties": {"record": {
                "type": "string", "not": {"enum": ["run", "rank", "pair", "warning", "end"]},
            }},
            "required": ["record"], "additionalProperties": {},
        },
    ],
}  # fmt: skip
