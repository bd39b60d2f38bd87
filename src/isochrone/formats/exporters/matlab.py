"""A MATLAB .mat file (format 5) with the N x N matrices ``avg`` and ``stddev`` in µs.

As mmpi2mat.py makes them: round trips, symmetric, 0.0 on the diagonal. Where a pair was
not measured there is NaN, which MATLAB's ``surf`` leaves blank. In addition, ``hosts`` is a cell
array with the host name of each rank, and ``bytes`` the message size. No ``median`` is written:
loading the file would hide MATLAB's function of that name.
"""

from pathlib import Path

import numpy as np
from scipy.io import savemat

from isochrone.base.csv_escape import escaped
from isochrone.base.files import whole_file
from isochrone.formats.exported_matrices import matrix_us, size_to_export
from isochrone.formats.exporter import Exporter
from isochrone.runfile.run import Run


def write(run: Run, path: Path, *, nbytes: int | None = None) -> None:
    """Write the means and standard deviations of a latency map for MATLAB.

    Raises
    ------
    InputError
        If the run holds no pairs of this size, or the file cannot be written.
    """
    nbytes = size_to_export(run, nbytes)
    hosts = np.empty((run.size, 1), dtype=object)
    hosts[:, 0] = list(map(escaped, run.hosts))
    content = {
        "avg": matrix_us(run, "mean", nbytes),
        "stddev": matrix_us(run, "stddev", nbytes),
        "hosts": hosts,
        "bytes": float(nbytes),
    }
    with whole_file(path) as stream:
        savemat(stream, content, format="5", do_compression=True)


EXPORTER = Exporter(suffix=".mat", holds=("latency-map",), write=write, one_size=True)
