"""How long measurements will take, and how a limited time is shared out among them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from isochrone.base.units import parse_sizes
from isochrone.measure.presets import Preset

__all__ = [
    "Cost", "Share", "Trial", "estimate", "message_sizes", "operations", "option", "share_out",
]  # fmt: skip

AUTOMATIC_POINTS: Final = 30
"""Sizes that ``auto`` usually ends with: the first ones, and some ten for each protocol switch."""

REPEATS: Final = 100
MIN_REPEATS: Final = 3
WARMUP: Final = 5

SPARE: Final = 0.25
"""Part of the spare time that one run may use beyond its estimate: outliers are
measured again, and a machine has slow moments."""

SHORTEST: Final = 0.5
"""Seconds that every run gets, whatever the estimate says."""

_OPERATIONS: Final = 10  # of --op all


@dataclass(frozen=True)
class Trial:
    """What a short trial of one experiment showed: seconds = start + bytes * per_byte."""

    startup: float
    start: float
    per_byte: float


@dataclass(frozen=True)
class Cost:
    """Seconds of a run: to start the ranks, with all repetitions, and with the fewest."""

    startup: float
    full: float
    least: float


@dataclass(frozen=True)
class Share:
    """The time a run gets, and whether repetitions or even points must be left out to keep it."""

    seconds: float
    repeats_reduced: bool
    points_omitted: bool


def estimate(preset: Preset, ranks: int, trial: Trial, repeats: int = REPEATS) -> Cost:
    """Estimate a run of a preset from a trial of its experiment with as many ranks or more."""
    sizes = message_sizes(preset.options)
    window = int(option(preset.options, "--window") or 1)
    each = sum(trial.start + size * trial.per_byte for size in sizes)
    each *= window * preset.trips * operations(preset.options)
    if preset.all_pairs:
        each *= ranks if ranks % 2 else ranks - 1  # rounds of a tournament
    return Cost(trial.startup, each * (repeats + WARMUP), each * (MIN_REPEATS + WARMUP))


def share_out(seconds: float, costs: Sequence[Cost]) -> list[Share]:
    """Share the time that is left among the runs to come, in proportion to what they need.

    If there is time for all, a run may also use a part of what is spare. If there is not,
    repetitions are lowered everywhere alike; if there is not even time for the fewest, points will
    be left out. Asked again before each run, so that time one run leaves is the others'.
    """
    free = max(0.0, seconds - sum(cost.startup for cost in costs))
    needs = [max(cost.full, SHORTEST) for cost in costs]
    scale = min(1.0, free / sum(needs)) if needs else 1.0
    spare = SPARE * max(0.0, free - sum(needs))
    return [
        Share(
            scale * need + spare,
            repeats_reduced=scale * need + spare < cost.full,
            points_omitted=scale * need + spare < cost.least,
        )
        for need, cost in zip(needs, costs, strict=True)
    ]


def message_sizes(options: Sequence[str]) -> list[int]:
    """Return the message sizes that options name, in bytes; those that `auto` may choose."""
    text = option(options, "--bytes") or "0"
    if not text.startswith("auto"):
        return parse_sizes(text)
    _, _, ends = text.partition(":")
    low, high = (parse_sizes(end)[0] for end in (ends or "0:1MiB").split(":"))
    step = (high - low) / (AUTOMATIC_POINTS - 1)
    return [int(low + k * step) for k in range(AUTOMATIC_POINTS)]


def operations(options: Sequence[str]) -> int:
    """Count the operations that --op names."""
    named = option(options, "--op")
    return 1 if named is None else _OPERATIONS if named == "all" else len(named.split(","))


def option(options: Sequence[str], name: str) -> str | None:
    """Return what an option says; given twice, the last one counts."""
    places = [k for k, word in enumerate(options) if word == name]
    return options[places[-1] + 1] if places else None
