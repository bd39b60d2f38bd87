"""Square matrices found in a text: which shapes are one, and which tables of numbers are none."""

from __future__ import annotations

import numpy as np
import pytest

from isochrone.base.matrix_text import matrices_in

NAN = np.nan
SQUARE = [[0, 1, 2], [3, 0, 4], [5, 6, 0]]
LOWER = [[NAN, NAN, NAN], [3, NAN, NAN], [5, 6, NAN]]
ZERO_LOWER = [[0, NAN, NAN], [3, 0, NAN], [5, 6, 0]]
UPPER = [[0, 1, 2], [NAN, 0, 4], [NAN, NAN, 0]]

SHAPES = {
    "blanks": ("0 1 2\n3 0 4\n5 6 0\n", SQUARE),
    "symmetric": ("0 1 2\n1 0 3\n2 3 0\n", [[0, 1, 2], [1, 0, 3], [2, 3, 0]]),
    "tabs": ("0\t1\t2\n3\t0\t4\n5\t6\t0\t\n", SQUARE),
    "commas": ("0,1,2\n3,0,4\n5,6,0\n", SQUARE),
    "semicolons": ("0;1;2\n3;0;4\n5;6;0", SQUARE),
    "empty cells above": (",,\n3,,\n5,6,\n", LOWER),
    "a triangle without its diagonal": ("3\n5 6\n", LOWER),
    "a triangle": ("0\n3 0\n5 6 0\n", ZERO_LOWER),
    "a triangle above": ("0 1 2\n0 4\n0\n", UPPER),
    "names": (",a,b,c\na,0,1,2\nb,3,0,4\nc,5,6,0\n", SQUARE),
    "names without a corner": ("  0 1 2\n0 0 1 2\n1 3 0 4\n2 5 6 0\n", SQUARE),
    "names, a triangle": ("\ta\tb\tc\na\nb\t3\nc\t5\t6\n", LOWER),
    "names of columns": ("a b c\n0 1 2\n3 0 4\n5 6 0\n", SQUARE),
    "names of rows": ("a 0 1 2\nb 3 0 4\nc 5 6 0\n", SQUARE),
    "numbers of rows": ("0 0 1 2\n1 3 0 4\n2 5 6 0\n", SQUARE),
    "numbers of columns with a name": ("core 0 8 40\n0 0 1 2\n8 3 0 4\n40 5 6 0\n", SQUARE),
    "a line for the name of rows": ("to 0 8 40\nfrom\n0 0 1 2\n8 3 0 4\n40 5 6 0\n", SQUARE),
    "not measured": ("N/A 1 2\n3 - 4\n5 6 x\n", [[NAN, 1, 2], [3, NAN, 4], [5, 6, NAN]]),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_matrix_is_read_in_every_shape(shape: str) -> None:
    """Whatever separates the cells, and whatever is left out, the numbers are at their places."""
    text, values = SHAPES[shape]
    (matrix,) = matrices_in("Latency (us)\n\n" + text)
    np.testing.assert_array_equal(matrix.values, values)
    (matrix,) = matrices_in(text)
    np.testing.assert_array_equal(matrix.values, values)
    assert matrix.names in ((), ("a", "b", "c"), ("0", "1", "2"), ("0", "8", "40"))


TABLES = {
    "pairs": "i,j,bytes,median\n0,1,64,1e-6\n0,2,64,2e-6\n1,2,64,2e-6\n1,3,64,2e-6\n",
    "columns": "p b seconds\n2 8 1e-6\n4 8 2e-6\n8 8 3e-6\n",
    "named rows": "host,min,avg,max\nn1,1,2,3\nn2,1,2,3\nn3,1,2,3\n",
    "two numbers": "8 1.25\n16 1.5\n",
    "many rows": "1 2 3\n4 5 6\n7 8 9\n1 2 3\n",
    "same names": "bcast 1 2 3\nbcast 1 2 3\nbcast 1 2 3\n",
    "text": "no numbers\nat all\n",
    "nothing": "",
}


@pytest.mark.parametrize("table", TABLES)
def test_a_table_is_no_matrix(table: str) -> None:
    """A table of results with as many rows as columns is not taken for times of pairs."""
    assert list(matrices_in(TABLES[table])) == []


def test_every_matrix_of_a_log_has_its_title_and_line() -> None:
    """The title is the last text above, with the word in the corner."""
    text = (
        "Device: 0\nBandwidth Matrix (GB/s)\n  D\\D  0  1\n   0  9 1\n   1  2 9\n"
        "Latency Matrix (us)\n  GPU  0  1\n   0  9 3\n   1  4 9\n\n"
        "  CPU  0  1\n   0  9 5\n   1  6 9\n"
    )
    found = list(matrices_in(text))
    assert [(one.title, one.line, one.values[0, 1]) for one in found] == [
        ("Bandwidth Matrix (GB/s)", 4, 1),
        ("Latency Matrix (us) GPU", 8, 3),
        ("Latency Matrix (us) CPU", 12, 5),
    ]


def test_the_beginning_of_a_large_matrix_is_enough_to_see_one() -> None:
    """A file is recognised by its beginning, which may end within the matrix."""
    lines = [" ".join(["1.5"] * 200)] * 5
    assert list(matrices_in("\n".join(lines))) == []
    assert len(list(matrices_in("\n".join(lines), whole=False))) == 1
