"""Measuring on a simulated machine, through the command line as a user does it."""

from __future__ import annotations

import itertools
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from beds.mpis import PATIENCE, SCRIPTS
from isochrone.measure.platforms import Platform
from isochrone.runfile.file import read
from isochrone.runfile.run import Run


@dataclass
class Simulation:
    """A folder in which machines are simulated."""

    folder: Path
    count: int = field(default=0, init=False)

    def map(self, machine: Platform, *options: str, launcher: tuple[str, ...] = ()) -> Run:
        """Measure a latency map of a machine."""
        return self.measure("latency-map", machine, *options, launcher=launcher)

    def measure(
        self, experiment: str, machine: Platform, *options: str, launcher: tuple[str, ...] = ()
    ) -> Run:
        """Measure on all cores of a machine."""
        return self.measure_file(
            experiment, machine.xml(), machine.hosts(), *options, launcher=launcher
        )

    def measure_file(
        self,
        experiment: str,
        xml: str,
        hosts: str,
        *options: str,
        launcher: tuple[str, ...] = (),
        code: int = 0,
    ) -> Run:
        """Measure on a platform of SimGrid; ``hosts`` has the host of each rank, one per line.

        ``code`` is the exit code that is expected.
        """
        self.count += 1
        platform = self.folder / f"{self.count}.xml"
        out = self.folder / f"{self.count}.jsonl"
        platform.write_text(xml)
        platform.with_suffix(".hosts").write_text(hosts)
        ranks = len(hosts.split())
        argv = [
            SCRIPTS / "isochrone",
            "measure",
            experiment,
            "-n",
            str(ranks),
            "--quiet",
            "--launcher",
            "simgrid",
            "--platform",
            platform,
            "-o",
            out,
            *launcher,
            *options,
        ]
        answer = subprocess.run(argv, capture_output=True, text=True, timeout=PATIENCE, check=False)
        assert answer.returncode == code, answer.stderr
        return read(out)


def duplex_star(nodes: int, bandwidth: float, latency: float) -> str:
    """A platform whose links have a lane in each direction."""
    lines = [
        "<?xml version='1.0'?>",
        '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">',
        '<platform version="4.1"><zone id="world" routing="Full">',
    ]
    lines += [f'<host id="node-{n}" speed="1Gf"/>' for n in range(nodes)]
    lines += [
        f'<link id="link-{n}" bandwidth="{bandwidth}Bps" latency="{latency}s"'
        ' sharing_policy="SPLITDUPLEX"/>'
        for n in range(nodes)
    ]
    lines += [
        f'<route src="node-{a}" dst="node-{b}" symmetrical="NO">'
        f'<link_ctn id="link-{a}" direction="UP"/>'
        f'<link_ctn id="link-{b}" direction="DOWN"/></route>'
        for a, b in itertools.permutations(range(nodes), 2)
    ]
    return "\n".join([*lines, "</zone></platform>\n"])


def available() -> bool:
    """Whether SimGrid is installed."""
    return shutil.which("smpicc") is not None and shutil.which("smpirun") is not None
