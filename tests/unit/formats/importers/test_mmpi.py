"""The reader of the mmpi program's performance log: the paper's example, whole and damaged."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from beds.golden import Golden
from beds.mpis import ROOT
from isochrone.base.errors import InputError
from isochrone.base.files import sha256
from isochrone.formats.exporters import mmpi as exporter
from isochrone.formats.importers import mmpi
from isochrone.runfile import file as runs
from isochrone.runfile.run import Run

GOLDEN = ROOT / "tests/golden" / "mmpi"
PAPER = (GOLDEN / "paper.log").read_bytes()

# the matrices of the paper's example in µs, typed off the paper
AVG = [
    [np.nan, 10.44, 20.07, 24.34],
    [10.44, np.nan, 23.20, 22.72],
    [20.07, 23.20, np.nan, 11.44],
    [24.34, 22.72, 11.44, np.nan],
]
STDDEV = [
    [np.nan, 0.12, 0.09, 0.14],
    [0.12, np.nan, 0.09, 0.23],
    [0.09, 0.09, np.nan, 0.14],
    [0.14, 0.23, 0.14, np.nan],
]
many = settings(
    max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def codes(run: Run) -> list[str]:
    return [warning["code"] for warning in run.warnings]


def assert_is_seed(run: Run) -> None:
    np.testing.assert_allclose(run.matrix("mean"), np.array(AVG) * 1e-6, rtol=1e-14)
    np.testing.assert_allclose(run.matrix("stddev"), np.array(STDDEV) * 1e-6, rtol=1e-14)


def read_bytes(tmp_path: Path, data: bytes) -> Run:
    path = tmp_path / "some.log"
    path.write_bytes(data)
    return mmpi.read(path)


def test_the_seeds_own_example_is_read_in_full() -> None:
    """The log printed in the paper is the definition of the format: every field is understood."""
    run = mmpi.read(GOLDEN / "paper.log")
    assert_is_seed(run)
    assert (run.experiment, run.size, run.complete) == ("latency-map", 4, True)
    assert run.hosts == ["nid00670", "nid00670", "nid00671", "nid00671"]
    assert [rank.node for rank in run.ranks] == [0, 0, 1, 1]
    assert run.header["options"] == {"bytes": [64], "repeats": 100}
    assert run.header["host"] == "tg-login4"
    assert run.pairs()["n"].tolist() == [100] * 6
    assert run.header["imported"]["sha256"] == sha256(GOLDEN / "paper.log")


def test_the_seeds_example_is_exported_byte_for_byte(tmp_path: Path) -> None:
    """Whatever reads the logs of the mmpi program reads ours: no blank and no digit differs."""
    path = tmp_path / "again.log"
    exporter.write(mmpi.read(GOLDEN / "paper.log"), path)
    assert path.read_bytes() == PAPER


def test_the_mean_stands_in_for_the_median_and_says_so() -> None:
    """The rest of the tool works with medians; a mean in disguise must never go unnoticed."""
    run = mmpi.read(GOLDEN / "paper.log")
    np.testing.assert_array_equal(run.matrix("median"), run.matrix("mean"))
    assert run.header["median_is_mean"] is True
    assert codes(run) == ["median-is-mean"]


def test_times_are_the_doubles_nearest_to_what_is_printed() -> None:
    """23.20 µs is 2.32e-05 s, and not 2.3199999999999998e-05 in every file made from it."""
    run = mmpi.read(GOLDEN / "paper.log")
    assert 2.32e-05 in run.pairs()["mean"].tolist()


@pytest.mark.parametrize("name", ["crlf", "tabs_blanks", "bom", "mirrored"])
def test_harmless_damage_changes_nothing(name: str) -> None:
    """Line ends, tabs, blank lines, a byte order mark or a pair said twice alike do not matter."""
    run = mmpi.read(GOLDEN / f"{name}.log")
    assert_is_seed(run)
    assert run.complete
    assert codes(run) == ["median-is-mean"]


def test_host_names_in_latin_1_are_read(tmp_path: Path) -> None:
    """An old machine's encoding is no reason to fail, and what was read can be saved."""
    run = mmpi.read(GOLDEN / "latin1.log")
    assert run.hosts[2] == "knödel"
    runs.write(run, tmp_path / "map.jsonl")
    assert runs.read(tmp_path / "map.jsonl").hosts == run.hosts


