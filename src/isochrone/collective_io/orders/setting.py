"""Settings of a call that need no change of the program: hints, what they cost, and choices.

The hosts of ``cb_config_list`` are named once each, and their aggregators are the first of their
ranks: ``n1:2,n4,*:1`` is two ranks of n1, one of n4, then one of each other host in rank order. So
not every order of aggregators can be expressed, and the length of a hint limits the named hosts.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np
from msgspec.structs import replace

from isochrone.base.arrays import Bools
from isochrone.base.documents import Hidden, Inline, shown
from isochrone.base.errors import InputError
from isochrone.base.record import Record
from isochrone.base.table import grouped
from isochrone.base.text import shell_word
from isochrone.base.units import format_bytes
from isochrone.collective_io.predict.node_cost import NodeCost, gap_to, predict
from isochrone.collective_io.predict.whole_call import WholeCall, WholeCost
from isochrone.collective_io.workload import Ints, Numbers, expanded
from isochrone.collective_io.workload.call import BUFFER, DEFAULT, Call, aggregators
from isochrone.collective_io.workload.traffic import Layout, RoundKind, layout_of
from isochrone.measure.placement import absolute


class Stripes(Record):
    """Layout of a file on Lustre.

    Attributes
    ----------
    count
        OSTs (``striping_factor``).
    size
        Bytes of a stripe (``striping_unit``).
    ratio
        Aggregators for each OST (``romio_lustre_co_ratio``).
    """

    count: int
    size: int
    ratio: int = 1


class Setting(NamedTuple):
    """Hints of a file.

    Attributes
    ----------
    config
        ``cb_config_list``: which hosts have aggregators, how many, and in which order.
    nodes
        ``cb_nodes``: maximum number of aggregators; None: all of the list.
    buffer
        ``cb_buffer_size`` in bytes; None: unchanged.
    collective
        Whether data are exchanged at all (``romio_cb_write``, ``romio_cb_read``); None: unchanged.
    stripes
        Layout on Lustre; None: unchanged.
    """

    config: str = DEFAULT
    nodes: int | None = None
    buffer: int | None = None
    collective: bool | None = None
    stripes: Stripes | None = None

    def of(self, call: Call) -> Call:
        """Return a call with this setting's buffer and stripes."""
        buffered = call if self.buffer is None else replace(call, buffer=self.buffer)
        if self.stripes is None:
            return buffered
        s = self.stripes
        return replace(buffered, stripe=s.size, targets=s.count, ratio=s.ratio)

    def hints(self, *, reading: bool | None = None) -> dict[str, str]:
        """Return the hints for ROMIO; unset ones are left out.

        ``reading``: whether collective buffering is set for reads or for writes; None: both.
        """
        values: dict[str, object] = {}
        if self.collective is not None:
            ops = [
                op for op, reads in (("write", False), ("read", True)) if reading in (None, reads)
            ]
            value = "enable" if self.collective else "disable"
            values = dict.fromkeys((f"romio_cb_{op}" for op in ops), value)
        if self.collective is not False:
            values["cb_config_list"] = self.config
            values |= {"cb_nodes": self.nodes, "cb_buffer_size": self.buffer}
        if self.stripes is not None:
            names = ("striping_factor", "striping_unit", "romio_lustre_co_ratio")
            s = self.stripes
            values |= zip(names, (s.count, s.size, s.ratio), strict=True)
        return {key: str(value) for key, value in values.items() if value is not None}

    @property
    def words(self) -> str:
        """Description in a line."""
        if self.collective is False:
            return "without collective buffering"
        clauses = ["with collective buffering"] if self.collective else []
        clauses.append(f"cb_config_list {self.config}")
        if self.nodes is not None:
            clauses.append(f"cb_nodes {self.nodes}")
        if self.buffer is not None:
            clauses.append(f"cb_buffer_size {format_bytes(self.buffer)}")
        if self.stripes is not None:
            s = self.stripes
            clauses.append(f"striped over {s.count} in {format_bytes(s.size)}, co-ratio {s.ratio}")
        return " · ".join(clauses)


GIVEN = Setting()
"""What ROMIO does without hints."""


# --- choices -------------------------------------------------------------------------------------

EQUAL_SETTINGS = 0.005
"""Settings within this fraction are equal: then the one that changes less is first."""


