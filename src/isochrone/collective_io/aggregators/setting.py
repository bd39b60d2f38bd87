"""Settings of a collective call that can be changed without touching the program."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from isochrone.collective_io.workload.call import Call
from isochrone.collective_io.workload.cb_config_list import DEFAULT

BUFFER: Final = 16 * 1024**2
"""``cb_buffer_size`` of ROMIO, if nobody says otherwise."""


@dataclass(frozen=True)
class Stripes:
    """How a file lies on Lustre.

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
        ``cb_nodes``: at most so many aggregators; None: all that the list yields.
    buffer
        ``cb_buffer_size`` in bytes; None: as it is.
    collective
        Whether data are exchanged at all (``romio_cb_write``, ``romio_cb_read``); None: as it is.
    stripes
        How the file lies on Lustre; None: as it is.
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
