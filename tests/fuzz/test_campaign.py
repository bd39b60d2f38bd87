"""A campaign that runs for hours survives what it finds, and says what it tried."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import fuzz.campaign
from beds.golden import Golden
from beds.mpis import PATIENCE, ROOT
from fuzz.batches import batches
from fuzz.campaign import Campaign


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_command_that_kills_its_process_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So does a fault of a library in C: one process ends, not the campaign; its file is known."""

    def die(*given: Any) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    monkeypatch.setattr(fuzz.campaign, "judge", die)
    campaign = Campaign(tmp_path, readers=("sizes",))
    found = next(batches(campaign, 3600.0, 1, lambda: False))
    assert found is not None
    assert found.verdict.wrong is not None
    assert str(int(signal.SIGKILL)) in found.verdict.wrong.split()
    assert found.reader == "sizes"


def test_a_campaign_that_is_ended_adds_up_what_was_tried(tmp_path: Path, golden: Golden) -> None:
    """SIGTERM ends it at once, with exit code 0 and the sum of all campaigns of its folder."""
    (tmp_path / "7-1.counts.json").write_text(json.dumps({"sizes": 100_000, "grid": 5}))
    with subprocess.Popen(
        [sys.executable, "-m", "fuzz", "3600", "--reader", "sizes", "--keep", tmp_path],
        env={**os.environ, "PYTHONPATH": f"{ROOT}/src:{ROOT}/tests"},
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("seed ")
        assert process.stdout.readline() == "ready\n"
        process.terminate()
        printed = process.communicate(timeout=PATIENCE)[0]
    assert process.returncode == 0, printed
    total, files, rest = printed.splitlines()[-1].split(maxsplit=2)
    golden([total, rest])
    assert int(files.replace(",", "")) >= 100_005