class Choice(Record):
    """A setting and the predicted time of a call with it.

    Attributes
    ----------
    setting
        The hints.
    aggregators
        Ranks that serve, in the order of the file domains; none without collective buffering.
    seconds
        Of the call, or of its exchange if no more is known.
    exchange
        Seconds of the exchange by the model of a node.
    parts
        Of the whole call; None if only the exchange is known.
    words
        Description of the setting.
    memory
        Bytes of buffers on the host with most aggregators.
    lever
        The kind of change: ``given`` (nothing), ``order``, ``number``, ``buffer``, ``stripes``,
        ``switch`` (collective buffering on or off) or ``all``.
    lower_bound
        Lower bound for all orders with this number of aggregators and these buffers.
    given_seconds
        Of the call with the given setting.
    """

    setting: Inline[Setting]
    aggregators: Hidden[list[int]]
    seconds: float
    exchange: Hidden[float]
    parts: Hidden[WholeCost | None]
    words: str
    memory: int = 0
    lever: str = "all"
    lower_bound: Hidden[float] = 0.0
    given_seconds: Hidden[float] = 0.0

    @property
    @shown
    def serving(self) -> Annotated[int, "as aggregators"]:
        """Number of aggregators."""
        return len(self.aggregators)

    @property
    @shown
    def bound(self) -> Annotated[float | None, "as lower_bound"]:
        """The lower bound; null: not known."""
        return self.lower_bound or None

    @property
    @shown
    def gain(self) -> float:
        """How many times as fast as given."""
        return self.given_seconds / self.seconds

    @property
    def gap(self) -> float:
        """How far another order may be better, as a part of the bound."""
        return gap_to(self.seconds, self.lower_bound)

    @property
    def changes(self) -> int:
        """How many hints it sets."""
        return sum(hint != default for hint, default in zip(self.setting, GIVEN, strict=True))

    def with_exchange(self, seconds: float) -> float:
        """Return what the call takes if the model gives the exchange another time."""
        if self.parts is None:
            return seconds
        share = self.parts.parts["exchange"] if self.exchange else 0.0
        return self.seconds + share * (seconds / self.exchange - 1) if share else self.seconds


class SettingCosts(Record):
    """Predicts the time of a call with any setting.

    Attributes
    ----------
    call
        The call with the given setting.
    by_rank
        Host of each rank.
    model
        What messages cost a node.
    whole
        Times of the other phases; None: only the exchange counts.
    """

    call: Call
    by_rank: Sequence[str]
    model: NodeCost
    whole: WholeCall | None = None

    @cached_property
    def layout(self) -> Layout:
        """Runs of ranks on a host, and the hosts."""
        return layout_of(self.by_rank)

    @cached_property
    def alone_is_known(self) -> bool:
        """Whether the time of the call without an exchange is known."""
        return self.whole is not None and self.whole.independent(self.call) is not None

    def kinds(self, setting: Setting, count: int) -> list[RoundKind]:
        """Return the rounds with so many aggregators."""
        return setting.of(self.call).round_kinds(count)

    def of(self, setting: Setting, ranks: list[int] | None = None) -> Choice | None:
        """Return the time of a setting; None if unknown.

        ``ranks`` are the aggregators, if not those that ROMIO takes.
        """
        if setting.collective is False:
            alone = self.whole.independent(self.call) if self.whole else None
            return Choice(setting, [], alone.seconds, 0.0, alone, setting.words) if alone else None
        if ranks is None:
            ranks = aggregators(self.by_rank, setting.config, setting.nodes)
        kinds = self.kinds(setting, len(ranks))
        exchange = predict(kinds, self.layout, ranks, self.model).seconds
        call = setting.of(self.call)
        parts = self.whole.predict(call, self.by_rank, ranks) if self.whole else None
        seconds = parts.seconds if parts else exchange
        memory = self.memory(setting, ranks)
        return Choice(setting, ranks, seconds, exchange, parts, setting.words, memory)

    def memory(self, setting: Setting, ranks: Sequence[int]) -> int:
        """Return the bytes of buffers on the host with most aggregators."""
        per_host = Counter(self.by_rank[rank] for rank in ranks)
        call = setting.of(self.call)
        buffer = call.stripe if call.cyclic else call.buffer or BUFFER
        return buffer * max(per_host.values(), default=0)


LEVERS = {
    "given": "nothing",
    "order": "order",
    "switch": "on or off",
    "number": "number",
    "buffer": "buffer",
    "stripes": "stripes",
    "all": "several",
}
"""What a choice changes. Equal settings are merged: the first of these wins, with the best bound of
all."""


def ranked(choices: Iterable[Choice]) -> list[Choice]:
    """Sort choices, best first; of equal ones the given one, or the one that sets least.

    Of settings with the same aggregators, such as those of other buffers, the best is listed.
    """
    remaining = []
    for same in grouped((choice.setting, choice) for choice in choices).values():
        first = min(same, key=lambda choice: [*LEVERS].index(choice.lever))
        bound = max(choice.lower_bound for choice in same)
        remaining.append(replace(first, lower_bound=min(bound, first.seconds)))
    order: list[Choice] = []
    while remaining:
        longest = min(choice.seconds for choice in remaining) * (1 + EQUAL_SETTINGS)
        alike = [choice for choice in remaining if choice.seconds <= longest]
        best = min(alike, key=lambda c: (c.lever != "given", c.changes, c.memory, c.seconds))
        remaining.remove(best)
        if best.lever != "all" or all(best.aggregators != choice.aggregators for choice in order):
            order.append(best)
    return order


# --- hosts of a hint -----------------------------------------------------------------------------

VALUE_LIMIT = 1023
"""Characters of a hint: ``MPI_MAX_INFO_VAL`` of MPICH is 1024, the end of the string included."""


