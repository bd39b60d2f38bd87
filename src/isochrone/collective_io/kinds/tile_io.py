"""Report of collective I/O of tiles: times of phases, aggregators, messages of nodes."""

from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from isochrone.base.record import Members
from isochrone.base.text import listed, printable
from isochrone.base.units import format_bytes, format_rate, format_seconds
from isochrone.collective_io.pages.whole_call import best_gains, slow
from isochrone.collective_io.predict.best_possible import NAMES
from isochrone.collective_io.results.tile_io import (
    KIND,
    Phase,
    aggregators,
    file_io,
    hints,
    nodes,
    phases,
)
from isochrone.pages.options import in_use
from isochrone.pages.page import (
    Asked,
    Block,
    Facts,
    Kind,
    Picture,
    Row,
    Section,
    Sentence,
    Table,
    Tile,
    Tiles,
    columns_of,
)
from isochrone.pages.words import (
    interval,
    left_out,
    of_size,
    on_ranks,
    plural,
    warnings_of,
    with_hosts,
)
from isochrone.runfile.header import Option
from isochrone.runfile.run import Run

MAX_TILE_NAMES = 16
MAX_TILE_NODES = 64
MAX_RUNS = 4
"""Maximum number of runs in one figure."""

HOT = "« hot"

NODES_TITLE = "Messages of each node"
NODES_CAPTION = (
    "Messages of a collective write, including those of an aggregator to itself; a read has them "
    "in the opposite direction. The node with the most messages to and from other nodes is "
    "marked: all others wait for it. Several runs have one scale."
)

_OPTIONS = ("file", "tiles", "tile", "element", "overlap", "phase", "cb-buffer", "hints")
"""Options that are of the access and not of how often it is measured."""

_ACCESS = {"write": "Writing", "read": "Reading"}
_CALLS = {"write": "MPI_File_write_all", "read": "MPI_File_read_all"}
_EXCHANGE = {"write": "The exchange of a write", "read": "The exchange of a read"}


class _Aggregator:
    domain: int
    rank: int
    node: int
    source: str
    host: str


class _Access:
    rank: int
    node: int
    bytes: int
    op: str
    host: str


class _Node:
    node: int
    intra: int
    in_: int
    out: int
    hot: bool
    host: str


class _Shown(msgspec.Struct):
    """Collective I/O of tiles: phases and aggregators."""

    seconds_are: str
    options: dict[str, Option]
    phases: list[Phase]
    aggregators: list[_Aggregator]
    file_io: list[_Access]
    hints: dict[str, str]
    nodes: list[_Node]


def _document(run: Run, asked: Asked) -> _Shown:
    chosen, served, accessed = _chosen(run, asked.nbytes), aggregators(run), file_io(run)
    return _Shown(run.quantity, run.options, chosen, served, accessed, hints(run), nodes(run))


def _sections(run: Run, asked: Asked) -> list[Section]:
    measured, library_hints = _chosen(run, asked.nbytes), tuple(hints(run).items())
    reported = [Facts("Hints reported by the library", library_hints)] if library_hints else []
    return [
        Section("Summary", tuple(_overview(run, measured)), only="report"),
        Section("Nodes", tuple(_picture([run])), only="report", alone=True),
        Section("Numbers", (*_options(run), *_phases(measured))),
        Section("Summary", tuple(replace(line, only="terminal") for line in _slow(measured))),
        Section("Summary", (*best_gains(run), *_served(run))),
        Section("Numbers", (*reported, *_nodes(run))),
        Section("Summary", (warnings_of(run.warnings),)),
        Section(
            "How the times were taken",
            (
                Sentence(
                    "The time of a phase is the median over repetitions of the slowest rank; a "
                    "barrier precedes each. The exchange alone sends the messages of the library's "
                    "two-phase scheme without a file. Data are not flushed to disk: data that fit "
                    "into the page cache are written at memory speed.",
                    stress=("slowest rank",),
                ),
            ),
            only="report",
        ),
    ]


def _chosen(run: Run, nbytes: int | None) -> list[Phase]:
    """Return the phases that are shown: all, or those of files of the size the user names."""
    listed = phases(run)
    return of_size(listed, nbytes, f"no file of {nbytes} bytes", run.where) if listed else []


# --- summary --------------------------------------------------------------------------------------


def _overview(run: Run, measured: Sequence[Phase]) -> list[Block]:
    """Summarise the times and the nodes that delay others."""
    tiles = [
        Tile(
            format_seconds(phase.times["seconds"].median),
            _name(phase),
            ", ".join([format_bytes(phase.bytes), *_rate(phase)]),
        )
        for phase in measured
    ]
    return [
        *([Tiles(tuple(tiles))] if tiles else []),
        *(_sentence(phase) for phase in measured),
        *_slow(measured),
        *_hot(run),
    ]


def _name(phase: Phase) -> str:
    names = _EXCHANGE if phase.phase == "exchange" else _ACCESS
    return names.get(phase.op, phase.op)


def _rate(phase: Phase) -> list[str]:
    rate = phase.rates.bandwidth
    return [] if rate is None else [format_rate(rate)]


def _sentence(phase: Phase) -> Sentence:
    """Time and bandwidth of a phase, and the time of open and close."""
    name = f"{_name(phase)} for" if phase.phase == "exchange" else _name(phase)
    time = format_seconds(phase.times["seconds"].median)
    text = f"{name} a file of {format_bytes(phase.bytes)} takes {time}{_rounds(phase)}"
    text += "".join(f", which is {rate}" for rate in _rate(phase))
    around = [
        f"{format_seconds(phase.times[step].median)} to {step} it"
        for step in ("open", "close")
        if step in phase.times
    ]
    text += f"; in addition, {' and '.join(around)}" if around else ""
    return Sentence(f"{text}.", stress=(time,))


