"""Named experiments and suites of them: the nine of mpptest, and those of our own.

A preset is an experiment of the probe with options; what the user adds comes after them and wins.
The first nine have the names and sizes of the programs that A. Barton ran (*Understanding
properties of I/O between compute nodes in a parallel system*, 2003, section 3.2); where mpptest did
something else than its option says, ``docs/suites.md`` tells what.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from isochrone.base.errors import InputError
from isochrone.base.osu import OSU
from isochrone.base.text import did_you_mean, printable


@dataclass(frozen=True)
class Preset:
    """A named experiment.

    Attributes
    ----------
    name
        As the user types it.
    experiment
        Of the probe.
    options
        For the probe.
    summary
        One line.
    """

    name: str
    experiment: str
    options: tuple[str, ...]
    summary: str


@dataclass(frozen=True)
class Suite:
    """A set of presets and its default time budget in seconds.

    ``other_sweeps`` says that sweeps of the probe which have no preset are measured as well, as
    they are by default; ``own`` are experiments that no preset has. Of an ``optional`` suite, runs
    that this MPI library cannot do, and those for which there is no time, are left out.
    """

    name: str
    presets: tuple[str, ...]
    max_time: float
    summary: str
    other_sweeps: bool = False
    own: tuple[Preset, ...] = ()
    optional: bool = False


_SHORT = ("--bytes", "auto:0:1KiB", "--smallest-gap", "4")
_LONG = ("--bytes", "256KiB:1MiB:32KiB")
_PLAIN = ("--bytes", "0:1KiB:32")

_ALL = (
    Preset(
        "short", "point-to-point", _SHORT, "short messages, sizes refined where the curve bends"
    ),
    Preset("long", "point-to-point", _LONG, "long messages"),
    Preset(
        "longnb", "point-to-point", ("--mode", "nonblocking", *_LONG), "long messages, non-blocking"
    ),
    Preset(
        "shortc",
        "point-to-point",
        ("--cache", "cold", "--cache-bytes", "4MiB", *_PLAIN),
        "short messages from a cold cache",
    ),
    Preset(
        "shortv",
        "point-to-point",
        ("--layout", "vector", "--stride", "128", *_PLAIN),
        "short messages, strided: one double in every 128",
    ),
    Preset("bshort", "bisection", _SHORT, "short messages across the bisection, all pairs at once"),
    Preset("blong", "bisection", _LONG, "long messages across the bisection, all pairs at once"),
    Preset(
        "bcast",
        "collective",
        ("--op", "bcast", "--root", "rotating", "--bytes", "0:1KiB:256"),
        "broadcast, each rank the root in turn",
    ),
    Preset(
        "dsum",
        "collective",
        ("--op", "allreduce", "--bytes", "0:8KiB:2KiB"),
        "allreduce (sum) of up to 1,024 doubles",
    ),
    Preset("map", "latency-map", ("--bytes", "64"), "round trips between all pairs of ranks"),
    Preset(
        "sizes",
        "point-to-point",
        ("--bytes", "auto:0:1MiB"),
        "time and bandwidth from 0 to 1 MiB, protocol switches",
    ),
    Preset(
        "rate",
        "point-to-point",
        ("--window", "64", "--bytes", "8,1KiB,64KiB"),
        "message rate and bandwidth with 64 messages in flight",
    ),
    Preset(
        "both-ways",
        "point-to-point",
        ("--mode", "bidirectional", "--bytes", "8:1MiB:x8"),
        "both directions at once",
    ),
    Preset("put", "point-to-point", ("--mode", "put", "--bytes", "8:1MiB:x8"), "one-sided put"),
    Preset(
        "cut",
        "bisection",
        ("--bytes", "8,4KiB,64KiB,1MiB"),
        "bandwidth of all pairs across the bisection at once",
    ),
    Preset(
        "operations",
        "collective",
        ("--op", "barrier,bcast,allreduce,alltoall", "--bytes", "8,1KiB,64KiB"),
        "the collective operations that programs use most",
    ),
    Preset(
        "all-operations",
        "collective",
        ("--op", "all", "--bytes", "8:128KiB:x8"),
        "all collective operations",
    ),
)

PRESETS = {preset.name: preset for preset in _ALL}

MPPTEST = (
    "short",
    "long",
    "longnb",
    "shortc",
    "shortv",
    "bshort",
    "blong",
    "bcast",
    "dsum",
)

_OSU = tuple(
    Preset(name, command.split()[0], tuple(command.split()[1:]), command)
    for command, name in {OSU[name]: name for name in reversed(OSU)}.items()
    if command
)[::-1]
"""A preset for each command, with the name of the first benchmark that it answers."""

SUITES = {
    suite.name: suite
    for suite in (
        Suite(
            "quick",
            ("map", "sizes", "rate", "cut", "operations"),
            120.0,
            "overview of a machine, two minutes",
        ),
        Suite("mpptest", MPPTEST, 600.0, "experiments of the program mpptest, ten minutes"),
        Suite(
            "full",
            ("map", "sizes", *MPPTEST, "rate", "both-ways", "put", "cut", "all-operations"),
            1800.0,
            "both, and more modes, half an hour",
            other_sweeps=True,
        ),
        Suite(
            "osu",
            (),
            300.0,
            "what the OSU Micro-Benchmarks measure, five minutes",
            own=_OSU,
            optional=True,
        ),
    )
}


def of(experiment: str) -> list[Preset]:
    """List the presets of an experiment."""
    return [preset for preset in _ALL if preset.experiment == experiment]


def find(name: str, experiment: str) -> Preset:
    """Return a preset of an experiment.

    Raises
    ------
    InputError
        If the experiment has none of this name.
    """
    names = [preset.name for preset in of(experiment)]
    if name in names:
        return PRESETS[name]
    if name in PRESETS:
        owner = PRESETS[name].experiment
        raise InputError(
            f"the preset '{name}' belongs to {owner}", hint=f"isochrone measure {owner}"
        )
    hint = f"{did_you_mean(name, names)}it has: {', '.join(names)}" if names else "it has none"
    raise InputError(f"{experiment} has no preset '{name}'", hint=hint)


_QUESTION = re.compile(r"([a-z_]+)\s+(?:at|on)\s+([1-9]\d{0,8})(?:\s+ranks)?")


def for_question(text: str) -> tuple[Suite, int]:
    """Return the suite that a question needs, such as ``allreduce at 4096``, and its ranks.

    Raises
    ------
    InputError
        If it is not an operation at a number of ranks.
    """
    match = _QUESTION.fullmatch(text.strip())
    if not match:
        raise InputError(
            f"'{printable(text, 60)}' is not a valid question",
            hint="for example 'allreduce at 4096'",
        )
    op, ranks = match.groups()
    sizes = () if op == "barrier" else ("--bytes", "8:1MiB:x4")
    preset = Preset(op, "collective", ("--op", op, *sizes), f"{op} of all sizes")
    return Suite(f"for-{op}", (), 600.0, f"what a model of {op} needs", own=(preset,)), int(ranks)


def ranks_of_all_classes(max_ranks: int) -> tuple[int, ...]:
    """Return numbers of ranks for a model: powers of two, others, odd ones, and the most."""
    powers = [1 << k for k in range(1, max_ranks.bit_length())]
    odd = [power - 1 for power in powers if power >= 8]
    between = [3 * power // 2 for power in powers]
    return tuple(sorted({k for k in (*powers, *between, *odd, max_ranks) if 2 <= k <= max_ranks}))


def plan(
    suite: Suite, ranks: tuple[int, ...], sweeps: Mapping[str, str] | None = None
) -> Iterator[tuple[Preset, int]]:
    """Yield what a suite runs: pair experiments with the fewest ranks, others with each number.

    ``sweeps`` are the experiments of the probe that are sweeps, with a line on each.
    """
    presets = [*(PRESETS[name] for name in suite.presets), *suite.own]
    if suite.other_sweeps:
        experiments = {preset.experiment for preset in _ALL}
        others = {name: line for name, line in (sweeps or {}).items() if name not in experiments}
        presets += [Preset(name, name, (), line) for name, line in others.items()]
    for preset in presets:
        for count in (min(ranks),) if preset.experiment == "point-to-point" else ranks:
            yield preset, count
