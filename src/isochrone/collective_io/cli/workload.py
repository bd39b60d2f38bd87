"""Options that describe a job and a collective call, also those of a recording."""

from __future__ import annotations

import os
import re
from argparse import ArgumentParser, ArgumentTypeError, Namespace, _ActionsContainer
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from isochrone import models
from isochrone.base.errors import InputError
from isochrone.base.text import whole_number
from isochrone.collective_io.orders.setting import Setting
from isochrone.collective_io.predict.calls_of_runs import measured_calls
from isochrone.collective_io.predict.node_cost import NodeCost
from isochrone.collective_io.predict.whole_call import WholeCall
from isochrone.collective_io.results import io_recording
from isochrone.collective_io.results.io_recording import RecordedPattern
from isochrone.collective_io.workload import pattern as patterns
from isochrone.collective_io.workload.accesses import Accesses
from isochrone.collective_io.workload.call import DEFAULT, Call, Hints, aggregators, call_of
from isochrone.collective_io.workload.pattern import Option, sides
from isochrone.console.options import add_expert, add_flag, add_option, read_count, read_size
from isochrone.measure import allocation as allocations
from isochrone.measure.allocation import Allocation
from isochrone.runfile.file import read
from isochrone.runfile.file_type import looks_like_a_run

_HINTS: dict[str, Callable[[str], object]] = {
    "cb_buffer_size": read_size,
    "cb_nodes": read_count,
    "cb_config_list": str,
    "striping_unit": read_size,
    "striping_factor": read_count,
    "romio_lustre_co_ratio": read_count,
    "romio_min_fdomain_size": read_size,
}
"""Hints of ROMIO that a prediction follows, and what reads them."""


def _add_nodes(parser: ArgumentParser) -> None:
    """Add the options for the nodes of a job."""
    group = parser.add_argument_group("nodes").add_mutually_exclusive_group()
    add_option(
        group, "--nodes", "RANKS,…", str, "number of ranks on each node: 4,4,2,2 or 4(x2),2(x2)"
    )
    add_option(
        group,
        "--hostfile",
        "FILE",
        Path,
        "host file of Hydra (host:4), Open MPI or PBS, or a run file (default: the Slurm job)",
    )


def _allocation(args: Namespace, recorded: Sequence[str]) -> Allocation:
    """Return the nodes that the options mean; ``recorded``: hosts of the ranks of a recording."""
    if args.nodes is not None:
        return allocations.from_numbers(args.nodes)
    if args.hostfile is not None and is_recording(args.hostfile):
        return allocations.from_hosts(read(args.hostfile).hosts, str(args.hostfile))
    if args.hostfile is not None:
        return allocations.read_hostfile(args.hostfile)
    if recorded:
        return allocations.from_hosts(recorded, str(args.recording))
    if "SLURM_JOB_ID" in os.environ:
        return allocations.from_slurm(os.environ)
    raise InputError("the nodes are not given", hint="give --nodes 4,4,2,2 or --hostfile FILE")


def add_job(parser: ArgumentParser) -> None:
    """Add the options for nodes, access pattern and collective call."""
    _add_nodes(parser)
    group = parser.add_argument_group("access pattern (default: tiles, as square as possible)")
    which = group.add_mutually_exclusive_group()
    for name in patterns.names():
        _add_pattern_option(which, patterns.load(name).option)
    add_expert(
        group,
        "--pattern",
        "N",
        _number,
        "number of the pattern in a recording (default: the pattern that took most time)",
        dest="recorded_pattern",
    )
    parser.set_defaults(recording=None)
    add_expert(
        group,
        "--tile",
        "XxY",
        sides(1, 3),
        "elements of a tile (default: 1024x1024), or of a block (default: 64 along each axis)",
    )
    add_expert(
        group,
        "--element",
        "SIZE",
        read_size,
        "size of an element (default: 64 bytes with tiles, else 8 bytes)",
    )
    for name in patterns.names():
        for option in patterns.load(name).more:
            _add_pattern_option(group, option, expert=True)
    add_expert(
        group,
        "--op",
        None,
        str,
        "operation (default: write, or as recorded)",
        choices=("write", "read"),
    )
    _add_library(parser)


