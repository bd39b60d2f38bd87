"""Settings of ROMIO's collective buffering: which there are for a program, and as hints."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from isochrone.base.errors import InputError
from isochrone.base.units import format_bytes
from isochrone.collective_io.aggregators.assignment import assign, hint
from isochrone.collective_io.aggregators.collective_choice import choices
from isochrone.collective_io.aggregators.setting import GIVEN, Stripes
from isochrone.collective_io.predict.node_cost import NodeCost
from isochrone.collective_io.predict.whole_call import MeasuredCall, WholeCall
from isochrone.collective_io.workload.node_messages import layout_of

__all__ = ["Change", "independent_hints", "searched", "settings"]

LARGEST_BUFFER: Final = 256 * 1024**2
"""Of a buffer: every aggregator needs that much memory."""

MIB: Final = 1024**2

SEARCH: Final = 4.0
"""Seconds of a search for one call."""


@dataclass(frozen=True)
class Change:
    """What is changed of the hints in force.

    Attributes
    ----------
    config
        ``cb_config_list``; None: as it is.
    nodes
        ``cb_nodes``; None: as it is.
    buffer
        ``cb_buffer_size`` in bytes; None: as it is.
    stripes
        How a new file lies on Lustre; None: as it is.
    """

    config: str | None = None
    nodes: int | None = None
    buffer: int | None = None
    stripes: Stripes | None = None

    @property
    def levers(self) -> frozenset[str]:
        """What it changes."""
        config = self.config or ""
        several = re.search(r":([2-9]|[1-9]\d|\*$)", config) or self.nodes is not None
        found = {
            "order": not config.startswith("*") and bool(config), "number": bool(several),
            "buffer": self.buffer is not None, "stripes": self.stripes is not None,
        }  # fmt: skip
        return frozenset(name for name, changed in found.items() if changed)

    def hints(self) -> dict[str, str]:
        """Return it as hints."""
        pairs = {
            "cb_config_list": self.config, "cb_nodes": self.nodes, "cb_buffer_size": self.buffer,
        }  # fmt: skip
        if self.stripes is not None:
            pairs |= {
                "striping_factor": self.stripes.count, "striping_unit": self.stripes.size,
                "romio_lustre_co_ratio": self.stripes.ratio,
            }  # fmt: skip
        return {key: str(value) for key, value in pairs.items() if value is not None}

    @property
    def words(self) -> str:
        """Say what it changes."""
        found = []
        if "order" in self.levers:
            found.append(f"order of aggregators {self.config}")
        elif self.config is not None:
            found.append(f"aggregators {self.config}")
        if self.nodes is not None:
            found.append(f"{self.nodes} aggregators")
        if self.buffer is not None:
            found.append(f"buffers of {format_bytes(self.buffer)}")
        if self.stripes is not None:
            size = format_bytes(self.stripes.size)
            found.append(f"{self.stripes.count} stripes of {size} (of a new file)")
        return ", ".join(found) or "as given"


def settings(calls: Sequence[MeasuredCall], model: NodeCost) -> Iterator[Change]:
    """List settings that differ from the given ones, for the calls of a program."""
    collective = [one for one in calls if one.collective]
    hosts = list(dict.fromkeys(host for one in collective for host in one.by_rank))
    most = max(len(one.by_rank) for one in collective)
    seen = {Change()}
    for count in _numbers(len(hosts)):
        whole = count == len(hosts)
        configs = [None, *(_order(one, count, model) for one in collective)]
        for config in configs:
            for buffer in _buffers(collective, count):
                found = Change(config, None if whole else count, buffer)
                if found not in seen:
                    seen.add(found)
                    yield found
    for each in (2, 4, "*"):
        config, count = f"*:{each}", most if each == "*" else min(most, int(each) * len(hosts))
        for buffer in _buffers(collective, count):
            if most > len(hosts):
                yield Change(config, None, buffer)


def searched(one: MeasuredCall, model: NodeCost, whole: WholeCall) -> list[Change]:
    """Return the settings that a search finds for one call, the best first."""
    try:
        found = choices(one.call, one.by_rank, model, whole, seconds=SEARCH)
    except InputError:  # too many hosts, a driver without these hints
        return []
    return [
        Change(
            None if choice.setting.config == GIVEN.config else choice.setting.config,
            choice.setting.nodes, choice.setting.buffer, choice.setting.stripes,
        )
        for choice in found if choice.setting.collective is None
    ]  # fmt: skip


def independent_hints(calls: Sequence[MeasuredCall], *, sieving: bool) -> dict[str, str]:
    """Return the hints that let every rank access the files on its own.

    Without ``sieving``, pieces are not collected in a buffer, for which what lies between them is
    locked, read and written back.
    """
    found = {}
    for one in calls:
        op = "read" if one.call.reading else "write"
        found[f"romio_cb_{op}"] = "disable"
        if not sieving:
            found[f"romio_ds_{op}"] = "disable"
    return found


def _numbers(hosts: int) -> list[int]:
    """Return numbers of aggregators, at most one a host: all, and powers of two below."""
    return [hosts, *(2**k for k in range(hosts.bit_length() - 1, -1, -1) if 2**k < hosts)]


def _order(one: MeasuredCall, count: int, model: NodeCost) -> str | None:
    """Return the best order of hosts for a call; None if their own is."""
    layout, hosts = layout_of(one.by_rank)
    try:
        kinds = one.call.round_kinds(count)
        found = assign(kinds, layout, hosts, model, reading=one.call.reading)
    except InputError:  # too many hosts, or windows, for this lever
        return None
    return hint(hosts, found.order[: found.named]) if found.named else None


def _buffers(calls: Sequence[MeasuredCall], aggregators: int) -> list[int | None]:
    """Return sizes of buffers: as it is, four times that, and as large as a file domain."""
    found: list[int | None] = [None]
    for one in calls:
        first, last = one.call.pattern.extent
        domain = -(-(last - first) // aggregators)
        whole = -(-domain // MIB) * MIB
        now = one.call.buffer
        if one.call.cyclic or now is None or domain <= now:
            continue
        found += [size for size in (4 * now, whole) if now < size <= min(LARGEST_BUFFER, whole)]
    return list(dict.fromkeys(found))
