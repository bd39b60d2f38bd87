"""Commands in which the n-th write, rename, start of a process, or allocation fails.

A program of its own, ``python -m beds.nth_fails FAMILY:HOW:STEP,... WORDS... -o FILE``, with the
library of nth_fails.c before it: each run of the command is a child of a process that has run it
once, so that nothing is imported any more and calls count the same each time. It prints a line of
JSON for each n, up to the first run that had fewer calls than n: no fault was left to be met.
"""

from __future__ import annotations

import contextlib
import ctypes
import itertools
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from beds.mpis import PATIENCE
from isochrone.base.errors import InputError
from isochrone.cli.main import main
from isochrone.models import read as read_model
from isochrone.runfile.file import read

__all__ = ["FAMILIES", "HOWS", "build", "in_one_process", "wrong_ending", "wrong_file"]

FAMILIES = ("write", "rename", "fork", "memory")

HOWS = ("once", "from-then-on")

OLD = "what was there before\n"

CHAR_MAPS = "i exceeds the available number of char maps"
"""What Matplotlib says of a font for a part of which there was no memory: it cannot be known."""


def build(folder: Path) -> Path:
    """Compile the library."""
    library = folder / "nth_fails.so"
    source = Path(__file__).with_name("nth_fails.c")
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", source, "-o", library, "-ldl"], check=True)
    return library


def in_one_process(
    library: Path, faults: Sequence[str], *words: str | Path, environ: Mapping[str, str]
) -> list[dict[str, Any]]:
    """Run a command with faults ``FAMILY:HOW:STEP``; return what is wrong after each n."""
    argv = [sys.executable, "-m", "beds.nth_fails", ",".join(faults), *map(str, words)]
    path = os.pathsep.join([str(Path(__file__).parents[1]), *sys.path])
    answer = subprocess.run(
        argv,
        check=False,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=4 * PATIENCE,
        env={**os.environ, "LD_PRELOAD": str(library), "PYTHONPATH": path, **environ},
    )
    assert answer.returncode == 0, answer.stderr
    return [json.loads(line) for line in answer.stdout.splitlines() if line.startswith("{")]


def wrong_ending(code: int, said: str, family: str) -> list[str]:
    """Say what is wrong about how a command has ended."""
    if family == "memory" and (code == -signal.SIGSEGV or CHAR_MAPS in said):
        return []  # NumPy crashes where it gets no memory for a buffer: no fault of ours
    wrong = []
    if code not in (0, 2, 3) and not 128 < code < 160:
        wrong.append(f"exit code {code}")
    if "Traceback" in said:
        wrong.append("a traceback")
    lines = [line for line in said.splitlines() if line.startswith("isochrone: ")]
    lines = [line for line in lines if "as root" not in line]
    if len(lines) != (code != 0):
        wrong.append(f"{len(lines)} lines")
    return wrong


def wrong_file(out: Path, code: int) -> list[str]:
    """Say what is wrong with the file that a command writes, and with the folder it is in."""
    wrong = []
    left = sorted(path.name for path in out.parent.iterdir())
    if left not in ([out.name], []):
        wrong.append(f"there are {left}")
    text = out.read_text() if out.exists() else OLD
    if code == 0 and text == OLD:
        wrong.append("nothing was written")
    if text == OLD:
        return wrong
    try:
        if out.suffix == ".json":
            read_model(out)
        elif out.suffix == ".html":
            assert text.rstrip().endswith("</html>")
        elif read(out).complete != (code == 0) and code == 0:
            wrong.append("a partial run")
    except (InputError, AssertionError) as error:
        wrong.append(f"unreadable: {error}")
    return wrong


def _tried(words: list[str], out: Path, n: int, family: str, how: str) -> dict[str, Any]:
    """Run the command in a child with one fault."""
    if out.suffix != ".jsonl":
        out.write_text(OLD)
    logs = out.parent.parent
    receive, send = os.pipe()
    child = os.fork()
    if not child:
        _child(words, logs, n, family, how, send)
    os.close(send)
    with open(receive) as counted:  # noqa: PTH123 - a pipe
        calls = counted.read()
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    said = (logs / "stderr").read_text()
    wrong = [*wrong_ending(code, said, family), *wrong_file(out, code)]
    if out.suffix == ".jsonl":
        out.unlink(missing_ok=True)
    return {
        "fault": f"{family}:{how}",
        "n": n,
        "calls": int(calls or n),
        "code": code,
        "wrong": wrong,
        "said": said[-800:],
    }


def _child(words: list[str], logs: Path, n: int, family: str, how: str, send: int) -> NoReturn:
    for name, fd in (("stdout", 1), ("stderr", 2)):
        with (logs / name).open("w") as stream:
            os.dup2(stream.fileno(), fd)
    code = 1
    try:
        LIBRARY.iso_fault_arm(family.encode(), ctypes.c_long(n), ctypes.c_bool(how == "once"))
        code = main(words)
    except BaseException:  # what Python would print at its end
        calls = _disarmed()
        sys.excepthook(*sys.exc_info())  # type: ignore[arg-type]
    else:
        calls = _disarmed()
    with contextlib.suppress(OSError):
        sys.stderr.flush()
    os.write(send, str(calls).encode())
    os._exit(code)


def _disarmed() -> int:
    calls = int(LIBRARY.iso_fault_calls())
    LIBRARY.iso_fault_arm(b"-", ctypes.c_long(0), ctypes.c_bool(0))
    return calls


def _all(words: list[str], faults: str) -> Iterator[dict[str, Any]]:
    out = Path(words[words.index("-o") + 1])
    main(words)
    if out.suffix == ".jsonl":
        out.unlink()
    for fault in faults.split(","):
        family, how, step = fault.split(":")
        for n in itertools.count(1, int(step)):
            one = _tried(words, out, n, family, how)
            yield one
            if one["calls"] < n:
                break


if __name__ == "__main__":
    LIBRARY = ctypes.CDLL(None)
    LIBRARY.iso_fault_calls.restype = ctypes.c_long
    for found in _all(sys.argv[2:], sys.argv[1]):
        print("\n" + json.dumps(found), flush=True)
