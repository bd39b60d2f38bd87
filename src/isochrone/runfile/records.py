"""The records of a run file, each declared once.

The limits that `runfile.rules` applies to every file that is read, and the JSON Schema of a line,
follow from the types of the members; the tables of the documentation have the texts below. The
records of a kind of result are declared in its subject, in ``SUBJECT/records/KIND.py``.

A member without a default is in each record, one that may be None can be missing in some, and any
other default is that of a member which a file has in all records or in none.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Annotated, ClassVar, Literal, TypeVar

import msgspec
from msgspec import Meta

from isochrone.base import registry
from isochrone.base.documents import Hidden
from isochrone.base.errors import InputError
from isochrone.base.record import Members, Record
from isochrone.base.units import MAX_SECONDS, MIN_SECONDS

_T = TypeVar("_T")

MAX_RATE = 1e18
"""Bytes per second that a machine of 2040 may reach, and no damaged number."""

Whole = Annotated[int, Meta(ge=0, le=1 << 53)]
Positive = Annotated[int, Meta(ge=1, le=1 << 53)]
Signed = Annotated[int, Meta()]
Bytes = Annotated[int, Meta(ge=0, le=1 << 60)]
Count = Annotated[int, Meta(ge=1, le=10**12)]  # more repetitions do not fit into a measurement
RankNumber = Annotated[int, Meta(ge=0, extra={"most": lambda ranks: ranks - 1})]
Ranks = Annotated[int, Meta(ge=1, extra={"most": lambda ranks: ranks})]
Groups = Annotated[int, Meta(ge=0, extra={"most": lambda ranks: ranks})]
Seconds = Annotated[float, Meta(ge=0, le=MAX_SECONDS)]
Time = Annotated[float, Meta(ge=0, le=MAX_SECONDS, extra={"above_zero": MIN_SECONDS})]
Difference = Annotated[float, Meta(ge=-MAX_SECONDS, le=MAX_SECONDS)]
Rate = Annotated[float, Meta(ge=0, le=MAX_RATE)]
Operation = Literal["write", "read"]


class Declared(msgspec.Struct, rename=lambda name: name.rstrip("_"), kw_only=True):
    """A record, without its name.

    Attributes
    ----------
    ordered
        Members none of which is less than the one before it.
    refers
        Members with the number of another record, which has the name of the member.
    """

    ordered: ClassVar[Sequence[Sequence[str]]] = ()
    refers: ClassVar[Sequence[str]] = ()


class Rank(msgspec.Struct, frozen=True):
    """Where a rank ran, as found on the machine (not as requested); -1 or empty where unknown.

    The host comes from elsewhere: escape it before showing it.

    Attributes
    ----------
    rank, host
        number of the rank, name of its host
    node
        number of the host, in the order of the ranks
    cpu
        the processor as Linux counts it: with SMT, a core has several
    core
        `core_id` of Linux; it may repeat in another package
    package, numa
        numbers of the socket and of the NUMA domain
    l2, l3
        lowest `cpu` of the host that shares this cache, which may hold data or data and
        instructions
    processor
        model of the processors of the host; only in the record of the first rank on the host, or
        of each rank if ranks of other hosts are in between
    gpu
        with [GPU memory](sweeps.md#messages-in-gpu-memory): number of the GPU, as the rank counts
    gpu_pci, gpu_numa
        PCI address of the GPU, and NUMA domain of this address
    gpu_links
        link to each other GPU that the rank sees, by PCI address: `nvlink`, `xgmi`, `pcie`, `peer`
        (direct, of unknown kind) or `host` (no direct link)
    """

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
    gpu_pci: str = ""
    gpu_numa: int = -1
    gpu_links: dict[str, str] = {}
    extra: Hidden[Members] = {}


class Warned(Declared):
    """A data-quality warning."""

    code: str
    text: str


class End(Declared):
    """The last line of a run that came to its end; seconds: how long it took."""

    complete: bool = False
    seconds: Seconds = 0.0


class Pair(Declared):
    """Round trips of two ranks in seconds, or what ``seconds_are`` of the header says.

    Attributes
    ----------
    n
        number of repetitions
    mean, stddev
        mean and standard deviation of the repetitions
    min, median, p95, max
        quantiles of the repetitions, linearly interpolated
    low, high
        95 % confidence interval of the median
    forward, reverse
        seconds of a message from `i` to `j`, and from `j` to `i`, medians; only in maps measured
        with `--one-way`, `--mode` or `--window`, and in imported maps
    batch
        operations per repetition; present only if one takes less than 100 clock ticks
    shared_cpu
        present if both ranks had to share a processor: then the time says little about the machine
    retest
        present in the second measurement of a pair
    """

    ordered = (("min", "median", "max"), ("min", "mean", "max"), ("low", "high"))

    i: RankNumber
    j: RankNumber
    bytes: Bytes
    n: Count | None = None
    mean: Time | None = None
    stddev: Seconds | None = None
    min: Time | None = None
    median: Time = 0.0
    p95: Time | None = None
    max: Time | None = None
    low: Seconds | None = None
    high: Time | None = None
    forward: Time | None = None
    reverse: Time | None = None
    batch: Count | None = None
    shared_cpu: bool = False
    retest: bool = False


class Sync(Declared):
    """A synchronisation of the clocks, in seconds."""

    residual_median: Difference
    residual_max: Difference
    drift_max: Difference
    at: Difference | None = None
    bound_max: Difference | None = None
    drift_error: Difference | None = None


class Offset(Declared):
    """How far the clock of a rank is ahead of that of another, in seconds."""

    i: RankNumber
    j: RankNumber
    seconds: Difference
    bound: Difference
    age: Difference


def converted(record: Mapping[str, object], kind: type[_T], name: str) -> _T:
    """Return a record of a file with the types of its declaration.

    Raises
    ------
    InputError
        If a member is not of its type.
    """
    try:
        return msgspec.convert(record, kind)
    except msgspec.ValidationError as error:
        reason, _, member = str(error).partition(" - at `$.")
        if missing := reason.partition("missing required field `")[2]:
            raise InputError(f"a '{name}' record has no '{missing.rstrip('`')}'") from error
        subject = f"'{member.rstrip('`')}'" if member else "it"
        raise InputError(f"the '{name}' record is damaged: {subject}: {reason}") from error


class Result(Record):
    """A kind of result.

    Attributes
    ----------
    records
        The declarations of its records, by their names.
    experiments
        Experiments whose headers do not say their kind, in old files and those of other programs:
        members of the header that follow.
    foreign
        Names of records that it cannot hold: the header would be that of another measurement.
    renamed
        Today's names of options of such an experiment, by their names in earlier files.
    curves
        Whether each sample belongs to a curve, which ``by`` of the header tells from others.
    separated
        Whether the probe looks for ranks on one processor, and separates them, itself.
    """

    records: Mapping[str, type[Declared]] = {}
    experiments: Mapping[str, Members] = {}
    foreign: Sequence[str] = ()
    renamed: Mapping[str, str] = {}
    curves: bool = False
    separated: bool = False


kinds, _load = registry.family("*.records", "RESULT", Result)
"""The kinds of results."""


@cache
def result(kind: str) -> Result:
    """Return what is declared of a kind of result; nothing of one that is not known."""
    return _load(kind) if kind in kinds() else Result()


OF_ANY_KIND: Mapping[str, type[Declared]] = {"pair": Pair, "sync": Sync, "offset": Offset}


@cache
def declared_records(kind: str) -> Mapping[str, type[Declared] | None]:
    """Return the declarations of the records of a kind of result, None if it cannot hold them."""
    declared = result(kind)
    return {**OF_ANY_KIND, **declared.records, **dict.fromkeys(declared.foreign)}
