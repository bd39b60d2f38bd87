"""Workloads: who sends what to whom.

An access pattern (`pattern`, `patterns`) says which ranks touch which bytes of a file;
`file_domains` cuts the file into the parts that aggregators serve; `cb_config_list` says which
ranks those are; `traffic` puts them together into messages by rank, and `node_messages` into
messages by node. `call` is all of that for one collective call, `allocation` the nodes of a job.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["Ints"]

Ints = NDArray[np.int64]
