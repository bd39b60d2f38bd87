"""The number of ranks of a test, from what a log says before it: a command, or a line that says so.

A command that names the program of another test says nothing about this one.
"""

import re
from collections.abc import Sequence

from isochrone.formats.source import MAX_FILE_RANKS

_STATED = re.compile(
    r"(?:\bnprocs\b(?!: \d+, min:)|\bnumber of (?:mpi )?(?:processes|ranks|tasks|procs)\b"
    r"|\bSLURM_NTASKS\b|\bmpi (?:processes|ranks|tasks)\b)\s*[:=]?\s*(\d{1,7})\b",
    re.IGNORECASE,
)
"""Such as ``# nprocs = 16`` and ``Number of processes: 16``."""

_COMMAND = re.compile(
    r"(?:\b(?:mpi(?:run|exec)(?:[._]\w+)?|orterun|prterun|prun|srun|yhrun|lrun|runjob|aprun|ibrun"
    r"|flux run)(?=\s)"
    r"|\$\{?\w+\}?(?=\s.*\b(?:osu_|IMB-)))(?P<words>\s.*)"
)
"""``mpirun -np 16 ./osu_bcast``; the launcher of a benchmark may be in a variable of the shell."""

_RANKS = re.compile(r"\s(?:--?np?|--ntasks)[ =]?(\d{1,7})(?=\s)")
"""The option ``-N`` of srun is of nodes."""

_NODES = re.compile(r"\s(?:-N|--nodes)[ =]?(\d{1,7})(?=\s)")
_PER_NODE = re.compile(r"\s--n?tasks-per-node[ =](\d{1,7})(?=\s)")

_INTEL = re.compile(r"\[\d+\] MPI startup\(\): +(Rank +Pid|(?P<rank>\d{1,7}) +\d+ +\S+ +\S+)")
"""The table of ranks that Intel MPI prints with ``I_MPI_DEBUG=3`` or more."""

_PROGRAM = re.compile(r"\bosu_\w+")
"""The program is one of such words: folders, files and jobs have such names, too."""


class LogRanks:
    """Sees the lines of a log, one after the other."""

    def __init__(self) -> None:
        self.command = ""
        self._ranks: int | None = None
        self._programs: list[str] = []

    def line(self, text: str) -> None:
        """Look at the next line; rows of tables and very long lines say nothing."""
        if text[:1].isdigit() or len(text) > 4096:
            return
        if intel := _INTEL.match(text):
            self._set(0 if intel["rank"] is None else max(int(intel["rank"]) + 1, self._ranks or 0))
        elif command := _COMMAND.search(text + " "):
            programs = _PROGRAM.findall(command["words"])
            if (ranks := _of_command(command["words"])) or programs:
                self.command = command[0].strip()
                self._set(ranks, programs)
        elif stated := _STATED.search(text):
            self._set(int(stated[1]))

    def of(self, test: str) -> int | None:
        """Return the number of ranks of a test that begins now; None if nothing says it."""
        return self._ranks if test in (self._programs or [test]) else None

    def _set(self, ranks: int, programs: Sequence[str] = ()) -> None:
        self._ranks = ranks if 0 < ranks <= MAX_FILE_RANKS else None
        self._programs = [*programs]


def _of_command(words: str) -> int:
    """Return the number of ranks that the options of a launcher say; 0 if they do not."""
    if ranks := _RANKS.search(words):
        return int(ranks[1])
    nodes, per_node = _NODES.search(words), _PER_NODE.search(words)
    return int(nodes[1]) * int(per_node[1]) if nodes and per_node else 0
