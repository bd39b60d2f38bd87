"""Workloads: access patterns, file domains, aggregators and messages.

An access pattern (`pattern`, `patterns`) defines which ranks access which bytes of a file;
`file_domains` cuts the file into the parts that aggregators serve; `cb_config_list` selects those
ranks; `traffic` computes the messages by rank, and `node_messages` by node. `call` is all of that
for one collective call, `allocation` the nodes of a job.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]

Floats = NDArray[np.float64]


def in_portions(ask: Callable[..., Floats], most: int, *columns: NDArray[Any]) -> Floats:
    """Evaluate many rows in portions of at most ``most`` (or one), which fit into caches."""
    step = max(1, most)
    starts = range(0, max(1, len(columns[0])), step)
    return np.concatenate([ask(*(column[k : k + step] for column in columns)) for k in starts])
