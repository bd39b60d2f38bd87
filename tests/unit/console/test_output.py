"""Where a command writes."""

from __future__ import annotations

from pathlib import Path

import pytest

from isochrone.base.errors import InputError
from isochrone.console.output import check_output


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize("there", [False, True])
def test_nothing_is_written_through_a_symbolic_link(
    there: bool, force: bool, tmp_path: Path
) -> None:
    """A program that appends to what it leads to would mix two measurements."""
    if there:
        (tmp_path / "old").write_text("old")
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "old")
    with pytest.raises(InputError):
        check_output(link, force=force)
    assert link.is_symlink()