class HintList(Record, eq=False):
    """Hosts with a number of aggregators each, of which some are named and the others follow.

    Attributes
    ----------
    layout
        The hosts, in rank order, and the ranks of each.
    counts
        Aggregators of each host, at most its ranks.
    others
        ``n`` of the ``*:n`` at the end of the list; None: ``*:*``, all ranks.
    """

    layout: Layout
    counts: Ints
    others: int | None = 1

    @cached_property
    def must(self) -> Bools:
        """Whether a host must be named, because its number differs from ``others``."""
        ranks = self.layout.ranks
        default_counts = ranks if self.others is None else np.minimum(self.others, ranks)
        return np.asarray(self.counts != default_counts)

    @cached_property
    def _items(self) -> list[str]:
        pairs = zip(self.layout.hosts, self.counts.tolist(), strict=True)
        return [host if count == 1 else f"{host}:{count}" for host, count in pairs]

    @cached_property
    def _lengths(self) -> Ints:
        return np.array([len(item) + 1 for item in self._items], np.int64)

    @property
    def end(self) -> str:
        """The last item: all hosts that are not named."""
        return "*:*" if self.others is None else f"*:{self.others}"

    def config(self, named: Numbers) -> str:
        """Return the value of ``cb_config_list``.

        The end is needed: otherwise hosts without a name serve nothing.
        """
        return ",".join([*(self._items[int(k)] for k in named), self.end])

    def fits(self, named: Numbers) -> bool:
        """Whether these hosts fit into a hint and include all that must be named."""
        named = np.asarray(named, np.int64)
        short = int(self._lengths[named].sum()) + len(self.end) <= VALUE_LIMIT
        return short and int(self.must[named].sum()) == int(self.must.sum())

    def completed(self, named: Numbers) -> Ints:
        """Let all hosts that are not named follow in their own order, as ``*:n`` does."""
        named = np.asarray(named, np.int64)
        return np.concatenate([named, np.delete(np.arange(len(self.counts)), named)])

    def room(self, order: Ints) -> int:
        """Return how many hosts of an order, from its first on, a hint can name."""
        lengths = np.cumsum(self._lengths[order]) + len(self.end)
        return int(np.searchsorted(lengths, VALUE_LIMIT, side="right"))

    def longest(self, order: Ints) -> Ints:
        """Return the hosts of an order that a hint can name: the first ones, and those it must."""
        if self.fits(order):
            return order
        for room in range(self.room(order), -1, -1):
            late = order[room:]
            named = np.concatenate([order[:room], late[self.must[late]]])
            if self.fits(named):
                return named
        return np.flatnonzero(self.must)

    def aggregators(self, order: Ints) -> list[int]:
        """Return the ranks that serve, in the order of the file domains."""
        by_host = np.argsort(self.layout.of_rank, kind="stable")
        first = np.cumsum(self.layout.ranks) - self.layout.ranks
        ranks: list[int] = by_host[expanded(first[order], self.counts[order])[1]].tolist()
        return ranks


def listed(layout: Layout, config: str = DEFAULT) -> HintList:
    """Return how many aggregators hosts have by a list, in any order of it.

    By a list that leaves hosts out they have one each, as by default.
    """
    node = layout.of_rank
    match = re.fullmatch(r"(?:.*,)?\s*\*:([1-9][0-9]{0,8}|\*)\s*", config)
    others = 1 if match is None else None if match[1] == "*" else int(match[1])
    served = aggregators([layout.hosts[k] for k in node.tolist()], config)
    counts = np.bincount(node[served], minlength=layout.nodes).astype(np.int64)
    return HintList(layout, counts, others) if counts.all() else listed(layout)


# --- hints file of ROMIO -------------------------------------------------------------------------

HINTS_FILE = "romio-hints"

HINTS_LIMIT = 4096
"""Bytes of a hints file: ``HINTFILE_MAX_SIZE`` of ``system_hints.c``."""

NO_EFFECT = (
    "with OMPIO, the default of Open MPI 5 (its ROMIO: --mca io romio341), and with Open MPI 6",
    "if the application itself sets cb_config_list or cb_nodes",
    "if the ranks' accesses do not interleave and romio_cb_write is not 'enable'",
    "for files that are already open, or in a process that has already read its hints",
)
"""Where the hints have no effect."""


def hints_text(hints: Mapping[str, str], comment: str = "") -> str:
    """Return the text of a hints file: ``key value``, one a line, below a comment of one line.

    Raises
    ------
    InputError
        If the lines would not fit into a hints file.
    """
    content = f"# {comment}\n" if comment else ""
    content += "".join(f"{key} {value}\n" for key, value in hints.items())
    if len(content.encode()) > HINTS_LIMIT:
        raise InputError(f"the hints are too long: ROMIO reads {HINTS_LIMIT} bytes")
    return content


def hints_environment(path: Path, config: str) -> list[str]:
    """Return the lines that make the next program use the hints.

    Cray's variable separates patterns of file names by commas as well, so a list may be misread;
    the first line makes the library print what it understood.
    """
    return [
        f"export ROMIO_HINTS={shell_word(absolute(path))}",
        f"Cray: export MPICH_MPIIO_HINTS_DISPLAY=1 MPICH_MPIIO_HINTS='*:cb_config_list={config}'",
    ]
