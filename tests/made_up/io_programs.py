"""Programs that are never started: their recordings and times are drawn from a known truth."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from isochrone.collective_io.program.trials import ROMIO_HINTS, hints_of_user
from isochrone.measure.program import Program
from made_up.jobs import UNEVEN

HINTS = {
    "cb_config_list": "*:1",
    "cb_nodes": "8",
    "cb_buffer_size": "16777216",
    "romio_cb_write": "automatic",
    "romio_cb_read": "automatic",
}

HOSTS = [f"n{k + 1}" for k, ranks in enumerate(UNEVEN) for _ in range(ranks)]

TILE = 256 * 1024
"""Bytes of a tile: 512 rows of 512."""


def recording(
    path: Path,
    seconds: float,
    *,
    hosts: Sequence[str] = HOSTS,
    hints: Mapping[str, str] = HINTS,
    given: Mapping[str, str] | None = None,
    collective: bool = True,
    filesystem: str = "",
    alone: int = 4096,
) -> None:
    """Write what a program would leave that wrote tiles, as many across as down, in two calls.

    Or, unless ``collective``, that wrote ``alone`` bytes by single ranks.
    """
    across = int(len(hosts) ** 0.5)
    header: dict[str, Any] = {
        "record": "run",
        "format": 1,
        "experiment": "io-recording",
        "kind": "io-recording",
        "started": "2026-01-01T00:00:00Z",
        "options": {},
        "ranks": len(hosts),
        "probe": "0",
        "mpi": {"library": "MPICH Version: 5.0.2", "standard": "5.0"},
        "clock": {"source": "MPI_Wtime", "granularity": 1e-9, "cost": 1e-8, "simulated": False},
        "notes": {"command": "./app out"},
    }
    node = {host: k for k, host in enumerate(dict.fromkeys(hosts))}
    records: list[dict[str, Any]] = [header]
    records += [
        {"record": "rank", "rank": k, "host": host, "node": node[host]}
        for k, host in enumerate(hosts)
    ]
    records.append(
        {"record": "file", "file": 0, "name": "out", "opens": 1, "filesystem": filesystem}
    )
    for key, value in {**dict.fromkeys(given or {}, ""), **hints}.items():
        one = {"record": "hint", "file": 0, "key": key, "value": value}
        records.append(one | ({"given": given[key]} if given and key in given else {}))
    records += [
        {
            "record": "time",
            "rank": rank,
            "file": 0,
            "op": "write",
            "calls": 2,
            "pieces": 2,
            "call": "collective" if collective else "independent",
            "seconds": seconds,
            "bytes": 2 * TILE if collective else alone,
            "span": 2 * TILE,
            "empty": 0,
            "waiting": 0.0,
            "access": 0.1 * seconds,
            "last": 0,
            "late": 0.0,
        }
        for rank in range(len(hosts))
    ]
    if collective:
        records += _pieces(len(hosts), across) + _calls(len(hosts), seconds)
    else:
        records.append(
            {
                "record": "independent",
                "file": 0,
                "op": "write",
                "calls": 4,
                "bytes": alone,
                "ranks": 4,
                "seconds": seconds,
            }
        )
    records.append({"record": "end", "seconds": seconds, "complete": True})
    path.write_text("".join(json.dumps(one) + "\n" for one in records))


def _pieces(ranks: int, across: int) -> list[dict[str, Any]]:
    side = int(TILE**0.5)
    return [
        {
            "record": "piece",
            "pattern": 0,
            "rank": k,
            "length": side,
            "count": side,
            "stride": across * side,
            "offset": k // across * TILE * across + k % across * side,
        }
        for k in range(ranks)
    ]


def _calls(ranks: int, seconds: float) -> list[dict[str, Any]]:
    half = seconds / 2
    return [
        {
            "record": "pattern",
            "pattern": 0,
            "file": 0,
            "op": "write",
            "bytes": ranks * TILE,
            "pieces": ranks * int(TILE**0.5),
            "calls": 2,
        },
        *(
            {
                "record": "call",
                "call": k,
                "pattern": 0,
                "shift": 0,
                "rounds": 1,
                "name": "MPI_File_write_at_all",
                "seconds": half,
                "offsets": 0.05 * half,
                "counts": 0.05 * half,
                "exchange": 0.7 * half,
                "file": 0.1 * half,
            }
            for k in range(2)
        ),
    ]


class FakeProgram(Program):
    """A program whose collective calls take 6 s of 10 s, divided by a true gain."""

    def __init__(
        self,
        gain: Callable[[Mapping[str, str]], float],
        *,
        noise: float = 0.05,
        seed: int = 1,
        obeys: bool = True,
        given: Mapping[str, str] | None = None,
        calls: float = 6.0,
        collective: bool = True,
        filesystem: str = "",
        transfers: Callable[[Mapping[str, str]], bool] = lambda hints: True,
    ) -> None:
        super().__init__(["mpiexec", "-n", "16", "./app", "out"], {}, Path("mpicc"))
        self.__dict__.update(
            gain=gain,
            noise=noise,
            dice=np.random.default_rng(seed),
            obeys=obeys,
            given=given,
            calls=calls,
            collective=collective,
            started=[],
            filesystem=filesystem,
            transfers=transfers,
        )

    def run(
        self, recording_file: Path, variables: Mapping[str, str], log: Path, limit: float
    ) -> float:
        """Leave a recording; return the seconds it is said to have taken."""
        hints = hints_of(variables)
        made: Any = self.__dict__
        made["started"].append(hints)
        noise = np.exp(made["noise"] * made["dice"].standard_normal(2))
        calls = made["calls"] / made["gain"](hints) * float(noise[0])
        in_force = {**HINTS, **hints} if made["obeys"] else HINTS
        recording(
            recording_file,
            calls,
            hints=in_force,
            given=made["given"],
            collective=made["collective"] and made["transfers"](hints),
            filesystem=made["filesystem"],
            alone=4096 * made["transfers"](hints),
        )
        return calls + (10.0 - made["calls"]) * float(noise[1])


def hints_of(variables: Mapping[str, str]) -> dict[str, str]:
    """Return the hints of the file that the variables name."""
    if ROMIO_HINTS not in variables:
        return {}
    return hints_of_user(variables)
