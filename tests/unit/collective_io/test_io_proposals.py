"""Hints from outside: those of the user stay, those of the program win."""

from __future__ import annotations

from pathlib import Path

import pytest

from beds.golden import Golden
from isochrone.base.errors import InputError
from isochrone.collective_io.orders.setting import hints_text
from isochrone.collective_io.program.chooser import sizes_around
from isochrone.collective_io.program.trials import (
    Proposal,
    hints_of_user,
    not_in_force,
    without_given,
)


def test_what_the_program_sets_is_taken_out_and_what_is_left_is_tried_once() -> None:
    ways = [
        Proposal("both", {"cb_nodes": "4", "cb_buffer_size": "1"}),
        Proposal("one", {"cb_buffer_size": "1"}),
        Proposal("other", {"cb_nodes": "2"}),
    ]
    left, warnings = without_given(ways, {"cb_nodes": "8"})
    assert [dict(one.hints) for one in left] == [{"cb_buffer_size": "1"}]
    assert len(warnings) == 1
    assert "cb_nodes=8 itself" in warnings[0]


def test_hints_of_the_user_are_kept_and_named() -> None:
    off = Proposal("off", {"romio_cb_write": "disable", "romio_ds_write": "disable"}, {}, 0.2)
    order = Proposal("order", {"cb_config_list": "b,a", "romio_cb_write": "enable"}, {}, 0.3)
    user = {"romio_cb_write": "enable", "cb_nodes": "4"}
    left, warnings = without_given([off, order], {}, user)
    assert [dict(one.hints) for one in left] == [
        {"romio_ds_write": "disable"},
        {"cb_config_list": "b,a"},
    ]
    assert [one.expected for one in left] == [None, 0.3]
    (kept,) = warnings
    assert "romio_cb_write=enable" in kept
    user["romio_ds_write"] = "enable"
    left, warnings = without_given([off, order], {"cb_config_list": "*:1"}, user)
    assert not left
    assert [text.count("itself") for text in warnings] == [1, 0, 0]
    assert without_given([off, order], {}, {}) == ([off, order], [])


@pytest.mark.parametrize(
    ("messages", "measured"),
    [
        ([1 << 20], [1 << 18, 1 << 20, 1 << 21]),
        ([1 << 20, 1 << 14, 1 << 16], [1 << 14, 1 << 18, 1 << 20, 1 << 21]),
        ([1 << 16, 1 << 30], [1 << 14, 1 << 16, 1 << 17, 4 << 20]),
        ([100], [4096]),
    ],
)
def test_small_and_large_exchanges_are_measured(messages: list[int], measured: list[int]) -> None:
    """What large messages cost says little of small ones."""
    assert sizes_around(messages) == measured


def test_hints_that_the_user_has_already_are_read(tmp_path: Path) -> None:
    file = tmp_path / "hints"
    file.write_text("# mine\ncb_nodes 4\nromio_cb_write   enable\n")
    assert hints_of_user({"ROMIO_HINTS": str(file)}) == {
        "cb_nodes": "4",
        "romio_cb_write": "enable",
    }


def test_a_hints_file_that_is_not_there_is_refused(tmp_path: Path, golden: Golden) -> None:
    with golden.refusal():
        hints_of_user({"ROMIO_HINTS": str(tmp_path / "none")})


def test_a_comment_in_a_hints_file_is_no_hint(tmp_path: Path) -> None:
    file = tmp_path / "hints"
    file.write_text(hints_text({"cb_nodes": "4"}, "measured with files on tmpfs"))
    assert "tmpfs" in file.read_text()
    assert hints_of_user({"ROMIO_HINTS": str(file)}) == {"cb_nodes": "4"}


def test_a_file_longer_than_romio_reads_is_refused() -> None:
    with pytest.raises(InputError, match="4096"):
        hints_text({"cb_config_list": "n" * 5000})


def test_hints_are_in_force_if_any_file_has_them() -> None:
    """A number of aggregators is lowered to what there is; what is not reported is not judged."""
    wanted = {"cb_nodes": "64", "cb_config_list": "n1,*:1", "striping_factor": "4"}
    assert not not_in_force(wanted, [{"cb_nodes": "8", "cb_config_list": "n1,*:1"}])
    assert not_in_force(wanted, [{"cb_nodes": "8", "cb_config_list": "*:1"}]) == ["cb_config_list"]
