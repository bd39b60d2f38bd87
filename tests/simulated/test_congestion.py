"""Victims and congestors on a simulated machine whose nodes share one link."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path

import pytest

from beds.command_line import Command
from isochrone.applications.emulation.congestion import WINDOW, description
from isochrone.applications.emulation.summary import emulation
from isochrone.runfile.file import read

HOSTS = [f"node-{k}" for k in range(4)]


def star() -> str:
    """Return a platform on which every message passes one link of 1 GB/s."""
    hosts = "".join(f'<host id="{host}" speed="1Gf"/>' for host in HOSTS)
    routes = "".join(
        f'<route src="{a}" dst="{b}"><link_ctn id="hub"/></route>'
        for a, b in combinations(HOSTS, 2)
    )
    return (
        "<?xml version='1.0'?>"
        '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd"><platform version="4.1">'
        f'<zone id="world" routing="Full">{hosts}<link id="hub" latency="1us" bandwidth="1GBps"/>'
        f"{routes}</zone></platform>"
    )


FLOWS = {"alltoall": 2, "bcast": 1, "two_sided_incast": 1, "put_incast": 1, "get_bcast": 1}
"""Messages that a congestor has in the link at any time. It is on ranks 0 and 2."""


@pytest.mark.usefixtures("simulation")
@pytest.mark.parametrize("congestor", FLOWS)
def test_the_impact_on_bandwidth_is_that_of_a_fairly_shared_link(
    isochrone: Command, tmp_path: Path, congestor: str
) -> None:
    """Of v + c equal messages in a link, v take (v + c) / v times as long as without the others."""
    document = description(HOSTS, "rr_two_sided_bw_sync", congestor)
    document["parameters"] = {"victim_bytes": 4 << 20, "congestor_bytes": 4 << 20}
    document["apps"][0]["iterations"] = 10
    spec, platform, out = (tmp_path / name for name in ("c.json", "p.xml", "c.jsonl"))
    spec.write_text(json.dumps(document))
    platform.write_text(star())
    platform.with_suffix(".hosts").write_text("\n".join(HOSTS))
    answer = isochrone("emulate", spec, "-n", 4, "--quiet", "--platform", platform, "-o", out)
    assert answer.returncode == 0, answer.stderr
    (slowdown,) = (one for one in emulation(read(out)).slowdowns if one.number == 0)
    victims = 2 * WINDOW
    assert slowdown.wall.median == pytest.approx((victims + FLOWS[congestor]) / victims, rel=0.01)
