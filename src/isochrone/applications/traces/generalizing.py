"""One description for any number of ranks, from recordings at several of them.

The structures of all are aligned place by place. What does not fit is refused, and its place named.
"""

import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from isochrone.applications.description.grids import balanced
from isochrone.applications.thresholds import DOUBTFUL, LIKELY_DIMENSIONS, NEGLIGIBLE
from isochrone.applications.traces.attributing import gather_small
from isochrone.applications.traces.communication import collective, exchange, farm
from isochrone.applications.traces.deriving import named
from isochrone.applications.traces.fitting import Fit
from isochrone.applications.traces.gaps import Written
from isochrone.applications.traces.growth import Growth
from isochrone.applications.traces.levels import Cycle, Levels, has_levels, nested, there_and_back
from isochrone.applications.traces.offsets import Grid, offsets
from isochrone.applications.traces.places import (
    Again,
    ByRank,
    Place,
    Tree,
    computed,
    flat,
    unrolled,
)
from isochrone.applications.traces.small import recorded_operations, to_skip
from isochrone.applications.traces.steps import row_of
from isochrone.applications.traces.structure import Structure, structure
from isochrone.base.errors import InputError
from isochrone.base.operations import ROOTED


@dataclass
class General:
    """A description of any number of ranks, and what is doubtful of it.

    Attributes
    ----------
    spread
        By what part the time may be off for what follows no rule.
    open
        Of each phase, the functions whose right form the recordings leave open: what they are of,
        and where.
    without
        Number of messages that some recordings are taken not to have, as they have one rank along
        a side of the grid.
    """

    document: Written
    warnings: list[str]
    spread: float = 0.0
    open: list[dict[str, Growth]] = field(default_factory=list)
    without: int = 0

    @property
    def doubts(self) -> int:
        """Number of what is doubtful."""
        return len(self.warnings) + self.without


def generalized(structures: Sequence[Structure], name: str, below: float = math.inf) -> General:
    """Return the description that structures at several numbers of ranks have in common.

    Coefficients of its functions of p are fitted to those on fewer ranks than `below`. Exchanges
    along bits of the ranks are taken together where less is doubtful then.

    Raises
    ------
    InputError
        If they differ in more than numbers; names the place.
    """
    ordered = sorted(structures, key=lambda recording: recording.ranks)
    ways: list[General] = []
    refused: list[InputError] = []
    single = Grid(1, False, "C")
    ranges = [(), (*_grids(ordered[-1]), single)]
    turned = [grid for of in ordered for grid in _grids(of) if grid.order == "F"]
    if turned:  # a square grid of ranks does not show along which dimension they are numbered
        ranges.append((*turned, single))
    for grids in ranges:
        try:
            variants = (
                [
                    replace(structure(of.trace, [*dict.fromkeys(grids)]), warnings=of.warnings)
                    for of in ordered
                ]
                if grids
                else ordered
            )
            ways.append(_Generalizing(variants, name, below).document())
        except InputError as error:
            refused.append(error)
        if ways and not ways[0].doubts:
            break
    if not ways:  # sizes that depend on the data may be repeated by chance at few ranks
        variants = [structure(of.trace, by_bytes=False) for of in ordered]
        with suppress(InputError):
            return _Generalizing(variants, name, below).document()
        raise refused[0]
    return min(ways, key=lambda way: way.doubts)


