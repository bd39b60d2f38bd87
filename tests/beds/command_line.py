"""The command line, run within this process or in one of its own."""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

from beds import documents
from beds.mpis import MPIS, PATIENCE, SCRIPTS
from isochrone.cli.main import main

Answer = subprocess.CompletedProcess[str]
Command = Callable[..., Answer]

# What Python does not show to users unless they ask for it.
HIDDEN = (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning)


def run_here(*args: object, cwd: Path | None = None, **environ: str) -> Answer:
    """Run the command line within this process; a Python warning, which users would see, fails.

    So does a JSON document that is not as it is declared.
    """
    argv = ["isochrone", *map(str, args)]
    stdout, stderr = io.StringIO(), io.StringIO()
    with contextlib.ExitStack() as stack:
        stack.enter_context(contextlib.redirect_stdout(stdout))
        stack.enter_context(contextlib.redirect_stderr(stderr))
        stack.enter_context(contextlib.chdir(cwd or Path.cwd()))
        stack.enter_context(patch.dict(os.environ, settings(environ)))
        stack.enter_context(patch.object(sys, "argv", argv))
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("error")
        for category in HIDDEN:
            warnings.simplefilter("ignore", category)
        try:
            code = main()
        except SystemExit as end:  # argparse
            code = int(end.code or 0)
    if code < 2:
        documents.check_printed(args, stdout.getvalue())
    return Answer(argv, code, stdout.getvalue(), stderr.getvalue())


def run_process(*args: object, cwd: Path | None = None, **environ: str) -> Answer:
    """Run the command line as a user does, in a process of its own."""
    program = shutil.which("isochrone", path=str(SCRIPTS))
    assert program, "isochrone is not installed beside this Python"
    return subprocess.run(
        [program, *map(str, args)],
        cwd=cwd,
        env={**os.environ, **settings(environ)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


def settings(environ: dict[str, str]) -> dict[str, str]:
    """What the environment has in addition: the MPI that every functional test may use."""
    return {"MPICC": str(MPIS["mpich-wheel"]), **environ}
