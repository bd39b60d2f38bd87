"""Files without a number of ranks get one each, and never one for all without a word."""

from __future__ import annotations

from pathlib import Path

import pytest

from isochrone.base.errors import InputError
from isochrone.formats.given_ranks import FROM_NAME, Given, in_name, ranks_of, read_given

FILES = [Path("runs/ar_4.txt"), Path("runs/ar_8.txt")]


@pytest.mark.parametrize(
    ("text", "given"),
    [("4", (4,)), ("8,4", (8, 4)), ("4, 4", (4, 4)), ("from-name", FROM_NAME)],
)
def test_numbers_keep_their_order_and_may_be_alike(text: str, given: Given) -> None:
    assert read_given(text) == given


@pytest.mark.parametrize("text", ["", "0", "4,", "4,x", "-4", "4:8", "1000001", "name", "4 8"])
def test_what_is_no_number_of_ranks_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        read_given(text)


@pytest.mark.parametrize(
    ("name", "ranks"),
    [
        ("ar_4.txt", 4),
        ("osu_bcast_np16.out", 16),
        ("bcast-p8.csv", 8),
        ("128.txt", 128),
        ("osu_allreduce_v7_ranks64.log", 64),
        ("collectives-5.8.txt", 0),
        ("bcast.txt", 0),
        ("bcast8.txt", 0),
        ("node4_run.txt", 0),
        ("ar_0.txt", 0),
        ("ar_9999999.txt", 0),
    ],
)
def test_the_number_at_the_end_of_a_name_is_read(name: str, ranks: int) -> None:
    """A version or a number within a word is none of ranks."""
    assert in_name(Path("folder_2") / name) == ranks


def test_each_file_gets_its_number() -> None:
    assert ranks_of(FILES, (16, 32)) == [16, 32]
    assert ranks_of(FILES, FROM_NAME) == [4, 8]
    assert ranks_of(FILES[:1], (2,)) == [2]


@pytest.mark.parametrize("given", [None, (4,), (4, 8, 16)])
def test_fewer_or_more_numbers_than_files_are_refused_with_the_way_out(given: Given | None) -> None:
    with pytest.raises(InputError) as caught:
        ranks_of(FILES, given)
    assert "--ranks 4,8" in caught.value.hint
    assert "from-name" in caught.value.hint


def test_names_without_a_number_are_refused() -> None:
    for given in (FROM_NAME, None):
        with pytest.raises(InputError) as caught:
            ranks_of([FILES[0], Path("osu.txt")], given)
        assert "--ranks 4,N" in caught.value.hint
        assert "from-name" not in caught.value.hint
