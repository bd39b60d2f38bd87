"""Programs of others on a simulated machine: how each is started, and where its times are."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from evaluated.section import TIMEOUT, Bed
from isochrone.measure.launchers.simgrid import EXACT, QUIET

Array = NDArray[np.float64]
Curve = dict[int, float]
"""Seconds by size."""

TITLES = {
    "osu": "OSU",
    "imb": "IMB",
    "linktest": "LinkTest",
    "mpigraph": "mpiGraph",
    "hp2p": "hp2p",
    "nt2": "network_tests2",
    "reprompi": "ReproMPI",
    "extrap": "Extra-P",
}
"""Programs whose output is read. A path is the program; of OSU a folder with all its programs, of
Extra-P a Python that has it."""

CLOCK = ("--cfg=smpi/display-timing:yes", "--log=smpi_utils.thres:info", "--cfg=smpi/test:1e-8")
"""Tell the simulated time at the end; MPI_Test takes 10 ns."""

POLLING = "--cfg=smpi/wtime:1e-8"
"""MPI_Wtime takes 10 ns: a program that waits for a time of day would wait for ever."""


class PeerError(Exception):
    """A program of others failed, or printed something else than expected."""


@dataclass
class Map:
    """What a program says about all pairs, for one size.

    Attributes
    ----------
    one_way
        Seconds of a message from row to column; not a number where it was not measured.
    seconds
        Simulated time of the whole program.
    listed
        Pairs of ranks that it lists as the slowest ones; None if it lists none.
    """

    one_way: Array
    seconds: float
    listed: list[tuple[int, int]] | None = field(default=None)


def simulated(
    bed: Bed, platform: Path, ranks: int, words: Sequence[object], settings: Sequence[str] = ()
) -> tuple[str, float]:
    """Run a program in an empty folder; return what it printed, and its simulated time in seconds.

    Raises
    ------
    PeerError
        If it fails, or does not end.
    """
    folder = bed.folder / "peer"
    folder.mkdir(exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    hosts = platform.with_suffix(".hosts")
    argv = [
        "smpirun",
        "-np",
        ranks,
        "-platform",
        platform,
        "-hostfile",
        hosts,
        *QUIET,
        *EXACT,
        *CLOCK,
        *settings,
        *words,
    ]
    try:
        answer = subprocess.run(
            list(map(str, argv)),
            capture_output=True,
            text=True,
            cwd=folder,
            errors="replace",
            timeout=TIMEOUT,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise PeerError("it does not end") from error
    clock = re.search(r"Simulated time: (\S+) seconds", answer.stderr)
    if answer.returncode or clock is None or "Deadlock" in answer.stderr:
        raise PeerError("it fails under SimGrid")
    return answer.stdout, float(clock[1])


def _linktest(bed: Bed, platform: Path, ranks: int, size: int) -> Map:
    said, seconds = simulated(
        bed, platform, ranks, [bed.peers["linktest"], "-i", 3, "-I", 1, "-s", size]
    )
    rows = [
        _linktest_row(bed.folder / f"peer/pingpong_results_bin.sion.{k}", ranks, k)
        for k in range(ranks)
    ]
    pairs = re.findall(r"PINGPONG +(\d+) +<-> +(\d+):", said)
    return Map(np.array(rows), seconds, [(int(a), int(b)) for a, b in pairs])


def _linktest_row(path: Path, ranks: int, rank: int) -> Array:
    """Return the times of a rank: in its record they precede the pattern and, at rank 0, retests."""
    if not path.exists():
        raise PeerError("it was not built with bench/peers/build.sh")
    record = path.read_bytes()
    end = len(record) - 4 * ranks - (24 * ranks if rank == 0 else 0)
    times = np.frombuffer(record[end - 8 * ranks : end], "<f8").copy()
    times[rank] = np.nan
    return times


def _hp2p(bed: Bed, platform: Path, ranks: int, size: int) -> Map:
    words = [
        bed.peers["hp2p"],
        "-c",
        1,
        "-n",
        ranks,
        "-m",
        10,
        "-s",
        size,
        "-f",
        "bin",
        "-o",
        "map",
    ]
    _, seconds = simulated(bed, platform, ranks, words)
    content = (bed.folder / "peer/map.bin").read_bytes()
    end = len(content) - 4 * ranks * ranks  # counts
    times = (
        np.frombuffer(content[end - 8 * ranks * ranks : end], "<f8").reshape(ranks, ranks).copy()
    )
    times[times == 0] = np.nan
    return Map(times, seconds)


def _mpigraph(bed: Bed, platform: Path, ranks: int, size: int) -> Map:
    said, seconds = simulated(bed, platform, ranks, [bed.peers["mpigraph"], size, 10, 1])
    rows = re.findall(r"^\S+ from\t(.*)$", said, re.MULTILINE)
    rates = np.array([[float(cell) for cell in row.split()] for row in rows])
    if rates.shape != (ranks, ranks):
        raise PeerError("its matrix is not complete")
    rates[rates == 0] = np.nan
    return Map((size / (rates * 2**20)).T, seconds)


def _nt2(bed: Bed, platform: Path, ranks: int, size: int) -> Map:
    from scipy.io import netcdf_file

    words = [
        "-t",
        "send_recv_and_recv_send",
        "-b",
        size,
        "-e",
        size + 1,
        "-s",
        2,
        "-n",
        10,
        "-f",
        "map",
    ]
    _, seconds = simulated(bed, platform, ranks, [bed.peers["nt2"], *words])
    with netcdf_file(bed.folder / "peer/map_average.nc", mmap=False) as file:
        times = np.array(file.variables["data"][0], dtype=float)
    np.fill_diagonal(times, np.nan)
    return Map(times, seconds)


MAPS: dict[str, Callable[[Bed, Path, int, int], Map]] = {
    "linktest": _linktest,
    "hp2p": _hp2p,
    "mpigraph": _mpigraph,
    "nt2": _nt2,
}
"""Programs that measure all pairs."""


def _osu_latency(bed: Bed, platform: Path) -> tuple[Curve, float]:
    words = [bed.peers["osu"] / "osu_latency", "-i", 20, "-x", 2]
    said, seconds = simulated(bed, platform, 2, words)
    return _columns(said, 1), seconds


def _imb_pingpong(bed: Bed, platform: Path) -> tuple[Curve, float]:
    words = [bed.peers["imb"], "PingPong", "-iter", 20, "-iter_policy", "off"]
    said, seconds = simulated(bed, platform, 2, words)
    return _columns(said, 2), seconds


MESSAGES: dict[str, Callable[[Bed, Path], tuple[Curve, float]]] = {
    "osu": _osu_latency,
    "imb": _imb_pingpong,
}
"""Programs that measure one pair: ranks 0 and 1, over sizes."""


def _columns(said: str, column: int) -> Curve:
    """Return times in µs of a table whose first column is the size, as seconds."""
    rows = [line.split() for line in said.splitlines() if re.match(r"\s*\d+\s+\d", line)]
    found = {int(row[0]): 1e-6 * float(row[column]) for row in rows if len(row) > column}
    if not found:
        raise PeerError("it printed no table")
    return found


def _osu_collective(
    bed: Bed, platform: Path, ranks: int, op: str, sizes: Sequence[int]
) -> dict[str, Curve]:
    words = [bed.peers["osu"] / f"osu_{op}", "-f", "-i", 20, "-x", 2, "-m", max(sizes)]
    said, _ = simulated(bed, platform, ranks, words)
    return {"OSU, average of the ranks": _columns(said, 1), "OSU, slowest rank": _columns(said, 3)}


def _imb_collective(
    bed: Bed, platform: Path, ranks: int, op: str, sizes: Sequence[int]
) -> dict[str, Curve]:
    lengths = bed.folder / "lengths"
    lengths.write_text("".join(f"{size}\n" for size in sizes))
    words = [
        bed.peers["imb"],
        op.capitalize(),
        "-npmin",
        ranks,
        "-iter",
        20,
        "-iter_policy",
        "off",
        "-msglen",
        lengths,
    ]
    said, _ = simulated(bed, platform, ranks, words)
    return {"IMB, average of the ranks": _columns(said, 4), "IMB, slowest rank": _columns(said, 3)}


def _reprompi(
    bed: Bed, platform: Path, ranks: int, op: str, sizes: Sequence[int]
) -> dict[str, Curve]:
    found = {}
    for name, more in (
        ("ReproMPI, barrier", ()),
        ("ReproMPI, round time", ["--proc-sync=roundtime"]),
    ):
        words = [
            bed.peers["reprompi"],
            f"--calls-list=MPI_{op.capitalize()}",
            "--nrep=5",
            f"--msizes-list={','.join(map(str, sizes))}",
            "--summary=median",
            *more,
        ]
        said, _ = simulated(bed, platform, ranks, words, [POLLING])
        rows = re.findall(r"MPI_\w+ +(\d+) +\d+ +(\d+) +(\S+)", said)
        found[name] = {int(size): float(median) for size, valid, median in rows if int(valid)}
    return found


Collective = Callable[[Bed, Path, int, str, Sequence[int]], dict[str, Curve]]
COLLECTIVES: dict[str, Collective] = {
    "osu": _osu_collective,
    "imb": _imb_collective,
    "reprompi": _reprompi,
}
"""Programs that measure collectives: times by what is printed."""
