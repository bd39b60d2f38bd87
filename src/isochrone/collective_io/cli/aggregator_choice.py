"""Output of `place aggregators`: JSON document and text."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from msgspec.structs import replace

from isochrone.base.documents import IfKnown
from isochrone.base.inference import Speedup
from isochrone.base.record import Members, Record
from isochrone.base.units import format_bytes, format_seconds
from isochrone.collective_io.cli.placing import certainty
from isochrone.collective_io.orders import setting as settings
from isochrone.collective_io.orders.collective_choice import choices, ompio_option
from isochrone.collective_io.orders.host_costs import Assignment, assign
from isochrone.collective_io.orders.setting import GIVEN, Choice, Setting, SettingCosts
from isochrone.collective_io.predict.node_cost import predict, refuse_no_time, saved
from isochrone.collective_io.workload.call import aggregators
from isochrone.pages.page import Block, Row, Sentence, Table, columns_of


class Proposal(Record):
    """The best setting that was found.

    Attributes
    ----------
    costs
        What the call takes with any setting.
    given
        The present one.
    best
        The proposed one.
    """

    costs: SettingCosts
    given: Setting
    best: Choice

    @property
    def ompio(self) -> bool:
        """Whether no hints are read."""
        return self.costs.call.driver == "ompio"

    def hints(self) -> str:
        """Return the text of the hints file; empty where no hints are read."""
        hints = self.best.setting.hints(reading=self.costs.call.reading)
        return "" if self.ompio else settings.hints_text(hints)

    def commands(self) -> list[str]:
        """Return command lines to use in addition to the hints."""
        setting = self.best.setting
        if self.ompio and setting.nodes is not None:
            return [f"mpirun {ompio_option(setting)} …"]
        # ROMIO's hints for stripes only have an effect on files that are created
        stripes = setting.stripes
        return [f"lfs setstripe -c {stripes.count} -S {stripes.size} FILE"] if stripes else []

    def advice(self) -> list[str]:
        """Return instructions for the hints."""
        around = ("Before the file is written: ", "")
        if self.ompio:
            around = ("", "   (or cb_nodes by MPI_Info in the program)")
        return [line.join(around) for line in self.commands()]

    def common(self, output: Path | None, order: Sequence[int]) -> Members:
        """Return the keys that all proposals have."""
        best, config, romio = self.best, self.best.setting.config, not self.ompio
        return {
            "order": order,
            "hosts": [self.costs.layout.hosts[k] for k in order],
            "seconds": best.seconds,
            "given_seconds": best.given_seconds,
            "aggregators": best.aggregators,
            "memory": best.memory,
            "origin": self.costs.model.model.origin or None,
            "cb_config_list": config if romio else None,
            "hints": best.setting.hints() if romio else {},
            "files": [str(output)] if output is not None else [],
            "environment": settings.hints_environment(output, config) if output is not None else [],
            "no_effect": list(settings.NO_EFFECT) if romio else [],
            "commands": self.commands(),
        }


def served(costs: SettingCosts, given: Setting) -> list[int]:
    """Return the aggregators as they are now."""
    if costs.call.driver == "ompio":
        return costs.call.of_ompio(given.nodes)
    return aggregators(costs.by_rank, given.config, given.nodes)


def _order_of(costs: SettingCosts, ranks: Sequence[int]) -> list[int]:
    """Return the hosts in the order in which they first serve, then those that do not."""
    host_of = costs.layout.of_rank.tolist()
    return list(dict.fromkeys([*(host_of[rank] for rank in ranks), *range(costs.layout.nodes)]))


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
        default = self.given == GIVEN
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
        assignment, warnings = self.found, self.costs.call.warnings()
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


def by_order(costs: SettingCosts, given: Setting) -> ByOrder:
    """Search the order of the aggregators alone."""
    layout, costs_of_exchange = costs.layout, replace(costs, whole=None)
    hints = settings.listed(layout, given.config)
    present, total = served(costs, given), int(hints.counts.sum())
    kinds = costs.call.round_kinds(min(given.nodes or total, total))
    assignment = assign(kinds, hints, costs.model)
    present_cost = predict(costs.call.round_kinds(len(present)), layout, present, costs.model)
    refuse_no_time(assignment.cost)
    assignment = replace(assignment, given_cost=present_cost.cost)
    setting = given._replace(config=hints.config(assignment.order[: assignment.named]))
    if present_cost.cost < assignment.cost:  # the given list is another one than ``*:n``
        order = _order_of(costs, present)
        assignment = replace(assignment, order=order, named=len(present), cost=present_cost.cost)
        setting = given
    rounds = sum(kind.rounds for kind in kinds)
    best = costs_of_exchange.of(setting)
    assert best is not None
    best = replace(
        best,
        lever="order",
        lower_bound=assignment.lower_bound * rounds,
        given_seconds=present_cost.seconds,
    )
    return ByOrder(costs, given, best, assignment, rounds, _other(costs, given))


def _other(costs: SettingCosts, given: Setting) -> tuple[Choice, Choice] | None:
    """Return the best setting and, if different enough, the best order."""
    if not costs.model.of_bytes or costs.layout.nodes > _MAX_COMPARED_HOSTS:
        return None
    best, *others = choices(costs, given_setting=given, seconds=2.0)
    orders = (choice for choice in (best, *others) if choice.lever in ("order", "given"))
    order = min(orders, key=lambda choice: choice.seconds)
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
        rows = [self.row(c, settings.LEVERS[c.lever]) for c in self.listed()]
        if self.romio is not None:
            rows.append(self.row(self.romio, "ROMIO"))
        columns = columns_of("changed", ">time", ">gain", ">memory", "setting")
        return [Table("", columns, tuple(rows))]

    def listed(self) -> list[Choice]:
        """Return the best, the given one and single changes, the fastest first."""
        if self.ompio:
            return [c for k, c in enumerate(self.found) if k < _SHOWN or c.lever == "given"]
        several = [c for c in self.found if c.lever == "all"][:_SHOWN]
        return [c for c in self.found if c.lever != "all" or c in several]

    def row(self, choice: Choice, name: str) -> Row:
        """Return a line of the table."""
        cells = (
            name,
            format_seconds(choice.seconds),
            f"{choice.gain:.2f} times",
            format_bytes(choice.memory) if choice.memory else "",
            choice.words,
        )
        return Row(cells, "good" if choice is self.best else "")

    def document(self, output: Path | None) -> Members:
        """Return it for ``--json``."""
        best = self.best
        levers = {c.lever: c for c in reversed(self.found) if c.lever not in ("all", "given")}
        return {
            **self.common(output, _order_of(self.costs, best.aggregators)),
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
        call, of_bytes = self.costs.call, self.costs.model.of_bytes
        warnings = call.warnings()
        warnings += [] if of_bytes else [ONE_SIZE]
        warnings += [EXCHANGE] if self.costs.whole is None and of_bytes else []
        warnings += [LUSTRE] if call.driver == "lustre" else []
        warnings += self.best.parts.warnings if self.best.parts is not None else []
        return list(dict.fromkeys(warnings))

    def advice(self) -> list[str]:
        """Return further options."""
        use_romio = (
            "ROMIO instead, which Open MPI 6 no longer has: mpirun --mca io romio341 …, with "
            "the hints of isochrone place aggregators --driver even"
        )
        return [*super().advice(), *[use_romio] * (self.romio is not None)]


def by_all(costs: SettingCosts, given: Setting) -> ByAll:
    """Choose order, number, buffers and stripes together."""
    compared = choices(costs, given_setting=given, seconds=5.0)
    romio = None
    if costs.call.driver == "ompio":
        even = replace(costs, call=replace(costs.call, driver="even"))
        romio = replace(choices(even, seconds=3.0)[0], given_seconds=compared[0].given_seconds)
    return ByAll(costs, given, compared[0], compared, romio)


def _of_order(best: Choice) -> str:
    """Compare the order with the bound for the same number of aggregators."""
    if not best.lower_bound or best.setting.collective is False:
        return ""
    if best.gap == 0:
        return "; no order of as many aggregators is better"
    return f"; orders of as many aggregators are at most {100 * best.gap:.1f} % better"
