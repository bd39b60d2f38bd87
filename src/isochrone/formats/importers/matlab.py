"""A MATLAB .mat file (up to version 7) with the N x N matrices ``avg`` and ``stddev`` in µs.

``hosts`` (a cell array of names) and ``bytes`` are read where they are there, so the files of
mmpi2mat.py can be read as well as those of ``export --to matlab``. NaN means not measured.
"""

import io
import re
import warnings
from pathlib import Path

import numpy as np

from isochrone.base.units import format_bytes
from isochrone.formats import mat_sizes
from isochrone.formats.imported_matrices import run_of_matrices
from isochrone.formats.source import Source
from isochrone.runfile.importer import Importer
from isochrone.runfile.run import MAX_MATRIX_RANKS, Run

_MATRICES = ("avg", "stddev")
_VARIABLES = (*_MATRICES, "hosts", "bytes")


def read(path: Path) -> Run:
    """Read the matrices of a .mat file as a latency map.

    Raises
    ------
    InputError
        If it cannot be read, or holds no such matrices.
    """
    source = Source.open(path, "matlab")
    content = _load(source)
    hosts = _names(content["hosts"]) if "hosts" in content else None
    return run_of_matrices(source, content, hosts, content.get("bytes"))


def _load(source: Source) -> dict[str, object]:
    """Load the variables we know; what a damaged file makes scipy raise can be nearly anything."""
    from scipy.io import loadmat  # only this format needs it

    try:
        others = mat_sizes.check(source.data, _VARIABLES, source.most())
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of variables it cannot read, which we do not want
            content: dict[str, object] = loadmat(
                io.BytesIO(source.data), variable_names=[v for v in _VARIABLES if v not in others]
            )
    except mat_sizes.ClaimError as error:
        problem = "damaged: a variable is not as large as it claims to be, or larger than "
        raise source.fail(
            f"{problem}{format_bytes(source.most())}", hint="import a CSV instead"
        ) from error
    except NotImplementedError as error:
        hint = "in MATLAB, save it with '-v7'"
        raise source.fail("the file is of MATLAB's format 7.3", hint=hint) from error
    except Exception as error:
        raise source.fail("the file is not a MATLAB file, or damaged") from error
    for name in others & set(_MATRICES):
        raise source.fail(f"'{name}' is not a full matrix of numbers")
    return content


def _names(value: object) -> list[str]:
    """Read a cell array of strings, or a char matrix, whose rows are padded with blanks."""
    items = np.asarray(value).ravel()[: MAX_MATRIX_RANKS + 1].tolist()  # more are too many
    names = []
    for item in items:
        text = np.asarray(item).ravel()  # a cell holds an array of one string, or of none
        names.append(str(text[0]).rstrip() if text.size else "")
    return names


IMPORTER = Importer(
    holds="latency-map",
    read=read,
    says="a MATLAB file",
    signature=re.compile(rb"\AMATLAB [0-9.]+ MAT-file"),
)
