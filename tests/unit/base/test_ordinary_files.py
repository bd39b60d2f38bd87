"""A pipe or a device that is given for a file is refused at once by every reader."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from isochrone.applications.description import plain_data
from isochrone.base.errors import InputError
from isochrone.collective_io.orders import compared_orders as orders_file
from isochrone.collective_io.patterns import table
from isochrone.collectives import tuning_table
from isochrone.measure import allocation

READERS: dict[str, Callable[[Path], object]] = {
    "orders": orders_file.read,
    "tuning table": tuning_table.read,
    "allocation": allocation.read_hostfile,
    "description": plain_data.load,
    "accesses": lambda path: table.read(path, 4),
}


@pytest.mark.parametrize("reader", READERS)
def test_a_pipe_is_refused_and_not_waited_for(reader: str, tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    with pytest.raises(InputError):
        READERS[reader](path)