def _slow(measured: Sequence[Phase]) -> list[Sentence]:
    """Name the longest recorded phase of each access."""
    sentences = [
        slow(
            _CALLS.get(phase.op, phase.op),
            phase.times["seconds"].median,
            {name: phase.times[name].median for name in NAMES if name in phase.times},
        )
        for phase in measured
    ]
    return [sentence for sentence in sentences if sentence is not None]


def _rounds(phase: Phase) -> str:
    return f" in {phase.rounds} rounds" if phase.rounds is not None and phase.rounds > 1 else ""


def _hot(run: Run) -> list[Sentence]:
    """Name the node with most messages to and from others."""
    hot = [node for node in nodes(run) if node["hot"]]
    if not hot:
        return []
    names = listed([_node(node) for node in hot], 4)
    busiest = hot[0]
    text = f"The busiest nodes are {names}, each with {busiest['in'] + busiest['out']} messages."
    if len(hot) == 1:
        traffic = f"{busiest['in']} messages in and {busiest['out']} out when writing"
        text = f"The hot spot is {names}: {traffic}. All others wait for it."
    return [Sentence(text)]


def _node(node: Members) -> str:
    return printable(node["host"], 40) or str(node["node"])


def _served(run: Run) -> list[Sentence]:
    """List the aggregators, and the ranks that accessed the file."""
    lines = []
    if served := aggregators(run):
        order = f"in the order of the file ({served[0]['source']})"
        lines.append(f"Aggregators, {order}: {_named(served)}")
    accessed = file_io(run)
    for op in dict.fromkeys(rank["op"] for rank in accessed):
        of_op = [rank for rank in accessed if rank["op"] == op]
        lines.append(f"Ranks that accessed the file to {op}: {_named(of_op)}")
    return [Sentence(text) for text in lines]


def _named(ranks: Sequence[Members]) -> str:
    """Write ranks and hosts: ``0 (n0), 4 (n1)``; of many, the first."""
    return listed([with_hosts(rank["rank"], [rank["host"]]) for rank in ranks], MAX_TILE_NAMES)


# --- numbers --------------------------------------------------------------------------------------


def _options(run: Run) -> list[Facts]:
    options = in_use(run)
    facts = [(name, str(options[name])) for name in _OPTIONS if name in options]
    return [Facts("", tuple(facts), only="terminal")] if facts else []


def _phases(measured: Sequence[Phase]) -> list[Block]:
    """Tabulate the parts of each phase; the access itself has a bandwidth."""
    if not measured:
        return [Sentence("  The run contains no sample")]
    rows = []
    for phase in measured:
        for index, (name, times) in enumerate(phase.times.items()):
            access = name == "seconds"
            done = f"exchange{_rounds(phase)}" if phase.phase == "exchange" else phase.op
            of = ("", "") if index else (phase.phase, phase.op)
            rate = _rate(phase) if access else []
            timed = done if access else f"· {NAMES[name]}" if name in NAMES else name
            size = format_bytes(phase.bytes) if access else ""
            seconds = (format_seconds(times.median), interval(times), format_seconds(times.min))
            rows.append(Row((*of, timed, size, str(times.n), *seconds, *(rate or [""]))))
    columns = columns_of(
        "phase", "op", "time of", ">size", ">n", ">median", ">95 % interval", ">min", ">bandwidth"
    )
    title = "Phases of collective I/O; each time is that of the slowest rank"
    return [Table(title, columns, tuple(rows))]


def _nodes(run: Run) -> list[Table]:
    """Tabulate the messages of each node, the hot spot marked."""
    records = nodes(run)
    if not records:
        return []
    # The hot node is always shown.
    tabled = sorted(records, key=lambda node: not node["hot"])[:MAX_TILE_NODES]
    rows = []
    for node in sorted(tabled, key=lambda node: int(node["node"])):
        counts = (str(node[key]) for key in ("intra", "in", "out"))
        cells = (_node(node), *counts, HOT if node["hot"] else "")
        rows.append(Row(cells, "bad" if node["hot"] else ""))
    title = "Messages of the nodes in all rounds when writing; reading swaps in and out"
    columns = columns_of("node", ">intra", ">in", ">out", "")
    return [Table(title, columns, tuple(rows), left_out(len(records), len(rows), "more node"))]


# --- for the report -------------------------------------------------------------------------------


def _picture(runs: Sequence[Run]) -> list[Picture]:
    """Draw the messages of the nodes, of all runs that hold them."""
    drawn = tuple(run for run in runs if len(run.tables.get("node", ())))[:MAX_RUNS]
    if not drawn:
        return []
    alt = f"{NODES_TITLE} in {plural(len(drawn), 'run')}"
    return [Picture("nodes", NODES_TITLE, NODES_CAPTION, drawn, alt=alt)]


def _together(runs: Sequence[Run]) -> list[Section]:
    pictures = _picture(runs)
    return [Section("Nodes", tuple(pictures), only="report")] if pictures else []


PAGE = Kind(
    title=lambda run: f"collective I/O of tiles {on_ranks(run)}",
    holds=lambda run: run.kind == KIND,
    sections=_sections,
    document=_document,
    together=_together,
    place=3,
)