def test_without_a_header_the_ranks_are_those_of_the_rows() -> None:
    """A log whose header was lost is used, with one warning for each thing not known."""
    run = mmpi.read(GOLDEN / "no_header.log")
    assert_is_seed(run)
    assert run.complete
    assert codes(run) == ["header-field-missing"] * 4 + ["median-is-mean"]
    assert run.message_sizes() == [64]
    assert "n" not in run.pairs()
    assert "host" not in run.header


def test_unknown_repeats_are_not_made_up() -> None:
    """How often a pair was measured is the ground of every interval: never guess it."""
    run = mmpi.read(GOLDEN / "no_repeats.log")
    assert codes(run) == ["header-field-missing", "median-is-mean"]
    assert "repeats" not in run.header["options"]
    assert "n" not in run.pairs()


@pytest.mark.parametrize(
    ("name", "pairs"), [("cut_in_column", 6), ("cut_in_number", 3), ("cut_newline", 3)]
)
def test_a_cut_last_line_is_left_out_with_a_warning(name: str, pairs: int) -> None:
    """A full disk costs the last line and not the log; half a number is never taken for one."""
    run = mmpi.read(GOLDEN / f"{name}.log")
    assert "cut-short" in codes(run)
    assert ("missing-pairs" in codes(run)) == (pairs < 6)
    assert len(run.pairs()) == pairs
    assert run.size == 4
    assert not run.complete


def test_a_log_cut_between_lines_is_partial(golden: Golden) -> None:
    """Rows that are missing altogether are noticed by counting, not by the look of the last."""
    run = mmpi.read(GOLDEN / "cut_between_lines.log")
    assert codes(run) == ["missing-pairs", "median-is-mean"]
    golden(run.warnings[0]["text"])
    assert not run.complete
    assert np.isnan(run.matrix("mean")[2, 3])


def test_a_log_cut_before_all_hosts_were_named_has_none_and_can_be_read_again(
    tmp_path: Path,
) -> None:
    """A run describes all of its ranks or none: half a list is refused when the file is read."""
    run = read_bytes(tmp_path, re.sub(rb"Processors\s*:?\s*\d+", b"Processors 40", PAPER))
    assert run.size == 40
    assert not run.ranks
    assert "hosts-unknown" in [warning["code"] for warning in run.warnings]
    runs.write(run, tmp_path / "map.jsonl")
    assert runs.read(tmp_path / "map.jsonl").size == 40


def test_many_ranks_without_hosts_are_refused(tmp_path: Path, golden: Golden) -> None:
    """Each rank that a file only claims takes memory in all that read the run."""
    data = re.sub(rb"Processors\s*:?\s*\d+", b"Processors 500000", PAPER)
    with golden.refusal():
        read_bytes(tmp_path, data)


def test_a_whole_log_without_its_last_line_end_is_whole(tmp_path: Path) -> None:
    """Copying from a page often loses the last line end: no false alarm."""
    run = read_bytes(tmp_path, PAPER.rstrip())
    assert_is_seed(run)
    assert run.complete
    assert codes(run) == ["median-is-mean"]


def test_a_log_cut_anywhere_is_never_misread(tmp_path: Path) -> None:
    """Wherever a log is cut, each pair that is read has the times of the whole log."""
    whole = mmpi.read(GOLDEN / "paper.log")
    first_pair = PAPER.index(b"0.12\n") + len("0.12")
    for length in range(first_pair):
        with pytest.raises(InputError):
            read_bytes(tmp_path, PAPER[:length])
    for length in range(first_pair, len(PAPER)):
        run = read_bytes(tmp_path, PAPER[:length])
        assert run.complete <= (len(run.pairs()) == 6)
        for what in ("mean", "stddev"):
            part, full = run.matrix(what), whole.matrix(what)
            assert np.all(np.isnan(part) | (part == full))


