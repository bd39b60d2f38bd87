"""A recorded program is ended by the signals that its recorder gets, and the exit code says so."""

from __future__ import annotations

import os
import signal
import sys

import pytest

from isochrone.base.errors import Interrupted
from isochrone.measure import recorded


@pytest.mark.usefixtures("processes")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_the_exit_code_is_that_of_the_signal_whatever_the_launcher_returns(
    number: signal.Signals, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", open(os.devnull))  # noqa: PTH123, SIM115 - no terminal
    for code in (2, 15):
        program = (
            "import os, signal, time\n"
            f"signal.signal({int(number)}, lambda n, f: os._exit({code}))\n"
            f"os.kill(os.getppid(), {int(number)})\n"
            "time.sleep(60)\n"
        )
        with pytest.raises(Interrupted) as stopped:
            recorded.start([sys.executable, "-c", program], os.environ)
        assert stopped.value.exit_code == 128 + number
    assert recorded.start(["false"], os.environ) == 1
    ignored = f"import os; os.kill(os.getppid(), {int(number)})"
    calm = f"import signal; signal.signal({int(number)}, signal.SIG_IGN); {ignored}"
    assert recorded.start([sys.executable, "-c", calm], os.environ) == 0
