"""The nodes of a job and how many ranks each of them takes: typed, from a file, or from Slurm."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path

from isochrone.base.errors import InputError
from isochrone.base.files import read_bytes

MAX_ALLOCATED_NODES = 1_000_000
MAX_RANKS = 2**24
MAX_NAME = 255
MAX_TEXT = 1 << 26
"""Characters of all names of a list together."""

_COUNT = re.compile(r"\s*([0-9]{1,8})\s*(?:\(\s*x\s*([0-9]{1,8})\s*\))?\s*")
_RANGE = re.compile(r"([0-9]{1,9})(?:-([0-9]{1,9}))?")
_ITEM = r"(?:[^,\[\]\s]|\[[^\[\]]*\])+"
_NAME = re.compile(rf"[A-Za-z0-9][A-Za-z0-9._-]{{0,{MAX_NAME - 1}}}")


@dataclass(frozen=True)
class Allocation:
    """Nodes in the order in which they are given.

    Attributes
    ----------
    hosts
        Their names, each once.
    cores
        Ranks that each takes, at least 1.
    origin
        Where it is from, for a person: ``--nodes``, a file, ``the Slurm job``.
    host_of_rank
        Host of each rank, where that is known and not block by block; else empty.
    """

    hosts: tuple[str, ...]
    cores: tuple[int, ...]
    origin: str = "--nodes"
    host_of_rank: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.hosts:
            raise InputError("no nodes are given", where=self.origin)
        for host, count in zip(self.hosts, self.cores, strict=True):
            if count < 1:
                raise InputError(
                    f"node {host} cannot have {count} cores", where=self.origin, hint="remove it"
                )
        if self.ranks > MAX_RANKS:
            raise InputError(
                f"{self.ranks} ranks exceed the limit of {MAX_RANKS}", where=self.origin
            )

    @property
    def named(self) -> bool:
        """Whether the names are those of real hosts."""
        return not self.origin.startswith("--")

    @property
    def by_rank(self) -> list[str]:
        """Host of each rank."""
        pairs = zip(self.hosts, self.cores, strict=True)
        return list(self.host_of_rank) or [host for host, count in pairs for _ in range(count)]

    def reordered(self, order: Sequence[int]) -> Allocation:
        """Return the nodes in another order, filled one after the other."""
        hosts = tuple(self.hosts[k] for k in order)
        return Allocation(hosts, tuple(self.cores[k] for k in order), self.origin)

    @property
    def ranks(self) -> int:
        """Ranks on all nodes together."""
        return sum(self.cores)


def from_numbers(text: str, where: str = "--nodes") -> Allocation:
    """Read cores per node: ``4,4,2,2``, or ``4(x2),2(x2)`` as Slurm writes it.

    The nodes are called n0, n1 and so on.

    Raises
    ------
    InputError
        If it is not such a list, or a node has no core.
    """
    cores = _counts(text, where)
    return Allocation(tuple(f"n{k}" for k in range(len(cores))), tuple(cores), where)


def read_hostfile(path: Path) -> Allocation:
    """Read ``host:4`` (Hydra), ``host slots=4`` (Open MPI), or one line per rank (PBS), or a mix.

    Ranks are placed line by line: a host that comes again later has ranks of its own there. Only
    the slots that Open MPI is given for a host are added up.

    Raises
    ------
    InputError
        If it cannot be read, or a line is none of these.
    """
    lines = read_bytes(path).decode("utf-8", errors="replace").splitlines()
    ranks_of_host: Counter[str] = Counter()
    by_line = []
    added_up = False
    for line_number, line in enumerate(lines, start=1):
        fields = line.partition("#")[0].split()
        if not fields:
            continue
        where = f"{path}:{line_number}"
        name, colon, count = fields[0].partition(":")
        slots = [w.partition("=")[2] for w in fields[1:] if w.startswith("slots=")]
        if (slots and colon) or len(slots) > 1:
            raise InputError("the number of ranks is given twice", where=where)
        text = count if colon else (slots or ["1"])[0]
        if not _NAME.fullmatch(name):
            raise InputError(
                "the line has no valid host name", where=where, hint="write host:4 or host slots=4"
            )
        if not re.fullmatch("[0-9]{1,8}", text) or int(text) < 1:
            raise InputError(f"'{text[:20]}' is not a number of ranks of at least 1", where=where)
        ranks_of_host[name] += int(text)
        by_line.append((name, int(text)))
        added_up = added_up or bool(slots)
    if not ranks_of_host:
        raise InputError("the file contains no hosts", where=path)
    allocation = Allocation(tuple(ranks_of_host), tuple(ranks_of_host.values()), str(path))
    turns = sum(1 for _ in groupby(name for name, _ in by_line))
    if added_up or turns == len(ranks_of_host):
        return allocation
    return replace(allocation, host_of_rank=tuple(h for h, count in by_line for _ in range(count)))


def from_hosts(hosts: Sequence[str], origin: str) -> Allocation:
    """Return the nodes of a job from the host of each rank."""
    if not all(map(_NAME.fullmatch, hosts)):
        raise InputError("a rank has no host, or one with an invalid name", where=origin)
    counts = Counter(hosts)
    return Allocation(tuple(counts), tuple(counts.values()), origin, tuple(hosts))


def from_slurm(environ: Mapping[str, str]) -> Allocation:
    """Read the Slurm job we are in from its variables; ``scontrol`` is not needed.

    ``SLURM_TASKS_PER_NODE`` says how many ranks a node takes if the user asked for tasks,
    ``SLURM_JOB_CPUS_PER_NODE`` how many processors it has.

    Raises
    ------
    InputError
        If there is no job, or its variables cannot be read.
    """
    names = environ.get("SLURM_JOB_NODELIST") or environ.get("SLURM_NODELIST")
    key = "SLURM_JOB_CPUS_PER_NODE"
    if names is None or key not in environ:
        raise InputError(
            "this is not a Slurm job: SLURM_JOB_NODELIST or SLURM_JOB_CPUS_PER_NODE is missing",
            hint="use salloc or sbatch, or give --nodes or --hostfile",
        )
    hosts = expand_hosts(names, "SLURM_JOB_NODELIST")
    tasks = environ.get("SLURM_TASKS_PER_NODE") if "SLURM_NTASKS" in environ else None
    cores = _counts(tasks, "SLURM_TASKS_PER_NODE") if tasks else _counts(environ[key], key)
    if len(hosts) != len(cores):
        raise InputError(
            f"the job has {len(hosts)} nodes, but core counts for {len(cores)}",
            where="the Slurm job",
        )
    return Allocation(tuple(hosts), tuple(cores), "the Slurm job")


def expand_hosts(text: str, where: str) -> list[str]:
    """Expand ``n[0-2,7],login,r[1-2]c[01-03]`` as Slurm does; zeros in front are kept.

    Raises
    ------
    InputError
        If it cannot be read, or a name comes twice.
    """
    hosts = []
    if not re.fullmatch(f"{_ITEM}(?:,{_ITEM})*", text.strip()):
        raise InputError(f"{text[:60]!r} is not a valid list", where=where)
    for item in re.findall(_ITEM, text):
        hosts += _expand(item, where)
        if len(hosts) > MAX_ALLOCATED_NODES:
            raise InputError(f"the list has more than {MAX_ALLOCATED_NODES} nodes", where=where)
    if len(set(hosts)) != len(hosts):
        raise InputError("a node is listed twice", where=where)
    return hosts


def _expand(item: str, where: str) -> list[str]:
    names = [""]
    for plain, inside in re.findall(r"([^\[\]]+)|\[([^\]]*)\]", item):
        choices = [plain] if plain else _numbers(inside, where)
        if len(names) * len(choices) > MAX_ALLOCATED_NODES:
            raise InputError(f"the list has more than {MAX_ALLOCATED_NODES} nodes", where=where)
        length = len(names[0]) + len(choices[0])
        if length > MAX_NAME or len(names) * len(choices) * length > MAX_TEXT:
            raise InputError(f"{item[:60]!r}: the names are too long", where=where)
        names = [name + choice for name in names for choice in choices]
    for name in names:
        if not _NAME.fullmatch(name):
            raise InputError(f"{item[:60]!r} is not a valid list of hosts", where=where)
    return names


def _numbers(text: str, where: str) -> list[str]:
    """Expand what is between brackets: ``00-02,7``."""
    expanded: list[str] = []
    for entry in text.split(","):
        match = _RANGE.fullmatch(entry.strip())
        low, high = (match[1], match[2] or match[1]) if match else ("1", "0")
        if match is None or not 0 <= int(high) - int(low) < MAX_ALLOCATED_NODES:
            raise InputError(f"'[{text[:60]}]' is not a valid range", where=where)
        if len(expanded) + int(high) - int(low) >= MAX_ALLOCATED_NODES:
            raise InputError(f"the list has more than {MAX_ALLOCATED_NODES} nodes", where=where)
        expanded += [f"{node:0{len(low)}d}" for node in range(int(low), int(high) + 1)]
    return expanded


def _counts(text: str, where: str) -> list[int]:
    counts: list[int] = []
    for entry in text.split(","):
        match = _COUNT.fullmatch(entry)
        if match is None:
            raise InputError(
                f"'{entry[:20]}' is not a number of cores",
                where=where,
                hint="write 4,4,2 or 4(x2),2",
            )
        times = int(match[2] or 1)
        if len(counts) + times > MAX_ALLOCATED_NODES:
            raise InputError(f"the list has more than {MAX_ALLOCATED_NODES} nodes", where=where)
        counts += [int(match[1])] * times
    return counts