CASES = [
    ("bad_columns", 5, "the line has 5 columns, not 6"),
    ("bad_more_columns", 5, "the line has 7 columns, not 6"),
    ("bad_number", 6, "the mean is '20,07', not a number"),
    ("bad_negative", 7, "the mean is negative: -24.34"),
    ("bad_nan", 9, "the standard deviation is 'nan', not a number"),
    ("bad_inf", 9, "the mean is 'inf', not a number"),
    ("bad_rank", 10, "'1x' is not the number of a rank"),
    ("bad_rank_beyond", 10, "the file has rank 7, but its header 4 processors"),
    ("bad_host", 9, "rank 1 is on host nid00699, but was on nid00670 before"),
    ("bad_twice", 14, "ranks 1 and 3 appear twice, with different mean"),
    ("bad_two_logs", 15, "'MsgLen' appears again with a different value"),
]


def test_what_makes_the_numbers_doubtful_is_refused_with_the_line(
    subtests: pytest.Subtests,
) -> None:
    """The user learns which line is wrong, and no wrong number enters a map."""
    for name, line, what in CASES:
        with subtests.test(str((name, line, what))):
            path = GOLDEN / f"{name}.log"
            with pytest.raises(InputError) as caught:
                mmpi.read(path)
            assert caught.value.where == f"{path}:{line}"
            assert caught.value.what == what


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"", "no measured pair"),
        (PAPER[: PAPER.index(b"nid")], "no measured pair"),
        (b"a 0 a 0 0.00 0.00\n", "no measured pair"),
        (b"{}\n[1, 2]\n", "columns"),
        (b"# Processors: 99999999\na 0 b 1 1.00 0.00\n", "99999999 processors exceed the limit of"),
        (b"a 0 b 12345678 1.00 0.00\n", "exceeds the limit"),
        (b"a 0 b 1 1e999 0.00\n", "not a number"),
        ("a 0 b 1 ١٢ 0.00\n".encode(), "not a number"),
        (b"a 0 b 1 1_0 0.00\n", "not a number"),
    ],
)
def test_what_is_no_log_is_refused(tmp_path: Path, data: bytes, what: str) -> None:
    """A file of another kind gives one line, not a map of nonsense and not a memory error."""
    with pytest.raises(InputError, match=what):
        read_bytes(tmp_path, data)


@pytest.mark.parametrize("name", ["", "nothing.log"])
def test_a_file_that_cannot_be_read_gives_one_line(
    tmp_path: Path, name: str, golden: Golden
) -> None:
    """A folder or a missing file is the user's mistake, not a traceback."""
    with golden.refusal():
        mmpi.read(tmp_path / name)


def test_a_row_too_short_after_a_whole_log_is_wrong_and_not_cut(tmp_path: Path) -> None:
    """Something else was appended to the log: that is not the damage of a full disk."""
    with pytest.raises(InputError, match="3 columns, not 6"):
        read_bytes(tmp_path, PAPER + b"slurmstepd: job cancelled\n")


def test_a_time_on_the_diagonal_is_ignored_with_a_warning(tmp_path: Path) -> None:
    """A rank's time with itself is not a pair of the map."""
    run = read_bytes(tmp_path, PAPER.replace(b"0.00   0.00", b"0.42   0.00", 1))
    assert_is_seed(run)
    assert "diagonal-not-zero" in codes(run)


@many
@given(st.binary(max_size=400))
@example(b"\xff\xfea\x000\x00")
@example(b"a 0 b 1 1.00 0.00")
@example(b"a 0 b 1 1.00 \x1c0.00\n# Repeats: 0\n")
def test_any_bytes_give_a_run_or_an_error_of_one_line(tmp_path: Path, data: bytes) -> None:
    """No file, however strange, ends in a traceback, and what is read can always be saved."""
    try:
        run = read_bytes(tmp_path, data)
    except InputError as error:
        assert "\n" not in str(error)
    else:
        runs.write(run, tmp_path / "map.jsonl", overwrite=True)
        runs.read(tmp_path / "map.jsonl")


