"""A NumPy .npz file with one N x N matrix per statistic, in µs.

``avg`` and ``stddev`` are named and scaled as in the MATLAB file, so that a script can take
either: round trips in µs, symmetric, 0.0 on the diagonal, NaN where a pair was not measured.
``median``, ``min``, ``p95``, ``max``, ``low``, ``high`` (ends of the 95 % interval of the median)
follow the same rules where the run knows them, ``n`` counts the repetitions. ``hosts`` holds the
host name of each rank, ``bytes`` the message size. Of a sample, ``estimated`` holds what each pair
takes by the analysis, and ``estimated_half`` half of the 95 % interval of that. Nothing in the file
is pickled.
"""

from pathlib import Path

import numpy as np

from isochrone.base.csv_escape import escaped
from isochrone.base.files import whole_file
from isochrone.base.record import Members
from isochrone.formats.exported_matrices import matrix_us, size_to_export
from isochrone.formats.exporter import Exporter
from isochrone.latency_map.topology import analyse, is_sampled
from isochrone.runfile.run import Run

_ESTIMATED = ("estimated", "estimated_half")
_MORE = ("median", "min", "p95", "max", "low", "high")


def write(run: Run, path: Path, *, nbytes: int | None = None) -> None:
    """Write all statistics of a latency map as NumPy arrays.

    Raises
    ------
    InputError
        If the run holds no pairs of this size, or the file cannot be written.
    """
    nbytes = size_to_export(run, nbytes)
    content: Members = {
        "avg": matrix_us(run, "mean", nbytes),
        "stddev": matrix_us(run, "stddev", nbytes),
        "hosts": np.array(list(map(escaped, run.hosts)), dtype=np.str_),
        "bytes": np.array(nbytes),
    }
    table = run.pairs()
    for statistic in _MORE:
        # a mean that replaces an unknown median is not written as a median
        if statistic in table and not (statistic == "median" and run.median_is_mean):
            content[statistic] = matrix_us(run, statistic, nbytes)
    if "n" in table:
        content["n"] = run.matrix("n", nbytes)
        np.fill_diagonal(content["n"], 0.0)
    if is_sampled(run):
        i, j = np.triu_indices(run.size, 1)
        for name, values in zip(_ESTIMATED, analyse(run, nbytes).estimator.of(i, j), strict=True):
            content[name] = np.zeros((run.size, run.size))
            content[name][i, j] = content[name][j, i] = values * 1e6
    with whole_file(path) as stream:
        np.savez_compressed(stream, **content)


EXPORTER = Exporter(suffix=".npz", holds=("latency-map",), write=write, one_size=True)
