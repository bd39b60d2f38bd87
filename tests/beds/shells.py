"""The shells that complete command lines: what each of them offers at a TAB, and how long it takes.

Each is the real one, started without the user's own settings. Bash and fish are asked by what they
have for scripts; zsh completes in its line editor only, so it gets a terminal.
"""

from __future__ import annotations

import os
import pty
import re
import select
import shutil
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from beds.mpis import missing

PATIENCE = 60.0

BASH = r"""
source "$1"
COMP_LINE="$2"; COMP_POINT=${#2}
read -ra COMP_WORDS <<< "$2"
[[ "$2" == *" " ]] && COMP_WORDS+=("")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
completer=$(complete -p isochrone | sed -E 's/.*-F ([^ ]+).*/\1/')
began=${EPOCHREALTIME/[.,]/}
$completer isochrone "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
ended=${EPOCHREALTIME/[.,]/}
printf '%s\n' "$((ended - began))" "${COMPREPLY[@]}"
"""

FISH = r"""
source $argv[1]
complete -C"isochrone " >/dev/null
set began (date +%s%N)
set found (complete -C"$argv[2]")
set ended (date +%s%N)
math \($ended - $began\) / 1000
printf '%s\n' $found
"""


def program(name: str) -> str:
    """Return the path of a shell, or skip the test."""
    found = shutil.which(name)
    if found is None:
        missing("shells", f"there is no {name}")
    return found


Offer = tuple[float, list[str]]
"""Seconds from the TAB on, and the words that are offered; of zsh with their descriptions."""


def bash(script: Path, lines: Sequence[str]) -> list[Offer]:
    """Return what bash offers for the end of each line."""
    return [
        _asked([program("bash"), "--norc", "-c", BASH, "bash", str(script), line]) for line in lines
    ]


def fish(script: Path, lines: Sequence[str]) -> list[Offer]:
    """Return what fish offers for the end of each line."""
    return [
        _asked([program("fish"), "--no-config", "-c", FISH, str(script), line]) for line in lines
    ]


def _asked(argv: list[str]) -> Offer:
    answer = subprocess.run(argv, capture_output=True, text=True, timeout=PATIENCE, check=True)
    took, *words = answer.stdout.splitlines()
    return float(took) / 1e6, [word.split("\t")[0] for word in words if word.strip()]


def zsh(script: Path, lines: Sequence[str]) -> list[Offer]:
    """Return what zsh lists for the end of each line."""
    argv, folder = [program("zsh"), "-f", "-i"], script.parent
    (folder / "_isochrone").write_text(script.read_text())
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(folder)
        os.environ.update(TERM="dumb", COLUMNS="200", LINES="200")
        os.execv(argv[0], argv)
    try:
        os.write(
            terminal,
            (
                f"PS1=; fpath=({folder} $fpath); autoload -U compinit; compinit -u "
                f"-d {folder}/dump; LISTMAX=10000; setopt list_rows_first; zstyle ':completion:*' "
                "list-packed no; zstyle ':completion:*' list-separator '#'; echo RE''ADY\n"
            ).encode(),
        )
        _until(terminal, "READY")
        os.write(terminal, b"isochrone \x04\x15")  # loads what is loaded once
        _until(terminal, "tune")
        found = []
        for number, line in enumerate(lines):
            began = time.monotonic()
            ask = f"{line}\x04\x15echo DO''NE{number}\n"  # list, clear, say so
            os.write(terminal, ask.encode())
            text, ended = _until(terminal, f"DONE{number}")
            found.append((ended - began, re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", " ", text).split()))
        return found
    finally:
        os.close(terminal)
        os.kill(child, 9)
        os.waitpid(child, 0)


def _until(terminal: int, word: str) -> tuple[str, float]:
    """Read what is shown until a word comes and nothing more follows; return the time it came."""
    text, came, end = "", 0.0, time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if select.select([terminal], [], [], 0.3)[0]:
            text += os.read(terminal, 65536).decode(errors="replace")
            came = came or (time.monotonic() if word in text else 0.0)
        elif came:
            return text, came
    raise AssertionError(f"{word} did not come: {text[-2000:]}")


SHELLS: dict[str, Callable[[Path, Sequence[str]], list[Offer]]] = {
    "bash": bash,
    "zsh": zsh,
    "fish": fish,
}
