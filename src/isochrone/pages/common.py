"""The page of any run: title, facts, how it was measured, its file."""

from collections.abc import Iterator
from datetime import UTC, datetime

from msgspec import Struct

import isochrone
from isochrone.base import registry
from isochrone.base.documents import IfKnown, WarningList, plain
from isochrone.base.files import sha256
from isochrone.base.table import grouped
from isochrone.base.text import printable
from isochrone.base.units import format_bytes, format_seconds
from isochrone.pages.options import in_use, measured_again, repeated
from isochrone.pages.page import (
    AS_USUAL,
    Asked,
    Block,
    Facts,
    Kind,
    Later,
    Page,
    Row,
    Section,
    Sentence,
    Table,
    columns_of,
)
from isochrone.pages.words import of_ranks, plural, ranges, warnings_of
from isochrone.runfile.clocks import KIND as CLOCKS
from isochrone.runfile.clocks import Clocks, clocks, has_clocks
from isochrone.runfile.environment import environment_document, settings_in_words
from isochrone.runfile.header import Option
from isochrone.runfile.run import NO_END, Run

FAMILY = "*.kinds"
MAX_HOSTS = 64
HOW = "How the times were taken"

PARTIAL = Sentence(NO_END, about="partial run")

_LABELS = {
    "bytes": "message sizes",
    "schedule": "schedule of the pairs",
    "warmup": "warm-up round trips",
    "min-repeats": "minimum repetitions",
    "max-repeats": "maximum repetitions",
    "max-time": "maximum time per pair",
    "retest": "measured again",
    "inner-parallel": "several pairs at once within a node",
    "time-limit": "time limit",
    "one-way": "each direction, too",
    "precision": "target precision",
    "window": "messages in flight",
    "layout": "layout",
    "cache": "cache",
    "pairing": "pairs",
    "thread-comms": "communicator of the threads",
    "sync": "start of an operation by",
    "root": "root",
    "counts": "blocks",
    "topology": "neighbours",
    "type": "elements",
    "reduce": "reduction",
    "in-place": "in place",
}
_DOCUMENTS = ("description",)
"""Notes that are whole documents, shown by their kinds of results."""

_SECONDS = {"max-time", "time-limit"}
_SCHEDULES = {
    "isolated": "isolated: no two active pairs share a node",
    "rounds": "rounds: every rank in at most one pair at a time",
    "serial": "serial: one pair at a time, with a barrier before each",
}


class About(Struct):
    """What every run has, independent of its kind.

    Attributes
    ----------
    ranks
        Number of ranks.
    complete
        Whether the run is complete.
    clocks
        How well the clocks of the ranks were synchronised.
    settings
        Variables that configure the MPI library.
    settings_left_out
        Names of those whose values look like secrets.
    memory
        Where buffers are located.
    machine
        The node of rank 0: kernel, processor, governor, number of NUMA nodes.
    """

    ranks: int
    warnings: WarningList
    experiment: str
    origin: str
    complete: bool
    clocks: IfKnown[Clocks] = None
    settings: IfKnown[dict[str, str]] = None
    settings_left_out: IfKnown[list[str]] = None
    memory: IfKnown[str] = None
    machine: IfKnown[dict[str, str | int]] = None


class Records(Struct):
    """Clocks of the ranks; or a run of a kind that this version cannot read.

    Attributes
    ----------
    records
        How many of each name.
    """

    records: dict[str, int]


def records(run: Run, asked: Asked) -> Records:
    """Count the records of a run."""
    return Records({name: len(table) for name, table in run.tables.items()})


def kind_of(run: Run) -> Kind | None:
    """Return how this kind of run is shown; None where its records can only be counted."""
    if run.kind not in registry.names(FAMILY):
        return None
    kind: Kind = registry.load(FAMILY, run.kind).PAGE
    return kind if kind.holds(run) else None


