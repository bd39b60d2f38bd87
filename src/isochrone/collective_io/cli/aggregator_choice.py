"""Output of `place aggregators`: JSON document and text."""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Literal

from msgspec.structs import replace

from isochrone.base.documents import IfKnown
from isochrone.base.inference import Speedup
from isochrone.base.record import Members, Record
from isochrone.base.units import format_bytes, format_seconds
from isochrone.collective_io.cli.placing import certainty
from isochrone.collective_io.orders import romio_hints
from isochrone.collective_io.orders.assignment import Assignment, assign
from isochrone.collective_io.orders.collective_choice import choices, ompio_option
from isochrone.collective_io.orders.hint_list import listed
from isochrone.collective_io.orders.setting import (
    GIVEN,
    LEVERS,
    Choice,
    Setting,
    SettingCosts,
    words_of,
)
from isochrone.collective_io.predict.node_cost import NodeCost, predict, refuse_no_time, saved
from isochrone.collective_io.predict.whole_call import WholeCall
from isochrone.collective_io.workload.call import Call, aggregators
from isochrone.measure.allocation import Allocation
from isochrone.pages.page import Block, Row, Sentence, Table, columns_of


class Query(Record):
    """The call, the nodes and the known times."""

    call: Call
    nodes: Allocation
    model: NodeCost
    whole: WholeCall | None
    given: Setting

    @cached_property
    def costs(self) -> SettingCosts:
        """What the call takes with any setting."""
        return SettingCosts(self.call, self.nodes.by_rank, self.model, self.whole)

    def served(self) -> list[int]:
        """Return the aggregators as they are now."""
        if self.call.driver == "ompio":
            return self.call.of_ompio(self.given.nodes)
        return aggregators(self.nodes.by_rank, self.given.config, self.given.nodes)

    def order_of(self, served: Sequence[int]) -> list[int]:
        """Return the hosts in the order in which they first serve, then those that do not."""
        host_of = self.costs.layout.of_rank.tolist()
        first = dict.fromkeys(host_of[rank] for rank in served)
        return [*first, *(k for k in range(self.costs.layout.nodes) if k not in first)]


class Proposal(Record):
    """The best setting that was found."""

    query: Query
    best: Choice

    def hints(self) -> str:
        """Return the text of the hints file; empty where no hints are read."""
        if self.query.call.driver == "ompio":
            return ""
        return romio_hints.text(self.best.setting.hints(reading=self.query.call.reading))

    def commands(self) -> list[str]:
        """Return command lines to use in addition to the hints."""
        setting = self.best.setting
        if self.query.call.driver == "ompio" and setting.nodes is not None:
            return [f"mpirun {ompio_option(setting)} …"]
        # ROMIO's hints for stripes only have an effect on files that are created
        stripes = setting.stripes
        return [f"lfs setstripe -c {stripes.count} -S {stripes.size} FILE"] if stripes else []

    def advice(self) -> list[str]:
        """Return instructions for the hints."""
        around = ("Before the file is written: ", "")
        if self.query.call.driver == "ompio":
            around = ("", "   (or cb_nodes by MPI_Info in the program)")
        return [line.join(around) for line in self.commands()]

    def common(self, output: Path | None, order: Sequence[int]) -> Members:
        """Return the keys that all proposals have."""
        config, romio = self.best.setting.config, self.query.call.driver != "ompio"
        return {
            "order": order,
            "hosts": [self.query.costs.layout.hosts[k] for k in order],
            "seconds": self.best.seconds,
            "given_seconds": self.best.given_seconds,
            "aggregators": self.best.aggregators,
            "memory": self.best.memory,
            "origin": self.query.model.model.origin or None,
            "cb_config_list": config if romio else None,
            "hints": self.best.setting.hints() if romio else {},
            "files": [str(output)] if output is not None else [],
            "environment": romio_hints.environment(output, config) if output is not None else [],
            "no_effect": list(romio_hints.NO_EFFECT) if romio else [],
            "commands": self.commands(),
        }


MIN_MENTIONED_GAIN = 1.05
"""More than this must be gained by other settings to be mentioned."""

_MAX_COMPARED_HOSTS = 256
"""With more hosts, other settings are only compared on request."""

_SHOWN = 6

ONE_SIZE = (
    "the model has one message size, so only orders are compared; measure hotspot with several "
    "sizes (--bytes 32KiB,256KiB,1MiB,2MiB)"
)
LUSTRE = (
    "stripes are chosen by ROMIO's sources, untested on a real Lustre; OST times are not predicted"
)
EXCHANGE = (
    "only the exchange is predicted, not the file access; add --calls RUN (a run of measure "
    "tile-io --file)"
)