@many
@given(
    st.lists(
        st.tuples(st.integers(0, len(PAPER) - 1), st.binary(max_size=3), st.integers(0, 4)),
        min_size=1,
        max_size=4,
    )
)
def test_the_seed_with_some_bytes_changed_gives_a_run_or_an_error(
    tmp_path: Path, changes: list[tuple[int, bytes, int]]
) -> None:
    """Near-misses of the format reach deeper into the reader than garbage does."""
    data = PAPER
    for at, new, removed in changes:
        data = data[:at] + new + data[at + removed :]
    try:
        run = read_bytes(tmp_path, data)
    except InputError:
        return
    runs.write(run, tmp_path / "map.jsonl", overwrite=True)
    runs.read(tmp_path / "map.jsonl")


HARMLESS: list[Callable[[list[str], random.Random], list[str]]] = [
    lambda rows, _: [row + "\r" for row in rows],
    lambda rows, _: ["\t".join(row.split()) for row in rows],
    lambda rows, _: ["  " + row.replace(" ", "   ") + " " for row in rows],
    lambda rows, dice: [line for row in rows for line in [row] + [""] * dice.randint(0, 2)],
    lambda rows, dice: dice.sample(rows, len(rows)),
    lambda rows, dice: [*rows, dice.choice(rows)],
    lambda rows, _: [" ".join(row.split()[k] for k in (2, 3, 0, 1, 4, 5)) for row in rows],
    lambda rows, _: [row for row in rows if row.split()[1] != row.split()[3]],
    lambda rows, _: ["# a comment", *rows, "# the end"],
    lambda rows, _: [*rows[:-1], rows[-1].rstrip()],
]


@st.composite
def logs(draw: st.DrawFn) -> tuple[int, list[str], dict[tuple[int, int], tuple[str, str]]]:
    """Draw a valid log: number of ranks, rows, and times in µs as printed by pair."""
    size = draw(st.integers(2, 7))
    name = st.from_regex(r"[a-z][a-z0-9.-]{0,11}", fullmatch=True)
    hosts = draw(st.lists(name, min_size=size, max_size=size))
    hundredths = st.integers(0, 10**9)
    rows, times = [], {}
    for i in range(size):
        for j in range(i, size):
            mean, stddev = (draw(hundredths) / 100 if i < j else 0 for _ in range(2))
            row = f"{hosts[i]} {i:03d}   {hosts[j]} {j:03d} {mean:14.2f} {stddev:6.2f}"
            rows.append(row)
            if i < j:
                times[i, j] = (row.split()[4], row.split()[5])
    return size, rows, times


@many
@given(logs(), st.lists(st.sampled_from(HARMLESS), max_size=4), st.randoms(use_true_random=False))
def test_valid_logs_read_back_the_same_whatever_harmless_damage(
    tmp_path: Path,
    log: tuple[int, list[str], dict[tuple[int, int], tuple[str, str]]],
    damage: list[Callable[[list[str], random.Random], list[str]]],
    dice: random.Random,
) -> None:
    """Damage that does not touch the numbers never changes one, in whatever combination."""
    size, rows, times = log
    for change in damage:
        whole = [row for row in rows if row.strip() and not row.startswith("#")]
        rows = change(whole, dice)
    header = f"# Processors: {size} MsgLen 8 Repeats: 7"
    run = read_bytes(tmp_path, "\n".join([header, *rows, ""]).encode())
    assert run.complete
    assert run.message_sizes() == [8]
    table = run.pairs()
    assert len(table) == len(times)
    for row in table.rows():
        expected = tuple(float(f"{text}e-6") for text in times[row["i"], row["j"]])
        assert (row["mean"], row["stddev"]) == expected
