"""The first line of a run file, with types: what was measured, with what, on what."""

import re
from functools import cache
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from isochrone.base.record import Members
from isochrone.runfile import records
from isochrone.runfile.origin import Origin

Option = bool | int | float | str | list[bool | int | float | str] | None
"""Value of an option of an experiment."""


class Library(Struct, frozen=True):
    """The MPI library, as it describes itself, and the version of the standard it follows.

    Attributes
    ----------
    gpu_aware
        Whether it takes pointers to the memory of each driver of GPUs: ``yes``, ``no`` or
        ``unknown``; empty if not recorded.
    """

    library: str = ""
    standard: str = ""
    gpu_aware: dict[str, Literal["yes", "no", "unknown"]] = {}

    @property
    def name(self) -> str:
        """Name and version, for people: ``MPICH 5.0.2``."""
        return library_name(self.library)


_NAME_AND_VERSION = re.compile(
    r"(?:MPI VERSION\s*:\s*)?(?P<name>\D.*?)[\s,]*(?:\bversion)?\s*:?\s+v?(?P<version>\d[\w.]*\w)",
    re.I,
)
"""In the first line: Cray's begins with words of its own, others go on with copyright or host."""


def library_name(text: str) -> str:
    """Return name and version of an MPI library from its version text.

    ``MPICH Version:      5.0.2`` is MPICH 5.0.2; lines on copyright and build are left out. The
    text of a library without a version is not changed.
    """
    first = next(iter(text.strip().splitlines()), "")
    match = _NAME_AND_VERSION.match(first)
    return " ".join((f"{match['name']} {match['version']}" if match else first).split())


class Clock(Struct, frozen=True):
    """The clock that took the times.

    Attributes
    ----------
    source
        Function that was called.
    granularity, cost
        Smallest step it shows and time one call takes, in seconds; None if not known.
    simulated
        Whether the times are those of a simulator.
    """

    source: str = ""
    granularity: float | None = None
    cost: float | None = None
    simulated: bool = False


class Machine(Struct, frozen=True):
    """The node of rank 0, as recorded.

    Attributes
    ----------
    kernel, processor
        Release of the kernel, and model of the processor; empty if not known.
    governor
        Who sets the frequency of the processor, such as ``performance``; empty if not known.
    numa
        Number of NUMA nodes; None if not known.
    """

    kernel: str = ""
    processor: str = ""
    governor: str = ""
    numa: int | None = None


_NAMES = {"quantity": "seconds_are", "left_out": "settings_left_out"}


class Header(Struct, frozen=True, kw_only=True, rename=_NAMES):
    """The ``run`` record of a run file.

    Attributes
    ----------
    experiment
        Name of the experiment, as the user typed it.
    kind
        Kind of result, which decides how the run is read, see `runfile.records.kinds`; empty if it
        is none that this version knows.
    by
        Members of a ``sample`` that are the key of its curve, for example ``op`` and ``p``.
    ranks
        Number of ranks.
    started
        Date and time (ISO 8601) at which it began; empty if not known.
    options
        Of the experiment, by name.
    mpi, clock
        The MPI library and the clock.
    quantity
        Definition of the times; empty if not recorded.
    probe
        Version of the probe.
    notes
        Added when it was started: launcher, preset, platform …
    imported
        Format, path and SHA-256 of the file of another program that it comes from; else None.
    median_is_mean
        Whether means are used as medians, as in files of programs that print nothing else.
    made_up
        Whether nothing was measured and the times come from a formula.
    settings
        Variables of the environment that steer the MPI library, by name, without secrets and
        without what launchers set by themselves.
    left_out
        Names of variables whose values look like secrets.
    memory
        Where buffers are located: ``host``, or such as ``cuda``; empty if not recorded.
    machine
        The node of rank 0.
    """

    ranks: int
    experiment: str = "?"
    kind: str = ""
    by: tuple[str, ...] = ()
    started: str = ""
    options: dict[str, Option] = {}
    mpi: Library = Library()
    clock: Clock = Clock()
    quantity: str = ""
    probe: str = ""
    notes: dict[str, str] = {}
    imported: dict[str, str] | None = None
    median_is_mean: bool = False
    made_up: bool = False
    settings: dict[str, str] = {}
    left_out: tuple[str, ...] = ()
    memory: str = ""
    machine: Machine = Machine()

    @property
    def origin(self) -> Origin:
        """Where the times come from."""
        if self.made_up:
            return "synthetic"
        if self.clock.simulated:
            return "simulated"
        return "measured" if self.imported is None else "imported"

    @property
    def pair_quantity(self) -> str:
        """What the times of the pairs of a map are, such as ``put``; by default ``round trip``.

        Those of messages that follow each other are shown as ``bandwidth``.
        """
        first = self.quantity.partition(" ")[0].removesuffix("s")
        return "bandwidth" if first == "message" else first or "round trip"

    @property
    def knows_settings(self) -> bool:
        """Whether settings are recorded, which older files and simulations do not."""
        return bool(self.settings or self.left_out or self.memory)


class RunRecord(Header, frozen=True, kw_only=True):
    """The first line.

    Attributes
    ----------
    settings_more
        Variables there was no room for.
    """

    format: int
    settings_more: int = 0


@cache
def kind_of(experiment: str) -> Members:
    """Return the members of a header that define its kind, for an experiment of this name.

    For files written before headers said it, and for those of other programs; empty if there is no
    such experiment.
    """
    for kind in records.kinds():
        if experiment in (experiments := records.result(kind).experiments):
            return {"kind": kind, **experiments[experiment]}
    return {}


_RENAMED = {"again": "retest"}
"""Today's names of options of all experiments, by their names in earlier files."""


def _as_today(record: Members) -> Members:
    """Return a header with today's names; files written before 1.0 have earlier ones."""
    if record.get("experiment") == "null":
        record = {**record, "experiment": "synthetic"}
    options = record.get("options")
    if isinstance(options, dict):
        kind = record.get("kind") or kind_of(str(record.get("experiment"))).get("kind")
        names = {**_RENAMED, **records.result(str(kind)).renamed}
        record = {**record, "options": {names.get(key, key): v for key, v in options.items()}}
        if record["options"].get("schedule") == "quiet":
            record["options"]["schedule"] = "isolated"
    return record


def header_of(record: Members) -> Header:
    """Return the ``run`` record with types; headers without a kind get it here.

    Raises
    ------
    InputError
        If a member is not of its type.
    """
    record = _as_today(record)
    traits = {} if "kind" in record else kind_of(str(record.get("experiment")))
    header = records.converted({**record, **traits}, Header, "run")
    if header.kind == "latency-map" and header.quantity:
        return replace(header, experiment=f"{header.pair_quantity}-map")
    return header
