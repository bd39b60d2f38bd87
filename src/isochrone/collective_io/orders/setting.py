"""Settings of a call that need no change of the program, what they cost, and choices of them."""

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Annotated, NamedTuple

from msgspec.structs import replace

from isochrone.base.documents import Hidden, Inline, shown
from isochrone.base.record import Record
from isochrone.base.table import grouped
from isochrone.base.units import format_bytes
from isochrone.collective_io.predict.node_cost import NodeCost, gap_to, predict
from isochrone.collective_io.predict.whole_call import WholeCall, WholeCost
from isochrone.collective_io.workload.call import DEFAULT, Call, aggregators
from isochrone.collective_io.workload.traffic import Layout, RoundKind, layout_of

BUFFER = 16 * 1024**2
"""Default of ROMIO's ``cb_buffer_size``."""


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
        hints: dict[str, str] = {}
        if self.collective is not None:
            value = "enable" if self.collective else "disable"
            hints |= {"romio_cb_write": value} if reading is not True else {}
            hints |= {"romio_cb_read": value} if reading is not False else {}
        if self.collective is not False:
            hints["cb_config_list"] = self.config
            numbers = {"cb_nodes": self.nodes, "cb_buffer_size": self.buffer}
            hints |= {key: str(value) for key, value in numbers.items() if value is not None}
        if self.stripes is not None:
            s = self.stripes
            hints |= {"striping_factor": str(s.count), "striping_unit": str(s.size)}
            hints["romio_lustre_co_ratio"] = str(s.ratio)
        return hints


GIVEN = Setting()
"""What ROMIO does without hints."""


# --- costs ---------------------------------------------------------------------------------------

# Time of a call with a setting: of the exchange, by a node model, or of the whole call.


class SettingCost(Record):
    """Predicted time of a call.

    Attributes
    ----------
    seconds
        Of the whole call, or of the exchange if the other phases are unknown.
    exchange
        Seconds of the exchange by the model of a node.
    aggregators
        Ranks that serve, in the order of the file domains; none without collective buffering.
    parts
        Of the whole call; None if only the exchange is known.
    """

    seconds: float
    exchange: float
    aggregators: list[int]
    parts: WholeCost | None

    def with_exchange(self, seconds: float) -> float:
        """Return what the call takes if the model gives the exchange another time."""
        if self.parts is None:
            return seconds
        share = self.parts.parts["exchange"]
        if not share or not self.exchange:
            return self.seconds
        return self.seconds + share * (seconds / self.exchange - 1)


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
        return self.of(Setting(collective=False)) is not None

    def kinds(self, setting: Setting, count: int) -> list[RoundKind]:
        """Return the rounds with so many aggregators."""
        return setting.of(self.call).round_kinds(count)

    def of(self, setting: Setting, ranks: list[int] | None = None) -> SettingCost | None:
        """Return the time of a setting; None if unknown.

        ``ranks`` are the aggregators, if not those that ROMIO takes.
        """
        if setting.collective is False:
            independent = self.whole.independent(self.call) if self.whole else None
            return (
                None
                if independent is None
                else SettingCost(independent.seconds, 0.0, [], independent)
            )
        if ranks is None:
            ranks = aggregators(self.by_rank, setting.config, setting.nodes)
        kinds = self.kinds(setting, len(ranks))
        exchange = predict(kinds, self.layout, ranks, self.model).seconds
        if self.whole is None:
            return SettingCost(exchange, exchange, ranks, None)
        whole_cost = self.whole.predict(setting.of(self.call), self.by_rank, ranks)
        return SettingCost(whole_cost.seconds, exchange, ranks, whole_cost)

    def memory(self, setting: Setting, ranks: Sequence[int]) -> int:
        """Return the bytes of buffers on the host with most aggregators."""
        per_host = Counter(self.by_rank[rank] for rank in ranks)
        call = setting.of(self.call)
        buffer = call.stripe if call.cyclic else call.buffer or BUFFER
        return buffer * max(per_host.values(), default=0)


# --- choices -------------------------------------------------------------------------------------

# A setting of a collective call that was compared with others.

EQUAL_SETTINGS = 0.005
"""Settings within this fraction are equal: then the one that changes less is first."""


class Choice(Record):
    """A setting and the time of a call with it.

    Attributes
    ----------
    setting
        The hints.
    aggregators
        Ranks that serve, in the order of the file domains; none without collective buffering.
    seconds, given_seconds
        Of the call, or of its exchange if no more is known; with this and with the given setting.
    lower_bound
        Lower bound for all orders with this number of aggregators and these buffers.
    parts
        Of the whole call; None if only the exchange is known.
    words
        Description of the setting.
    memory
        Bytes of buffers on the host with most aggregators.
    lever
        The kind of change: ``given`` (nothing), ``order``, ``number``, ``buffer``, ``stripes``,
        ``switch`` (collective buffering on or off) or ``all``.
    """

    setting: Inline[Setting]
    aggregators: Hidden[list[int]]
    seconds: float
    given_seconds: Hidden[float]
    lower_bound: Hidden[float]
    parts: Hidden[WholeCost | None]
    words: str
    memory: int = 0
    lever: str = "all"

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
    remaining = [
        _joined(same) for same in grouped((choice.setting, choice) for choice in choices).values()
    ]
    order: list[Choice] = []
    while remaining:
        shortest = min(choice.seconds for choice in remaining)
        alike = [
            choice for choice in remaining if choice.seconds <= shortest * (1 + EQUAL_SETTINGS)
        ]
        best = min(alike, key=lambda c: (c.lever != "given", c.changes, c.memory, c.seconds))
        remaining.remove(best)
        if best.lever != "all" or all(best.aggregators != choice.aggregators for choice in order):
            order.append(best)
    return order


def _joined(same: Sequence[Choice]) -> Choice:
    first = min(same, key=lambda choice: [*LEVERS].index(choice.lever))
    bound = max(choice.lower_bound for choice in same)
    return replace(first, lower_bound=min(bound, first.seconds))


def words_of(setting: Setting) -> str:
    """Describe a setting in a line."""
    if setting.collective is False:
        return "without collective buffering"
    clauses = [f"cb_config_list {setting.config}"]
    if setting.collective:
        clauses.insert(0, "with collective buffering")
    if setting.nodes is not None:
        clauses.append(f"cb_nodes {setting.nodes}")
    if setting.buffer is not None:
        clauses.append(f"cb_buffer_size {format_bytes(setting.buffer)}")
    if setting.stripes is not None:
        s = setting.stripes
        clauses.append(f"striped over {s.count} in {format_bytes(s.size)}, co-ratio {s.ratio}")
    return " · ".join(clauses)
