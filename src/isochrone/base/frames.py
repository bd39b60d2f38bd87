"""Columns as a data frame of pandas, which few have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from isochrone.base.errors import InputError

if TYPE_CHECKING:
    from pandas import DataFrame


def data_frame(columns: Mapping[str, object]) -> DataFrame:
    """Return columns as a data frame.

    Raises
    ------
    InputError
        If pandas is not installed.
    """
    try:
        import pandas
    except ImportError as error:
        raise InputError(
            "data frames need the package pandas", hint="try: pip install pandas"
        ) from error
    return pandas.DataFrame(columns)
