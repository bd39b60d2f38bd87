"""Ctrl-C while a command is still being imported ends it without a traceback."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

INTERRUPTED = """
import os, signal, sys
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == {name!r}:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Finder())
from isochrone.__main__ import main
sys.argv = ["isochrone", "show", "none.jsonl"]
sys.exit(main())
"""


@pytest.mark.usefixtures("processes")
@pytest.mark.parametrize(
    "name", ["isochrone.cli.main", "isochrone.base.text", "isochrone.cli.commands.show", "numpy"]
)
def test_an_interrupt_within_an_import_is_quiet(name: str) -> None:
    code = INTERRUPTED.format(name=name)
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert answer.returncode == 128 + signal.SIGINT
    assert answer.stderr.count("\n") <= 1