class ByOrder(Proposal):
    """Another order of aggregators, as many of them and with the same buffers."""

    found: Assignment
    rounds: int
    other: tuple[Choice, Choice] | None

    def headline(self) -> str:
        """Return the gain in one line."""
        assignment = self.found
        less = 100 * saved(assignment.cost, assignment.given_cost)
        default = self.query.given == GIVEN
        than = "than with ROMIO's default order" if default else "than with the present hints"
        outcome = f"{less:.1f} % less {than}" if assignment.named else "nothing better"
        if default and not assignment.named:
            outcome = "ROMIO's default order"
        return (
            f"Aggregators on {len(assignment.order)} hosts: "
            f"{format_seconds(assignment.cost, 4)} per round, "
            f"{outcome}; {certainty(assignment.gap)}"
        )

    def blocks(self) -> list[Block]:
        """Return tables and conclusions."""
        if self.other is None:
            return []
        full, order = self.other
        return [
            Sentence(
                "With --choose all (also chooses the number of aggregators and the buffer size): "
                f"{format_seconds(full.seconds)} instead of {format_seconds(order.seconds)}, "
                f"by {full.words}"
            )
        ]

    def document(self, output: Path | None) -> Members:
        """Return it for ``--json``."""
        assignment, warnings = self.found, self.query.call.warnings()
        if not assignment.whole:
            warnings.append(
                "a hint value is limited to 1,023 characters, too few for "
                f"{len(assignment.order)} hosts: it names the {assignment.named} most useful ones"
            )
        return {
            **self.common(output, assignment.order),
            "cost": assignment.cost,
            "given_cost": assignment.given_cost,
            "lower_bound": assignment.lower_bound,
            "gap": assignment.gap,
            "proven": assignment.gap == 0,
            "named": assignment.named,
            "rounds": self.rounds,
            "choose": "order",
            "all_would_gain": self.other[1].seconds / self.other[0].seconds if self.other else None,
            "warnings": warnings,
        }


class Placed:
    """The best aggregators of collective I/O; seconds are of the call, or of its exchange.

    Attributes
    ----------
    order
        Indices of the hosts.
    no_effect
        Where the hints have no effect.
    """

    order: list[int]
    hosts: list[str]
    seconds: float
    given_seconds: float
    aggregators: list[int]
    memory: int | None
    origin: str | None
    cb_config_list: str | None
    hints: dict[str, str]
    files: list[str]
    environment: list[str]
    no_effect: list[str]
    commands: list[str]
    cost: float
    given_cost: float
    lower_bound: float | None
    gap: float | None
    proven: bool
    named: int
    warnings: list[str]
    measured: IfKnown[Speedup]


class PlacedByOrder(Placed):
    """The best order of aggregators of collective I/O."""

    rounds: int
    choose: Literal["order"]
    all_would_gain: float | None


class PlacedByAll(Placed):
    """The best setting of collective I/O, whatever it changes."""

    choose: Literal["all"]
    of: Literal["call", "exchange"]
    parts: dict[str, float | None] | None
    levers: dict[str, Choice]
    choices: list[Choice]
    romio: Choice | None


def by_order(query: Query) -> ByOrder:
    """Search the order of the aggregators alone."""
    layout = query.costs.layout
    hints = listed(layout, query.given.config)
    served = query.served()
    total = int(hints.counts.sum())
    kinds = query.call.round_kinds(min(query.given.nodes or total, total))
    assignment = assign(kinds, hints, query.model)
    present_kinds = query.call.round_kinds(len(served))
    given_cost = predict(present_kinds, layout, served, query.model).cost
    refuse_no_time(assignment.cost)
    assignment = replace(assignment, given_cost=given_cost)
    setting = query.given._replace(config=hints.config(assignment.order[: assignment.named]))
    if given_cost < assignment.cost:  # the given list is another one than ``*:n``
        order = query.order_of(served)
        assignment = replace(assignment, order=order, named=len(served), cost=given_cost)
        setting = query.given
    rounds = sum(kind.rounds for kind in kinds)
    ranks = aggregators(query.nodes.by_rank, setting.config, setting.nodes)
    memory = query.costs.memory(setting, ranks)
    best = Choice(
        setting,
        ranks,
        assignment.cost * rounds,
        given_cost * sum(kind.rounds for kind in present_kinds),
        assignment.lower_bound * rounds,
        None,
        words_of(setting),
        memory,
        "order",
    )
    return ByOrder(query, best, assignment, rounds, _other(query))


