"""Programs of others on a simulated machine: started as ours is, and read where they are known."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

from evaluated.section import Bed, done
from isochrone.base.errors import InputError
from isochrone.measure.launchers.simgrid import EXACT, QUIET
from isochrone.runfile.any_file import read
from isochrone.runfile.run import Run


def on(bed: Bed, platform: Path, ranks: int) -> Iterator[tuple[str, Run | None, float]]:
    """Yield each peer: its name, what it measured if its output is read, and seconds it took."""
    for name, program in bed.peers.items():
        words = ["-np", ranks, "-platform", platform, "-hostfile", platform.with_suffix(".hosts")]
        begin = time.perf_counter()
        said = done(["smpirun", *words, *QUIET, *EXACT, program])
        seconds = time.perf_counter() - begin
        file = bed.folder / f"{name}.txt"
        file.write_text(said)
        try:
            yield name, read(file), seconds
        except InputError:
            yield name, None, seconds
