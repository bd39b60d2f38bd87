"""A setting of a collective call that was compared with others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Final

from isochrone.base.documents import Hidden, Inline, shown
from isochrone.base.units import format_bytes
from isochrone.collective_io.aggregators.setting import GIVEN, Setting
from isochrone.collective_io.predict.whole_call import WholeCost

ALIKE: Final = 0.005
"""Settings within this fraction are equal: then the one that changes less is first."""


@dataclass(frozen=True)
class Choice:
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
        return self.seconds / self.lower_bound - 1 if self.lower_bound > 0 else float("inf")

    @property
    def changes(self) -> int:
        """How many hints it sets."""
        pairs = zip(vars(self.setting).values(), vars(GIVEN).values(), strict=True)
        return sum(value != usual for value, usual in pairs)


_LEVERS: Final = ("given", "order", "switch", "number", "buffer", "stripes", "all")
"""Equal settings are merged: the first of these wins, with the best bound of all."""


def ranked(found: Iterable[Choice]) -> list[Choice]:
    """Sort choices, best first; of equal ones the given one, or the one that sets least.

    Of settings with the same aggregators, such as those of other buffers, the best is listed.
    """
    by_setting: dict[Setting, list[Choice]] = {}
    for choice in found:
        by_setting.setdefault(choice.setting, []).append(choice)
    rest = [_joined(same) for same in by_setting.values()]
    order: list[Choice] = []
    served: list[list[int]] = []
    while rest:
        least = min(choice.seconds for choice in rest)
        alike = [choice for choice in rest if choice.seconds <= least * (1 + ALIKE)]
        best = min(alike, key=lambda c: (c.lever != "given", c.changes, c.memory, c.seconds))
        rest.remove(best)
        if best.lever != "all" or best.aggregators not in served:
            order.append(best)
            served.append(best.aggregators)
    return order


def _joined(same: Sequence[Choice]) -> Choice:
    first = min(same, key=lambda choice: _LEVERS.index(choice.lever))
    bound = max(choice.lower_bound for choice in same)
    return replace(first, lower_bound=min(bound, first.seconds))


def words_of(setting: Setting) -> str:
    """Describe a setting in a line."""
    if setting.collective is False:
        return "without collective buffering"
    said = [f"cb_config_list {setting.config}"]
    if setting.collective:
        said.insert(0, "with collective buffering")
    if setting.nodes is not None:
        said.append(f"cb_nodes {setting.nodes}")
    if setting.buffer is not None:
        said.append(f"cb_buffer_size {format_bytes(setting.buffer)}")
    if setting.stripes is not None:
        s = setting.stripes
        said.append(f"striped over {s.count} in {format_bytes(s.size)}, co-ratio {s.ratio}")
    return " · ".join(said)