class _Generalizing(Fit):
    def __init__(self, structures: Sequence[Structure], name: str, below: float) -> None:
        gather_small([list(flat(recording.tree)) for recording in structures])
        grids = {grid.dimensions for grid in _grids(structures[-1])}
        super().__init__(structures, name, below, grids)
        self.spread = DOUBTFUL if self.warnings else 0.0
        self.without = 0
        self.loops: list[tuple[str, str]] = []  # around a place: the name of a step, how many
        self.cycle: Cycle | None = None  # around a place: a loop to coarse levels and back
        kinds = {_kind(place) for place in flat(structures[-1].tree) if place.visits > 1}
        if "stream" in kinds and not kinds.isdisjoint(ROOTED):
            self.warn("operations with a root between messages of a pipeline are inexact", DOUBTFUL)

    def document(self) -> General:
        phases = self.phases([recording.tree for recording in self.structures], "")
        app = {"name": named(self.name), "iterations": 1, "phases": phases}
        if len(phases) == 1 and "repeat" in phases[0] and "step" not in phases[0]["repeat"]:
            app |= {
                "iterations": phases[0]["repeat"]["times"],
                "phases": phases[0]["repeat"]["phases"],
            }
        omitted = max(recording.omitted for recording in self.structures) + self.left_out.share
        if self.left_out.positions:
            self.warn(self.left_out.warning())
        if omitted:
            app["omitted"] = float(f"{omitted:.2g}")
        if bounds := recorded_operations(self.structures[-1].trace):
            app["bounded"] = bounds
        document = {"isochrone": "app/1", "runs": ["alone"], "apps": [app]}
        return General(document, list(self.warnings), self.spread, self.open, self.without)

    # --- aligned ----------------------------------------------------------------------------------

    def phases(self, trees: Sequence[Tree], where: str) -> list[Written]:
        """Return the phases that trees have in common."""
        written = []
        number = 0
        for nodes in self.aligned(trees, where):
            number += _kind(nodes[0]) != "end"  # computation alone has no number
            path = f"{where}.{number}".lstrip(".")
            try:
                written += self.node(nodes, path)
            except InputError:
                if not self.left_out.take([[node] for node in nodes], path):
                    raise
        return written

    def node(self, nodes: Sequence[Place | Again], path: str) -> list[Written]:
        """Return the phases of nodes that belong together."""
        loops = [node for node in nodes if isinstance(node, Again)]
        if not loops:
            places = [node for node in nodes if isinstance(node, Place)]
            kind = places[0].round.flow if places[0].round.call is None else _kind(nodes[0])
            return self.place(places, f"{path} ({kind})")
        loops = [*nested(loops)]
        sweeps = there_and_back(loops)
        if sweeps:
            self.cycle = Cycle.of(loops, sweeps)
            phases = [phase for half in self.cycle.halves for phase in self.node(half, path)]
            self.cycle.close(self)
            self.cycle = None
            return phases
        times = self.whole(
            [loop.times for loop in loops], "the repetitions", path, levels=has_levels(loops)
        )
        if self.cycle is not None and self.cycle.most is not None:
            times = f"min({times}, {self.cycle.most})"
        step = f"step{len(self.loops)}" if self.loops else "step"
        self.loops.append((step, str(times)))
        inner = self.phases([loop.body for loop in loops], path)
        self.loops.pop()
        turns = any(isinstance(of, Place) and of.turns for loop in loops for of in loop.body)
        named_step = {"step": step} if turns else {}
        return [{"repeat": {"times": times, **named_step, "phases": inner}}] if inner else []

    def aligned(self, trees: Sequence[Tree], where: str) -> list[tuple[Place | Again, ...]]:
        """Return nodes of all trees that belong together."""
        remaining = [list(tree) for tree in trees]
        groups: list[tuple[Place | Again, ...]] = []
        while any(remaining):
            heads = [tree[0] if tree else None for tree in remaining]
            kinds = [_kind(head) for head in heads]
            if len(set(kinds)) == 1:
                groups.append(tuple(tree.pop(0) for tree in remaining))
                continue
            if self.made_alike(remaining):
                continue
            ends = [k for k, kind in enumerate(kinds) if kind == "end"]
            number = 1 + sum(_kind(nodes[0]) != "end" for nodes in groups)
            if not ends:
                skipped = to_skip([[_kind(node) for node in tree] for tree in remaining])
                skipped_trees = [tree[:k] for tree, k in zip(remaining, skipped, strict=True)]
                if self.left_out.take(skipped_trees, f"{where}.{number}".lstrip(".")):
                    remaining = [tree[k:] for tree, k in zip(remaining, skipped, strict=True)]
                    continue
                listing = ", ".join(f"{k} on {p}" for k, p in zip(kinds, self.ranks, strict=True))
                position = f"position {where}.{number}".replace(" .", " ")
                raise self.refuse(
                    position, f"the next call depends on the number of ranks: {listing}"
                )
            for k in ends:
                head = remaining[k].pop(0)
                assert isinstance(head, Place)
                share = computed(head) / max(sum(map(computed, flat(trees[k]))), 1e-12)
                if share > NEGLIGIBLE:
                    self.warn(
                        f"{share:.1%} of the computation on {self.ranks[k]} ranks is at a place of "
                        "its own and left out"
                    )
        return groups

    def made_alike(self, remaining: list[Tree]) -> bool:
        """Whether what comes next could be made more alike.

        Along a side of two ranks, messages both ways are a loop of two; along one of one rank,
        there are none. Those of the most ranks are taken as they are.
        """
        heads = [tree[0] if tree else None for tree in remaining]
        last = heads[-1]
        if not isinstance(last, Again):
            short = [_short_loop(tree) for tree in remaining]
            for tree, loop in zip(remaining, short, strict=True):
                if loop is not None:
                    tree[: loop[0]] = unrolled(*loop[1:])
            if any(short):
                return True
        lacking = [k for k, head in enumerate(heads) if _kind(head) != _kind(last)]
        if not isinstance(last, Place) or last.round.kind not in ("exchange", "stream"):
            return False
        if any(1 not in balanced(self.ranks[k], LIKELY_DIMENSIONS) for k in lacking):
            return False
        for k in lacking:
            self.without += 1
            none = replace(last.round, messages=[], before={}, within={})
            remaining[k].insert(0, replace(last, round=none))
        return True

    # --- a place ----------------------------------------------------------------------------------

    def place(self, places: Sequence[Place], path: str) -> list[Written]:
        if any(len({turn.apart for turn in place.turns}) > 1 for place in places):
            return Levels(self, places, *self.loops[-1], path).phases(self.cycle)
        rounds = [place.round for place in places]
        phases = []
        period = places[-1].period if len({place.period for place in places}) == 1 else 1
        compute = self.computing(places, 0, period, path)
        if compute is not None:
            phases.append(self.phase("compute", compute))
        calls = [round_.call for round_ in rounds]
        if calls[0] is not None:
            op = calls[0].op
            if op == "farm":
                farms = [s.farms[c.root] for s, c in zip(self.structures, calls, strict=True) if c]
                phases.append(self.phase("exchange", farm(self, farms, path)))
            else:
                phases.append(self.phase(op, collective(self, places, self.loops, path)))
        elif rounds[-1].messages:
            phases.append(self.phase("exchange", exchange(self, places, period, path)))
        return phases


def _short_loop(tree: Tree) -> tuple[int, Again, ByRank] | None:
    """Return a loop of a few turns that comes next, and what is computed once before it."""
    once: ByRank = {}
    for count, node in enumerate(tree[:2], 1):
        if isinstance(node, Again):
            return (count, node, once) if node.times <= 2 * LIKELY_DIMENSIONS else None
        if node.round.kind != "end":
            return None
        once = node.round.before
    return None


def _grids(recording: Structure) -> Iterator[Grid]:
    """Yield the grids in which the ranks of a program are neighbours, or rows."""
    for place in flat(recording.tree):
        round_ = place.round
        if round_.messages:
            grid = offsets([round_.messages], [recording.ranks])
            bits = row_of(round_.messages, recording.ranks) is not None
            if grid is not None and not (bits and grid.grid.dimensions >= LIKELY_DIMENSIONS):
                yield grid.grid
        elif len(round_.among) > 1:
            yield Grid(2, False, "C")


def _kind(node: Place | Again | None) -> str:
    """Return what a node is, in words."""
    if node is None:
        return "nothing"
    if isinstance(node, Again):
        return "a loop"
    return node.round.call.op if node.round.call is not None else node.round.kind
