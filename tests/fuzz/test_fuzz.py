"""A short part of the campaign, always the same, and every file that was ever found.

No time is judged here but what hangs: on a busy machine the processor's time of a command differs,
too. `make fuzz` judges it.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from fuzz.campaign import Campaign
from fuzz.oracle import Limits, Verdict
from fuzz.readers import READERS

FOUND = sorted(Path(__file__).with_name("found").glob("*.txt"))
PATIENT = Limits(seconds=60.0, memory=1 << 30)


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Campaign:
    return Campaign(tmp_path_factory.mktemp("fuzz"), PATIENT)


@pytest.mark.few(15)
@pytest.mark.parametrize("reader", READERS)
def test_undamaged_files_are_read(campaign: Campaign, reader: str) -> None:
    """What is damaged is a file that the command takes: else nothing behind its reader is tried."""
    for command in READERS[reader].commands:
        assert "no-such-launcher" in command or any(
            _taken(campaign.verdict(reader, command, data), command)
            for data in campaign.seeds[reader]
        ), command


def _taken(verdict: Verdict, command: str) -> bool:
    """Whether a command did what it was asked for; nothing may be wrong in any case."""
    assert not verdict.wrong, f"{command}: {verdict.wrong}: {verdict.said}"
    return verdict.code in (0, 1, 4)


@pytest.mark.few(15)
@pytest.mark.parametrize("reader", READERS)
def test_damaged_files_end_in_a_line(campaign: Campaign, reader: str) -> None:
    """Exit code 0, 2 or 3, one line, no traceback, no control character, nothing else written."""
    found = [f"{one.command}: {one.verdict.wrong}" for one in campaign.some(reader, 15)]
    assert not found


@pytest.mark.parametrize("found", FOUND, ids=lambda path: path.stem)
def test_what_was_found_once_stays_mended(campaign: Campaign, found: Path) -> None:
    """Files that a campaign found: each was once taken as it should not be."""
    command, wrong, *_ = found.read_text(errors="replace").split("\n")
    reader = found.stem.rpartition("-")[0]
    verdict = campaign.verdict(reader, command, found.with_suffix("").read_bytes())
    assert not verdict.wrong, f"{command}: {verdict.wrong}, once {wrong}"