def page_of(run: Run, asked: Asked = AS_USUAL) -> Page:
    """Return the page of a run.

    Parameters
    ----------
    run
        Of any kind, complete or partial.
    asked
        What the user asks for.

    Raises
    ------
    InputError
        If a record is damaged, or nothing was measured with this size.
    """
    kind = kind_of(run)
    sections = _counts(run) if kind is None else list(kind.sections(run, asked))
    if has_clocks(run) and run.kind != CLOCKS:
        sections.append(clock_section(run))
    text = printable(settings_in_words(run.about), 2000)
    sentence = Sentence(f"  settings of the MPI library: {text}")
    settings = [Section("Settings", (sentence,), only="terminal")] * bool(text)
    date, library = date_in_words(run.about.started), printable(run.library.name, 60)
    how = Section(HOW, (Later(lambda: [*_how(run)]),), only="report")
    return Page(
        title=_title(run, kind),
        line=_line(run),
        facts=tuple(text for text in (date, library) if text),
        partial=None if run.complete else PARTIAL,
        sections=(*sections, *settings, how),
    )


def document(run: Run, asked: Asked = AS_USUAL) -> dict[str, object]:
    """Return the JSON document of a run.

    Raises
    ------
    InputError
        If a record is damaged, or nothing was measured with this size.
    """
    about = About(
        ranks=run.size,
        warnings=run.warnings,
        experiment=run.experiment,
        origin=run.origin,
        complete=run.complete,
        clocks=clocks(run) if has_clocks(run) else None,
        **environment_document(run.about),
    )
    kind = kind_of(run)
    specific = (kind.document if kind else records)(run, asked)
    merged: dict[str, object] = plain(about) | plain(specific)
    return merged


# --- title and facts ------------------------------------------------------------------------------


def _title(run: Run, kind: Kind | None) -> str:
    """Return what was measured, and where: ``Latency map of 32 ranks on 8 nodes``."""
    generic = f"{run.experiment.replace('-', ' ')} {of_ranks(run)}"
    origin = f"{run.origin} " if run.origin in ("synthetic", "simulated") else ""
    title = origin + (generic if kind is None else kind.title(run))
    return title[:1].upper() + title[1:]


def _line(run: Run) -> tuple[str, ...]:
    """Return keywords: experiment, origin, preset, ranks, MPI library."""
    ranks = of_ranks(run).removeprefix("of ")
    ranks += ", bound to cores" if run.notes.get("binding") == "core" else ""
    origin = "" if run.origin == "measured" else run.origin
    subject = (f"{origin} {run.kind}",) if run.experiment == origin else (run.experiment, origin)
    preset = printable(run.notes.get("preset", ""), 40)
    return tuple(text for text in (*subject, preset, ranks, run.library.name) if text)


def date_in_words(text: str) -> str:
    """Return the date of a run file in a readable form; other texts unchanged."""
    try:
        date = datetime.fromisoformat(text).astimezone(UTC)
    except (ValueError, OverflowError):
        return text
    return f"{date.day} {date:%B %Y, %H:%M} UTC"


def _counts(run: Run) -> list[Section]:
    """Count the records of a run of an unknown kind."""
    counts = [Sentence(f"  {len(table)} records of '{name}'") for name, table in run.tables.items()]
    nothing = [Sentence("  no measurement")]
    kind = printable(run.kind, 40)
    newer = [Sentence(f"This version cannot read results of kind '{kind}': update isochrone")]
    unknown = newer if run.kind and run.kind not in registry.names(FAMILY) else []
    return [Section("Summary", (*(counts or nothing), *unknown, warnings_of(run.warnings)))]


# --- how it was measured --------------------------------------------------------------------------


def _how(run: Run) -> Iterator[Block]:
    if run.median_is_mean:
        yield Sentence("The imported file has only means; they are used as medians.")
    if run.about.imported is not None:
        yield Sentence("The run was imported from a file of another program.")
    if run.about.made_up:
        yield Sentence("The times are synthetic: computed from a formula, not measured.")
    facts = measured_how(run)
    if facts:
        yield Facts("", tuple(facts))
    hosts = _hosts(run)
    if hosts.rows:
        yield hosts