def _add_pattern_option(group: _ActionsContainer, option: Option, *, expert: bool = False) -> None:
    """Add an option of an access pattern."""
    expert = expert or option.expert
    if option.metavar:
        add_option(group, option.name, option.metavar, option.read, option.help, expert=expert)
    else:
        add_flag(group, option.name, option.help, expert=expert)


def _add_library(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("file domains and hints")
    add_expert(
        group,
        "--driver",
        None,
        str,
        "MPI-IO driver: ROMIO with file domains of equal size (even, default), ROMIO for "
        "Lustre, or Open MPI's OMPIO",
        choices=("even", "lustre", "ompio"),
    )
    add_expert(
        group,
        "--hints",
        "KEY=VALUE,…",
        _hints,
        "ROMIO hints, such as cb_nodes=4,cb_buffer_size=16MiB (default: a rank of each node, one "
        "round)",
        default={},
    )


def _hints(text: str) -> dict[str, str]:
    """Read hints; a list of hosts contains commas, too."""
    hints = {}
    for item in re.split(",(?=[a-z_]+=)", text):
        key, _, value = item.partition("=")
        if key not in _HINTS or not value:
            raise ArgumentTypeError(f"'{item}' is not KEY=VALUE of these: {', '.join(_HINTS)}")
        hints[key] = str(_HINTS[key](value))
    return hints


def files_read(args: Namespace) -> list[Path]:
    """Return the files that the options name to be read: they are not to be overwritten."""
    of_patterns = (_value(args, name) for name in patterns.names())
    named = [args.hostfile, args.model, args.recording, *of_patterns]
    named += getattr(args, "calls", [])
    return [value for value in named if isinstance(value, Path)]


def _value(args: Namespace, pattern: str) -> object:
    """Return the value of the option of a pattern."""
    return vars(args)[pattern.replace("-", "_")]


def add_model(parser: ArgumentParser) -> None:
    """Add the options that say what messages cost."""
    group = parser.add_argument_group("model")
    add_option(
        group,
        "--model",
        "FILE",
        Path,
        "hot-spot model (from fit -o, or in examples/models)",
        required=True,
    )
    add_expert(
        group,
        "--select",
        "KEY=VALUE",
        _selector,
        "use this one of several models in the file: hot=4, bytes=1048576, or order=inter-first "
        "(messages posted first; default: intra-first)",
        action="append",
        default=[],
    )


def add_measured_calls(parser: ArgumentParser) -> None:
    """Add the option that names measured calls, from which the whole call is predicted."""
    add_expert(
        parser,
        "--calls",
        "RUN",
        Path,
        "also predict the file access, from runs of measure tile-io --file or record "
        "--collective-io",
        nargs="+",
        default=[],
    )


def job(args: Namespace, *, host_list: bool = False) -> tuple[Allocation, Call, NodeCost, Setting]:
    """Return the nodes, the collective call, the model and the given hints that the options mean.

    Operation and driver are set where the user has given none. A table that is a recording is
    replaced by its accesses; ``recording`` is its path then.

    ``host_list``: whether another list of hosts than ROMIO's own is allowed.
    """
    if "cb_config_list" in args.hints and not host_list:
        raise InputError(
            "an order of nodes is searched for ROMIO's own list of hosts",
            where="--hints",
            hint="leave out cb_config_list",
        )
    access = None
    if isinstance(args.table, Path) and is_recording(args.table):
        args.recording = args.table
        access = recorded_access(args.recording, args.recorded_pattern)
        args.table = access.accesses
        args.op = args.op or access.op
    elif args.recorded_pattern is not None:
        raise InputError("this option needs a recording (--table RECORDING)", where="--pattern")
    args.op = args.op or "write"
    nodes = _allocation(args, access.hosts if access else ())
    call, given = _call(args, nodes.ranks, access)
    model = NodeCost(models.read(args.model), {"order": "intra-first", **dict(args.select)})
    return nodes, call, model, given


def _call(args: Namespace, ranks: int, access: RecordedAccess | None) -> tuple[Call, Setting]:
    """Return the collective call that the options mean, and its hints."""
    if args.hints.get("cb_buffer_size") == "0":
        raise InputError("the size of a buffer must be above 0", where="--hints")
    if args.element == 0:
        raise InputError("the size must be above 0", where="--element")
    named = [name for name in patterns.names() if _value(args, name) not in (None, False)]
    chosen = patterns.load(named[0] if named else patterns.DEFAULT)
    pattern = chosen.make(vars(args), ranks)
    if pattern.ranks != ranks:
        raise InputError(
            f"the pattern has {pattern.ranks} ranks, but the nodes have {ranks}",
            hint=chosen.hint(ranks),
        )
    hints = {**(access.hints if access else {}), **args.hints}
    reading = args.op == "read"
    call = call_of(pattern, hints, reading=reading, driver=args.driver, buffer=None)
    args.driver = call.driver
    if access:
        call = replace(call, through=access.through)
    nodes = whole_number(hints.get("cb_nodes", "")) or None
    return call, Setting(hints.get("cb_config_list", DEFAULT), nodes, call.buffer)


def whole_call(args: Namespace, model: NodeCost) -> WholeCall:
    """Return what the parts of a call take, by the measured calls that the options name."""
    return WholeCall.calibrated(model, measured_calls(read(path) for path in args.calls))


def _selector(text: str) -> tuple[str, str | int]:
    key, equals, value = text.partition("=")
    if not key or not equals or not value:
        raise ArgumentTypeError(f"'{text}' is not KEY=VALUE")
    return key, int(value) if re.fullmatch("[0-9]{1,18}", value) else value


def _number(text: str) -> int:
    if not re.fullmatch("[0-9]{1,9}", text):
        raise ArgumentTypeError(f"'{text}' is not a number from 1")
    return int(text)


# --- recordings ----------------------------------------------------------------------------------

# A recording of collective I/O as the call of a prediction: its pieces, its hints, its hosts.


class RecordedAccess(NamedTuple):
    """One pattern of a recording.

    Attributes
    ----------
    accesses
        Which rank touches which bytes.
    op, hints
        The operation, and the active hints.
    hosts
        Of each rank.
    through
        The library that made the calls, if it is not ROMIO.
    """

    accesses: Accesses
    op: str
    hints: Hints
    hosts: Sequence[str]
    through: str


def is_recording(path: Path) -> bool:
    """Whether a file is a run file, and not a table of numbers."""
    try:
        return looks_like_a_run(path)
    except InputError:
        return False


def recorded_access(path: Path, pattern_number: int | None = None) -> RecordedAccess:
    """Read a pattern of a recording; by default the one with the longest total time.

    Raises
    ------
    InputError
        If it is not a recording of collective I/O, or has no such pattern.
    """
    run = read(path)
    seconds = io_recording.seconds_by_pattern(io_recording.calls(run))
    pattern = _chosen(io_recording.patterns(run), seconds, pattern_number, str(path))
    if not pattern.whole:
        raise InputError(f"the recording lacks pieces of pattern {pattern.number}", where=path)
    file = next(file for file in io_recording.files(run) if file.number == pattern.file)
    try:
        accesses = pattern.accesses(file, run.size)
    except InputError as error:
        raise InputError(f"pattern {pattern.number} has no accesses", where=path) from error
    hosts, hints = run.hosts, dict(file.hints)
    file_hosts = [hosts[rank] for rank in file.ranks.tolist()]
    default = len(aggregators(file_hosts, hints.get("cb_config_list", DEFAULT)))
    if whole_number(hints.get("cb_nodes", "")) == default:
        del hints["cb_nodes"]  # as many as there are by default, also where nodes are others
    ompio = run.library.library.startswith("Open MPI") and "cb_config_list" not in hints
    return RecordedAccess(accesses, pattern.op, hints, hosts, "OMPIO" if ompio else "")


def _chosen(
    recorded_patterns: Sequence[RecordedPattern],
    seconds: Mapping[int, float],
    pattern_number: int | None,
    where: str,
) -> RecordedPattern:
    if not recorded_patterns:
        raise InputError("the recording has no collective access", where=where)
    chosen = [pattern for pattern in recorded_patterns if pattern_number in (None, pattern.number)]
    if not chosen:
        listed = ", ".join(str(pattern.number) for pattern in recorded_patterns[:20])
        raise InputError(
            f"there is no pattern {pattern_number}", where=where, hint=f"there are: {listed}"
        )
    return max(chosen, key=lambda pattern: seconds.get(pattern.number, 0.0))
