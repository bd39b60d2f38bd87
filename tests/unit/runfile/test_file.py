"""The run file: partial runs are readable, damage is named, nothing is lost or overwritten."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from beds.golden import Golden
from isochrone.base.errors import InputError
from isochrone.runfile.file import insert, read, write

HEADER = '{"record":"run","format":1,"experiment":"latency-map","ranks":3,"site":"north"}\n'
RANKS = "".join(
    f'{{"record":"rank","rank":{r},"host":"n{r // 2}","cpu":{r},"node":{r // 2},"gpu":7}}\n'
    for r in range(3)
)


def pair(i: int, j: int, median: float, extra: str = "") -> str:
    return (
        f'{{"record":"pair","i":{i},"j":{j},"bytes":64,"n":10,"median":{median},'
        f'"mean":{median},"stddev":0.5{extra}}}\n'
    )


def file_of(folder: Path, text: str) -> Path:
    path = folder / "run.jsonl"
    path.write_text(text)
    return path


def test_a_file_without_its_end_is_a_partial_run(tmp_path: Path) -> None:
    run = read(file_of(tmp_path, HEADER + RANKS + pair(0, 1, 2.0)))
    assert not run.complete
    assert run.hosts == ["n0", "n0", "n1"]
    times = run.matrix()
    assert times[0, 1] == times[1, 0] == 2.0
    assert np.isnan(times[0, 2])


@pytest.mark.parametrize("cut", [2, 10, 40, 60])
def test_a_file_cut_within_its_last_line_is_a_partial_run(tmp_path: Path, cut: int) -> None:
    text = HEADER + RANKS + pair(0, 1, 2.0) + pair(0, 2, 3.0)[:-cut]
    assert len(read(file_of(tmp_path, text)).pairs()) == 1


def test_damage_in_the_middle_is_named_by_its_line(tmp_path: Path, golden: Golden) -> None:
    text = HEADER + RANKS + "what?\n" + pair(0, 1, 2.0)
    with golden.refusal():
        read(file_of(tmp_path, text))


def test_a_measurement_made_again_counts_and_the_first_is_kept(tmp_path: Path) -> None:
    text = HEADER + RANKS + pair(0, 1, 9.0) + pair(0, 1, 2.0, ',"retest":true')
    run = read(file_of(tmp_path, text))
    assert run.matrix()[0, 1] == 2.0
    assert run.matrix(retested=False)[0, 1] == 9.0


def test_unknown_keys_and_records_survive_reading_and_writing(tmp_path: Path) -> None:
    """A newer probe may write more; a tool in between must not lose it."""
    text = (
        HEADER
        + RANKS
        + pair(0, 1, 2.0, ',"colour":"red"')
        + pair(0, 2, 2.0)
        + '{"record":"weather","rain":true}\n{"record":"end","seconds":1.5,"complete":true}\n'
    )
    path = file_of(tmp_path, text)
    copy = tmp_path / "copy.jsonl"
    write(read(path), copy)
    again = read(copy)
    assert again.header["site"] == "north"
    assert again.ranks[1].gpu == 7
    assert again.pairs()["colour"].tolist() == ["red", None]
    assert '"colour"' not in copy.read_text().splitlines()[5]
    assert again.tables["weather"]["rain"].tolist() == [True]
    assert again.end == {"seconds": 1.5, "complete": True}


def test_caches_survive_reading_and_writing_and_are_unknown_in_old_files(tmp_path: Path) -> None:
    """Protects the places within a node: a key is neither lost nor invented."""
    first, *others = RANKS.splitlines(keepends=True)
    text = HEADER + first.replace('"gpu":7', '"l2":2,"l3":0') + "".join(others)
    copy = tmp_path / "copy.jsonl"
    write(read(file_of(tmp_path, text)), copy)
    run = read(copy)
    assert [(rank.l2, rank.l3) for rank in run.ranks] == [(2, 0), (-1, -1), (-1, -1)]
    assert run.columns("rank")["l2"].tolist() == [2, -1, -1]


def test_a_file_that_exists_is_not_overwritten(tmp_path: Path) -> None:
    path = file_of(tmp_path, HEADER)
    with pytest.raises(InputError, match="file exists"):
        write(read(path), path)
    assert path.read_text() == HEADER


CASES = [
    ("", "the file is empty"),
    ("[1, 2]\n", "JSON document"),
    ('{"record":"pair"}\n', "does not begin with a 'run' record"),
    ('{"record":"run","ranks":3}\n', "no valid 'format'"),
    ('{"record":"run","format":3,"ranks":3}\n', "newer"),
    ('{"record":"run","format":1,"ranks":true}\n', "no valid number of 'ranks'"),
    (HEADER + '{"rank":0}\n', "the record has no name"),
    (HEADER + '{"record":"rank","rank":3,"host":"a"}\n', "not a number from 0 to 2"),
    (HEADER + '{"record":"rank","rank":0}\n', "a 'rank' record has no 'host'"),
    (HEADER + RANKS + RANKS.splitlines()[0] + "\n", "rank 0 appears twice"),
    (HEADER + pair(1, 1, 2.0), "its ranks are not 0 <= i < j < 3"),
    (HEADER + pair(0, 1, -2.0), "is out of range"),
    (HEADER + pair(0, 1, 2.0).replace("2.0", "1e999"), "not a time|not a record"),
    (HEADER + pair(0, 1, 2.0).replace("2.0", "NaN"), "not a record"),
    (
        HEADER + pair(0, 1, 2.0).replace('"j":1', '"j":"one"'),
        "'j'",
    ),
]


def test_what_is_no_run_file_is_said_in_one_line(tmp_path: Path, subtests: pytest.Subtests) -> None:
    for text, complaint in CASES:
        with subtests.test(str((text, complaint))):
            with pytest.raises(InputError, match=complaint) as error:
                read(file_of(tmp_path, text))
            assert "\n" not in str(error.value)
            assert error.value.where.startswith(str(tmp_path))
            assert error.value.hint


def test_columns_hold_numbers_text_and_gaps(tmp_path: Path) -> None:
    """Ten thousand records, so that several chunks with different keys are joined."""
    lines = [f'{{"record":"odd","k":{k}}}\n' for k in range(9000)]
    lines += [f'{{"record":"odd","k":{k},"late":1.5}}\n' for k in range(9000, 10000)]
    table = read(file_of(tmp_path, HEADER + "".join(lines))).tables["odd"]
    assert table["k"].dtype == np.int64
    assert np.isnan(table["late"][:9000]).all()
    assert (table["late"][9000:] == 1.5).all()


def test_records_are_inserted_before_the_end_and_nothing_else_changes(tmp_path: Path) -> None:
    before = HEADER + pair(0, 1, 1e-6)
    path = file_of(tmp_path, before + '{"record":"end","seconds":2.5,"complete":true,"x":1}\n')
    insert(path, [{"record": "pair", "i": 0, "j": 1, "bytes": 8, "median": 2e-6}], seconds=0.5)
    after = path.read_text()
    assert after.startswith(before)
    assert len(after.splitlines()) == 4
    run = read(path)
    assert len(run.tables["pair"]) == 2
    assert run.end == {"seconds": 3.0, "complete": True, "x": 1}
    assert list(tmp_path.iterdir()) == [path]


def test_nothing_is_inserted_into_a_partial_run(tmp_path: Path, golden: Golden) -> None:
    path = file_of(tmp_path, HEADER + pair(0, 1, 1e-6))
    before = path.read_bytes()
    with golden.refusal():
        insert(path, [{"record": "pair"}], seconds=0.0)
    assert path.read_bytes() == before


def test_ranks_on_one_processor_are_warned_of_whatever_was_measured(tmp_path: Path) -> None:
    """Except where it was said already, or where each pair looks for itself and is moved apart."""
    ranks = RANKS.replace('"cpu":1', '"cpu":0')
    header = HEADER.replace("latency-map", "collective")
    crowded = '{"record":"warning","code":"oversubscribed","text":"3 ranks"}\n'
    for text, codes in (
        (header + ranks, ["shared-processor"]),
        (header + ranks + crowded, ["oversubscribed"]),
        (header + RANKS, []),
        (header + RANKS.replace('"cpu":2', '"cpu":0'), []),  # of another node
        (HEADER.replace('"ranks"', '"kind":"latency-map","ranks"') + ranks, []),
    ):
        run = read(file_of(tmp_path, text))
        assert [warning["code"] for warning in run.warnings] == codes
        again = tmp_path / "again.jsonl"
        again.unlink(missing_ok=True)
        write(run, again)
        assert [warning["code"] for warning in read(again).warnings] == codes
