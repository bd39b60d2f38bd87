"""The names of columns are found, whatever stands between them and before them."""

from __future__ import annotations

import pytest

from isochrone.base.errors import InputError
from isochrone.base.table_text import BLANK, decoded, table_of

ROWS = [["4", "2.63"], ["8", "2.58"]]


@pytest.mark.parametrize(
    ("text", "mark", "lines"),
    [
        ("Size,Avg Latency(us)\n4,2.63\n8,2.58\n", ",", [2, 3]),
        ("Size;Avg Latency(us)\r\n4;2.63\r\n\r\n8;2.58\r\n", ";", [2, 4]),
        ("Size\tAvg Latency(us)\n4\t2.63\n8\t2.58", "\t", [2, 3]),
        ("Size\t\tAvg Latency(us)\n4\t\t2.63\n8\t\t2.58", BLANK, [2, 3]),
        ("# Size       Avg Latency(us)\n4            2.63\n8   2.58\n", BLANK, [2, 3]),
        ("# run 5\n\n# Size  Avg Latency(us)\n\n4 2.63\n# note\n8 2.58\n", BLANK, [5, 7]),
        ("# Size, Avg Latency(us)\n4,2.63\n8,2.58\n", ",", [2, 3]),
        ("# made in May\nSize,Avg Latency(us)\n4,2.63\n8,2.58\n", ",", [3, 4]),
    ],
)
def test_names_and_rows_are_found(text: str, mark: str, lines: list[int]) -> None:
    table = table_of(text, "t")
    assert (table.names, table.mark) == (["Size", "Avg Latency(us)"], mark)
    assert [*table.rows] == [*zip(lines, ROWS, strict=True)]


def test_single_blanks_separate_names_if_there_are_as_many_values() -> None:
    assert table_of("np size t\n2 8 1\n", "t").names == ["np", "size", "t"]
    assert table_of("np size t\n", "t").names == ["np", "size", "t"]


@pytest.mark.parametrize("text", ["", "\n\n", "# only a remark"])
def test_a_table_without_rows_has_none(text: str) -> None:
    assert not [*table_of(text, "t").rows]


@pytest.mark.parametrize(
    ("data", "text"), [(b"\xef\xbb\xbfp,b", "p,b"), ("t/µs".encode("latin-1"), "t/µs")]
)
def test_text_is_utf_8_or_latin_1(data: bytes, text: str) -> None:
    assert decoded(data, "t") == text


@pytest.mark.parametrize("data", ["p".encode("utf-16"), "p".encode("utf-16-le"), b"a\0b"])
def test_what_is_no_such_text_is_refused(data: bytes) -> None:
    with pytest.raises(InputError):
        decoded(data, "t")
