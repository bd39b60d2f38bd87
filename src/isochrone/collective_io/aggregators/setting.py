"""Settings of a collective call that can be changed without touching the program."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from isochrone.collective_io.workload.call import Call
from isochrone.collective_io.workload.cb_config_list import DEFAULT

BUFFER: Final = 16 * 1024**2
"""Default of ROMIO's ``cb_buffer_size``."""


@dataclass(frozen=True)
class Stripes:
    """Layout of a file on Lustre.

    Attributes
    ----------
    count
        OSTs (``striping_factor``).
    size
        Bytes of a stripe (``striping_unit``).
    ratio
        Aggregators for each OST (``romio_lustre_co_ratio``).
    """

    count: int
    size: int
    ratio: int = 1


@dataclass(frozen=True)
class Setting:
    """Hints of a file.

    Attributes
    ----------
    config
        ``cb_config_list``: which hosts have aggregators, how many, and in which order.
    nodes
        ``cb_nodes``: maximum number of aggregators; None: all of the list.
    buffer
        ``cb_buffer_size`` in bytes; None: unchanged.
    collective
        Whether data are exchanged at all (``romio_cb_write``, ``romio_cb_read``); None: unchanged.
    stripes
        Layout on Lustre; None: unchanged.
    """

    config: str = DEFAULT
    nodes: int | None = None
    buffer: int | None = None
    collective: bool | None = None
    stripes: Stripes | None = None

    def of(self, call: Call) -> Call:
        """Return a call with this setting's buffer and stripes."""
        found = call if self.buffer is None else replace(call, buffer=self.buffer)
        if self.stripes is None:
            return found
        s = self.stripes
        return replace(found, stripe=s.size, targets=s.count, ratio=s.ratio)


GIVEN: Final = Setting()
"""What ROMIO does without hints."""
