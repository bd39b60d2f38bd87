"""Simulated machines need SimGrid."""

from __future__ import annotations

import pytest

from beds.mpis import missing
from beds.simulation import Simulation, available


@pytest.fixture(scope="session")
def simulation(tmp_path_factory: pytest.TempPathFactory) -> Simulation:
    """Machines that are simulated."""
    if not available():
        missing("simgrid", "SimGrid is not installed (Debian: libsimgrid-dev)")
    return Simulation(tmp_path_factory.mktemp("simulated"))
