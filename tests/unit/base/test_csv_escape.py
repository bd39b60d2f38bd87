"""Names as cells of tables, and back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isochrone.base.csv_escape import cell_of, text_of


@given(st.text())
def test_a_name_comes_back(name: str) -> None:
    assert text_of(cell_of(name)) == name


@pytest.mark.parametrize("cell", [r"\ud800", r"\udfff", r"\U0000d800", r"a\udc80b"])
def test_half_a_surrogate_pair_is_no_character(cell: str) -> None:
    """No file could be written with it; a cell that has such words keeps them."""
    assert text_of(cell) == cell


@given(st.text("\\\\xuU0123456789abcdef", max_size=12))
def test_what_comes_out_of_a_cell_can_be_written(cell: str) -> None:
    text_of(cell).encode()
