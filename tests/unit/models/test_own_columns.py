"""Tables of somebody's own: names, units, separators and decimal commas."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from isochrone.base.errors import InputError
from isochrone.models.data.columns import Columns, Decimal
from isochrone.models.data.tables import of_table, read_csv, with_points


def table(folder: Path, text: str) -> Path:
    path = folder / "times.csv"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    return path


@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_columns_are_what_they_are_said_to_be_in_seconds_and_bytes(
    mark: str, tmp_path: Path
) -> None:
    text = "size,usec,p,remark\n8,1.5,2,a\n1024,2.25,2,b\n".replace(",", mark)
    data = read_csv(table(tmp_path, text), Columns.parse("size=b,usec=seconds:us"))
    assert data.variables["b"].tolist() == [8, 1024]
    assert data.variables["p"].tolist() == [2, 2]
    assert data.seconds == pytest.approx([1.5e-6, 2.25e-6], rel=1e-14)
    assert data.others["remark"].tolist() == ["a", "b"]


@pytest.mark.parametrize(("unit", "factor"), [("s", 1), ("ms", 1e-3), ("ns", 1e-9), ("µs", 1e-6)])
def test_times_have_units(unit: str, factor: float, tmp_path: Path) -> None:
    data = read_csv(table(tmp_path, "b,t\n8,40\n"), Columns.parse(f"t=seconds:{unit}"))
    assert data.seconds == pytest.approx([40 * factor])


def test_a_size_in_units_is_a_whole_number_of_bytes(tmp_path: Path) -> None:
    text = "m,seconds\n0.064,1e-6\n0.0001,1e-6\n"
    data = read_csv(table(tmp_path, text), Columns.parse("m=b:MB"))
    assert data.variables["b"].tolist() == [64000, 100]


@pytest.mark.parametrize(
    ("cells", "found"),
    [
        (["1,5", "2,25", "10"], ["1.5", "2.25", "10"]),
        (["0,125"], ["0.125"]),
        (["1,234", "12,5"], ["1.234", "12.5"]),
        (["1234,567"], ["1234.567"]),
        (["1,5e-3"], ["1.5e-3"]),
        (["1.5"], ["1.5"]),
    ],
)
def test_decimal_commas_become_points(cells: list[str], found: list[str]) -> None:
    assert with_points(cells, "seconds", "t.csv") == found


@pytest.mark.parametrize(
    ("cells", "says"),
    [
        (["1,024", "65,536"], "which may mean 1024 or 1.024"),
        (["1,5", "1.5"], "numbers with commas and with points"),
        (["1.234,5"], "numbers with commas and with points"),
        (["1,048,576"], "which may mean 1048576"),
    ],
)
def test_a_comma_that_may_be_of_thousands_is_refused_with_the_way_out(
    cells: list[str], says: str
) -> None:
    with pytest.raises(InputError, match=says) as caught:
        with_points(cells, "b", "t.csv")
    assert caught.value.hint
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("decimal", "found"), [("comma", ["1.024", "1234.5"]), ("point", ["1024", "1.2345"])]
)
def test_whoever_says_what_decimals_have_is_believed(decimal: Decimal, found: list[str]) -> None:
    assert with_points(["1,024", "1.234,5"], "seconds", "t.csv", decimal) == found


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("size", "not name=variable"),
        ("size=", "not name=variable"),
        ("=b", "not name=variable"),
        ("size=b:", "not name=variable"),
        ("size=weight", "'weight' is not a variable"),
        ("usec=seconds:fortnight", "'fortnight' is not a unit of 'seconds'"),
        ("n=p:KiB", "'KiB' is not a unit of 'p'"),
        ("a=b,c=b", "given twice"),
        ("a=b,a=seconds", "given twice"),
    ],
)
def test_wrong_columns_are_refused(text: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        Columns.parse(text)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a,b\n1,2\n", "no column 'size' .there are: a, b."),
        ("size;x,y;seconds\n8;1,5;2,5\n", ""),
        ("size;seconds,x\n8;1,5\n", "the separator of the columns is ambiguous: ';' or ','"),
        ("size;seconds\n8;1,5;3\n", "times.csv:2: the line has 3 values, not 2"),
        ("size;seconds\n8;abc\n", "times.csv:2: 'seconds' is 'abc'"),
        ("size;seconds\n\n8;1,5\n16;1,5,5\n", "times.csv:4: 'seconds' is '1,5,5'"),
        ("size;seconds\n8;1e999\n", "not a finite number"),
        ("size;seconds\n9e99;1\n", "message size"),
    ],
)
def test_what_is_wrong_with_a_table_is_said_in_one_line(
    text: str, says: str, tmp_path: Path
) -> None:
    path, own = table(tmp_path, text), Columns.parse("size=b")
    if not says:
        assert read_csv(path, own).seconds.tolist() == [2.5]
        return
    with pytest.raises(InputError, match=says):
        read_csv(path, own)


def test_a_column_that_is_said_to_be_the_size_is_it_whatever_others_are_called(
    tmp_path: Path,
) -> None:
    """In the table of a batched collective, b is the batch."""
    data = read_csv(table(tmp_path, "count,b,seconds\n64,3,1\n"), Columns.parse("count=b"))
    assert data.variables["b"].tolist() == [64]
    (batch,) = data.others.values()
    assert batch.tolist() == ["3"]


@pytest.mark.parametrize(
    ("text", "seconds", "left_out"),
    [
        ("Processes,MessageSize,Latency,MinLatency,MaxLatency\n2,8,0.5,0.4,0.6\n", 0.5e-6, 2),
        ("nprocs,bytes,min_us,avg_us,max_us\n2,8,0.4,0.5,0.6\n", 0.5e-6, 2),
        ("np,size,mean_ms,median_ms\n2,8,3,2\n", 2e-3, 1),
        ("procs;msg_size;max_ns\n2;8;2,5\n", 2.5e-9, 0),
        ("ranks,# Size,latency\n2,8,2.5e-6\n", 2.5e-6, 0),
        ("#ranks\tsize [KiB]\ttime\n2\t0.0078125\t3\n", 3.0, 0),
        ("p,b,seconds,Latency(us)\n2,8,3,4\n", 3.0, 0),
    ],
)
def test_columns_are_understood_by_their_names(
    text: str, seconds: float, left_out: int, tmp_path: Path
) -> None:
    """The median or the mean is the time; the others are no columns that tell rows apart."""
    data = read_csv(table(tmp_path, text))
    assert data.variables["p"].tolist() == [2]
    assert data.variables["b"].tolist() == [8]
    assert data.seconds == pytest.approx([seconds], rel=1e-12)
    columns = len(text.partition("\n")[0].replace(";", ",").replace("\t", ",").split(","))
    assert len(data.others) == columns - 3 - left_out
    assert len(data.read_as) == ("seconds" not in text)


def test_a_latency_without_unit_is_in_seconds_only_if_microseconds_are_too_short(
    tmp_path: Path,
) -> None:
    """A message takes 20 ns at least."""
    for cell, seconds in (("0.021", 2.1e-8), ("0.019", 1.9e-2)):
        data = read_csv(table(tmp_path, f"p,b,Latency\n2,8,{cell}\n"))
        assert data.seconds == pytest.approx([seconds])


def test_who_says_what_a_column_is_is_believed(tmp_path: Path) -> None:
    """Of two columns that could be the same, and against the name of one."""
    text = "np,Size,msg_size,time_us,time_ms\n2,8,16,5,7\n"
    own = Columns.parse("msg_size=b,time_us=seconds:ns")
    data = read_csv(table(tmp_path, text), own)
    assert data.variables["b"].tolist() == [16]
    assert data.seconds == pytest.approx([5e-9])
    with pytest.raises(InputError, match="--map-columns"):
        read_csv(table(tmp_path, text))


def test_a_name_of_isochrone_comes_before_an_alias(tmp_path: Path) -> None:
    data = read_csv(table(tmp_path, "b,bytes,ranks,seconds\n8,16,2,1\n"))
    assert data.variables["b"].tolist() == [8]
    assert data.variables["p"].tolist() == [2]


def test_columns_in_python_are_understood_likewise() -> None:
    data = of_table({"Processes": [2, 4], "MessageSize": [8, 8], "Avg Latency(us)": [1.0, 2.0]})
    assert data.variables["p"].tolist() == [2, 4]
    assert data.variables["b"].tolist() == [8, 8]
    assert data.seconds == pytest.approx([1e-6, 2e-6])
    assert len(data.read_as) == 1


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(text=st.text(alphabet='size;,\t\n\r"0123456789.e-,\0é', max_size=80))
def test_any_text_is_a_table_or_one_line(text: str, tmp_path: Path) -> None:
    try:
        read_csv(table(tmp_path, "size;seconds\n8;1,5\n" + text), Columns.parse("size=b"))
    except InputError as error:
        assert "\n" not in str(error)
