"""Applications of a few ranks, and models of a machine whose messages anyone can add up."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.stats import norm

from isochrone.applications.description.program import Application, Phase, Program, Step
from isochrone.models import Model, Segment

LATENCY = 2e-6
PER_BYTE = 1e-9

Steps = Sequence[Sequence[Step]]


def message(size: float) -> float:
    """Seconds of a message on this machine."""
    return LATENCY + PER_BYTE * size


def messages(
    *,
    mode: str = "blocking",
    window: int = 1,
    nodes: int | None = 2,
    latency: float = LATENCY,
    per_byte: float = PER_BYTE,
    origin: str = "measured",
) -> Model:
    """Return a model of messages: ``latency + per_byte * b`` each."""
    segment = Segment(
        "hockney",
        ["1", "b"],
        [latency, per_byte],
        where={"mode": mode},
        fitted={"b": (0.0, 2.0**22), "w": (float(window), float(window))},
    )
    constant = {} if nodes is None else {"nodes": float(nodes)}
    return Model([segment], experiment="point-to-point", constant=constant, origin=origin)


def collectives(**seconds: Sequence[float]) -> Model:
    """Return a model of operations: ``a + c * p`` seconds each, for all bytes up to 4 MiB."""
    segments = [
        Segment(
            "made-up",
            ["1", "p"],
            list(values),
            where={"op": op},
            fitted={"p": (2.0, 64.0), "b": (0.0, 2.0**22)},
        )
        for op, values in seconds.items()
    ]
    return Model(segments, experiment="collective", origin="measured")


def program(
    steps: Steps, *values: Sequence[float], iterations: int = 100, phases: int = 1, seed: int = 7
) -> Program:
    """Return one application; steps refer to ``values`` by index."""
    names = tuple(Phase(f"phase-{k}") for k in range(phases))
    app = Application("app", names, tuple(map(tuple, steps)), iterations)
    return Program(seed, tuple(map(tuple, values)), (app,))


def lognormal(median: float, sigma: float, count: int = 4096) -> list[float]:
    """Return the means of equally likely parts of a lognormal distribution."""
    ends = norm.ppf(np.linspace(0, 1, count + 1))
    mean = median * np.exp(sigma**2 / 2)
    return [float(x) for x in mean * np.diff(norm.cdf(ends - sigma)) * count]