def measured_how(run: Run) -> list[tuple[str, str]]:
    """List repetitions, options that took effect, MPI library, clock, time taken and notes."""
    options = [
        (_LABELS.get(k, k), str(measured_again(run, k) or _value(k, v)))
        for k, v in in_use(run).items()
        if k != "repeats"
    ]
    library, clock, about = run.library, run.clock, run.about
    machine, total = about.machine, (run.end or {}).get("seconds")
    standard = f" (MPI {library.standard})" if library.standard else ""
    facts = [
        ("repetitions of each point", repeated(run)),
        *options,
        ("MPI library", f"{library.name}{standard}" if library.library else ""),
        ("clock source", clock.source),
        ("clock granularity", _seconds(clock.granularity)),
        ("clock cost", _seconds(clock.cost)),
        ("clock", "runs in the virtual time of a simulator" if clock.simulated else ""),
        ("total time", _seconds(total)),
        *sorted(about.settings.items()),
        *((name, "left out: it looks like a secret") for name in sorted(about.left_out)),
        ("memory of buffers", about.memory),
        ("kernel", machine.kernel),
        ("processor", machine.processor),
        ("frequency governor", machine.governor),
        ("NUMA nodes", "" if machine.numa is None else str(machine.numa)),
        *((name, note) for name, note in run.notes.items() if name not in _DOCUMENTS),
    ]
    return [(label, value) for label, value in facts if value]


def _seconds(value: object) -> str:
    """Write a time; empty if it is none."""
    return format_seconds(float(value)) if isinstance(value, int | float) else ""


def _value(key: str, value: Option) -> str:
    """Return an option in a readable form."""
    if value is True:
        return "yes"
    if key == "bytes":
        sizes = value if isinstance(value, list) else [value]
        return ", ".join(format_bytes(s) if isinstance(s, int) else str(s) for s in sizes)
    if key in _SECONDS and isinstance(value, int | float):
        return _seconds(value)
    if key == "precision" and isinstance(value, int | float):
        return f"{100 * value:g} %"
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return _SCHEDULES.get(str(value), str(value)) if key == "schedule" else str(value)


def _hosts(run: Run) -> Table:
    """List the hosts with their ranks, in the order in which the ranks meet them."""
    ranks = grouped((host, rank) for rank, host in enumerate(run.hosts) if host)
    left_out = len(ranks) - MAX_HOSTS
    return Table(
        "Hosts of the ranks, as detected",
        columns_of("host", ">ranks", "which"),
        tuple(
            Row((host, str(len(host_ranks)), ranges(host_ranks)))
            for host, host_ranks in list(ranks.items())[:MAX_HOSTS]
        ),
        f"and {left_out} more hosts" if left_out > 0 else "",
        fold="Hosts and their ranks",
    )


# --- the ranks' clocks ----------------------------------------------------------------------------


def clock_section(run: Run) -> Section:
    """Return how well the clocks agreed in a run in which they were synchronised.

    Raises
    ------
    InputError
        If a record is damaged.
    """
    summary = clocks(run)
    offset = summary.offset
    rows = [
        (
            "after synchronisation",
            summary.residual_median,
            summary.residual_max,
            summary.synchronised,
        )
    ]
    notes = [Sentence(f"Largest drift: {1e6 * summary.drift_max:.3g} ppm")]
    if offset is not None:
        rows.append(("two ranks, any time", offset.median, offset.max, offset.comparisons))
        i, j = offset.worst_pair
        age = format_seconds(max(offset.worst_age, 0))
        notes = [
            Sentence(f"Worst: ranks {i} and {j}, {age} after a synchronisation"),
            Sentence(f"Uncertainty of a comparison: {format_seconds(offset.bound)} (median)"),
            *notes,
        ]
    offsets = Table(
        "",
        columns_of("clock offset", ">median", ">worst", ">measured"),
        tuple(
            Row((name, format_seconds(median), format_seconds(worst), plural(seen, "time")))
            for name, median, worst, seen in rows
        ),
    )
    return Section("Clocks", (offsets, *notes))


# --- where it comes from --------------------------------------------------------------------------


def provenance(run: Run) -> Section:
    """Return the file a report was made from, so that the numbers can be checked."""
    facts = []
    if run.path is None:
        facts.append(("run file", "none: the run was made in memory"))
    else:
        try:
            digest = sha256(run.path)
        except OSError:
            digest = "the file no longer exists"
        facts += [("run file", str(run.path)), ("SHA-256", digest)]
    facts += [(f"original {key}", value) for key, value in (run.about.imported or {}).items()]
    if run.about.probe:
        facts.append(("probe", f"isochrone-probe {run.about.probe}"))
    facts.append(("report by", f"isochrone {isochrone.__version__}"))
    return Section("Provenance", (Facts("", tuple(facts)),), only="report")
