"""Workloads: who sends what to whom.

An access pattern (`pattern`, `patterns`) says which ranks touch which bytes of a file;
`file_domains` cuts the file into the parts that aggregators serve; `cb_config_list` says which
ranks those are; `traffic` puts them together into messages by rank, and `node_messages` into
messages by node. `call` is all of that for one collective call, `allocation` the nodes of a job.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Ints", "in_portions"]

Ints = NDArray[np.int64]

Floats = NDArray[np.float64]


def in_portions(ask: Callable[..., Floats], most: int, *columns: NDArray[Any]) -> Floats:
    """Ask for the values of many rows, at most so many (or one) at once: they fit into caches."""
    step = max(1, most)
    starts = range(0, max(1, len(columns[0])), step)
    return np.concatenate([ask(*(column[k : k + step] for column in columns)) for k in starts])