def _other(query: Query) -> tuple[Choice, Choice] | None:
    """Return the best setting and, if different enough, the best order."""
    if not query.model.of_bytes or len(query.nodes.cores) > _MAX_COMPARED_HOSTS:
        return None
    compared = choices(query.costs, given_setting=query.given, seconds=2.0)
    order = min((c for c in compared if c.lever in ("order", "given")), key=lambda c: c.seconds)
    best = compared[0]
    return (best, order) if order.seconds > MIN_MENTIONED_GAIN * best.seconds else None


class ByAll(Proposal):
    """Everything that can be set, chosen together."""

    found: list[Choice]
    romio: Choice | None

    def headline(self) -> str:
        """Return the gain in one line."""
        best = self.best
        subject = "The whole call" if best.parts is not None else "The exchange"
        if best.lever == "given":
            return f"{subject}: {format_seconds(best.seconds, 4)}, and no setting is better"
        proposed = f"{format_seconds(best.seconds, 4)} instead of"
        given_time = format_seconds(best.given_seconds, 4)
        return f"{subject}: {proposed} {given_time}, {best.gain:.2f} times as fast{_of_order(best)}"

    def blocks(self) -> list[Block]:
        """Return tables and conclusions."""
        rows = [self.row(c, LEVERS[c.lever]) for c in self.listed()]
        if self.romio is not None:
            rows.append(self.row(self.romio, "ROMIO"))
        columns = columns_of("changed", ">time", ">gain", ">memory", "setting")
        return [Table("", columns, tuple(rows))]

    def listed(self) -> list[Choice]:
        """Return the best, the given one and single changes, the fastest first."""
        if self.query.call.driver == "ompio":
            return [c for k, c in enumerate(self.found) if k < _SHOWN or c.lever == "given"]
        several = [c for c in self.found if c.lever == "all"][:_SHOWN]
        return [c for c in self.found if c.lever != "all" or c in several]

    def row(self, choice: Choice, name: str) -> Row:
        """Return a line of the table."""
        cells = (
            name,
            format_seconds(choice.seconds),
            _times(choice.gain),
            format_bytes(choice.memory) if choice.memory else "",
            choice.words,
        )
        return Row(cells, "good" if choice is self.best else "")

    def document(self, output: Path | None) -> Members:
        """Return it for ``--json``."""
        best = self.best
        levers = {c.lever: c for c in reversed(self.found) if c.lever not in ("all", "given")}
        return {
            **self.common(output, self.query.order_of(best.aggregators)),
            "cost": best.seconds,
            "given_cost": best.given_seconds,
            "lower_bound": best.lower_bound or None,
            "gap": best.gap,
            "proven": best.gap == 0,
            "named": len(best.setting.config.split(",")) - 1,
            "choose": "all",
            "of": "call" if best.parts is not None else "exchange",
            "parts": best.parts.parts if best.parts is not None else None,
            "levers": levers,
            "choices": self.found,
            "romio": self.romio,
            "warnings": self.warnings(),
        }

    def warnings(self) -> list[str]:
        """Return warnings about the choice."""
        warnings = self.query.call.warnings()
        warnings += [] if self.query.model.of_bytes else [ONE_SIZE]
        warnings += [EXCHANGE] if self.query.whole is None and self.query.model.of_bytes else []
        warnings += [LUSTRE] if self.query.call.driver == "lustre" else []
        warnings += self.best.parts.warnings if self.best.parts is not None else []
        return list(dict.fromkeys(warnings))

    def advice(self) -> list[str]:
        """Return further options."""
        use_romio = (
            "ROMIO instead, which Open MPI 6 no longer has: mpirun --mca io romio341 …, with "
            "the hints of isochrone place aggregators --driver even"
        )
        return [*super().advice(), *[use_romio] * (self.romio is not None)]


def by_all(query: Query) -> ByAll:
    """Choose order, number, buffers and stripes together."""
    compared = choices(query.costs, given_setting=query.given, seconds=5.0)
    romio = None
    if query.call.driver == "ompio":
        romio_choices = choices(
            replace(query, call=replace(query.call, driver="even")).costs, seconds=3.0
        )
        romio = replace(romio_choices[0], given_seconds=compared[0].given_seconds)
    return ByAll(query, compared[0], compared, romio)


def _times(ratio: float) -> str:
    return f"{ratio:.2f} times"


def _of_order(best: Choice) -> str:
    """Compare the order with the bound for the same number of aggregators."""
    if not best.lower_bound or best.setting.collective is False:
        return ""
    if best.gap == 0:
        return "; no order of as many aggregators is better"
    return f"; orders of as many aggregators are at most {100 * best.gap:.1f} % better"
