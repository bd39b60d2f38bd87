"""One description for any number of ranks, from recordings at several of them.

The structures of all are aligned place by place. Partners are offsets on a grid of the ranks,
groups are rows and columns of it; sizes, counts and computation are functions of the number of
ranks. What does not fit is refused, and its place named.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from isochrone.applications.description.grids import balanced
from isochrone.applications.traces.attributing import gather_small
from isochrone.applications.traces.deriving import Written, named, omitted_share, plain, structure
from isochrone.applications.traces.farms import Farm
from isochrone.applications.traces.gaps import MAX_MEAN_ERRORS, Spent, computation, noise, seconds
from isochrone.applications.traces.growth import MAX_FUNCTION_ERROR, Growth, growth, whole
from isochrone.applications.traces.levels import Cycle, Levels, has_levels, nested, there_and_back
from isochrone.applications.traces.offsets import Grid, Messages, Offsets, faces, offsets
from isochrone.applications.traces.places import (
    Again,
    ByRank,
    Place,
    Tree,
    computed,
    flat,
    unrolled,
)
from isochrone.applications.traces.small import LeftOut, bounded, small_operations, to_skip
from isochrone.applications.traces.steps import formula, rotations, row_of
from isochrone.applications.traces.trace import Trace
from isochrone.base.errors import InputError
from isochrone.base.operations import ROOTED

NEGLIGIBLE = 0.005
"""Share of the run time, or of the computation at one number of ranks, that follows no rule."""

MOST_GROWTH = 1.35
"""By what the neighbours of a rank may become more when the ranks double."""

DOUBTFUL = 0.2
"""Part by which a prediction may be off where a recording is not exact, as with sizes that depend
on the data."""

ROTATING = "operations of several groups whose roots rotate overlap, and are inexact"
"""Rows and columns wait for roots that are still in an operation of the other kind."""

MIN_UNRULED_SHARE = 0.02
"""Share of the run time in computation that may follow no rule: intervals are so much wider."""

SPREAD = 0.01
"""Ranks whose computation varies by less, relative, are alike."""

UNEVEN = 1.4
"""By what the slowest rank may take longer than the mean, more at one number of ranks than at
others, to be the same ranks that take longer."""

LIKELY_DIMENSIONS = 3
"""Of a grid. On up to 16 ranks, partners in a butterfly are also neighbours in a grid of four."""

REST = 1e-4
"""Part of the computation of the slowest rank that is written for others that compute nothing."""

FACTORS = 64
"""Factors of ranks that are written down."""


@dataclass
class Structure:
    """What is repeated in a trace."""

    ranks: int
    tree: Tree
    farms: list[Farm]
    omitted: float
    warnings: list[str]
    seconds: float
    trace: Trace
    small: dict[str, float] = field(default_factory=dict)


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


def analysed(trace: Trace) -> Structure:
    """Return the structure of a trace.

    Raises
    ------
    InputError
        If it has none.
    """
    tree, farms, warnings = structure(trace)
    return Structure(len(trace.ranks), tree, farms, omitted_share(trace), warnings,
                     trace.longest, trace, small_operations(trace))  # fmt: skip


def generalized(
    structures: Sequence[Structure], name: str, below: float = math.inf
) -> General:  # fmt: skip
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
    grids = list(dict.fromkeys([*_grids(ordered[-1]), Grid(1, False, "C")]))
    for by_step in ([], grids):
        try:
            variants = [_by_step(of, by_step) for of in ordered] if by_step else ordered
            ways.append(_Generalizing(variants, name, below).document())
        except InputError as error:
            refused.append(error)
        if ways and not ways[0].doubts:
            break
    if not ways:
        raise refused[0]
    return min(ways, key=lambda way: way.doubts)


def _by_step(recording: Structure, grids: Sequence[Grid]) -> Structure:
    tree, farms, _ = structure(recording.trace, grids)
    return replace(recording, tree=tree, farms=farms)


class _Generalizing:
    def __init__(self, structures: Sequence[Structure], name: str, below: float) -> None:
        gather_small([list(flat(recording.tree)) for recording in structures])
        self.structures = structures
        self.below = below
        self.ranks = [recording.ranks for recording in structures]
        self.name = name
        self.warnings = dict.fromkeys(
            text for recording in structures for text in recording.warnings
        )
        self.spread = DOUBTFUL if self.warnings else 0.0
        self.open: list[dict[str, Growth]] = []
        self.without = 0
        self.loops: list[tuple[str, str]] = []  # around a place: the name of a step, how many
        self.fitted: dict[str, Growth] = {}
        self.cycle: Cycle | None = None  # around a place: a loop to coarse levels and back
        self.grids = {grid.dimensions for grid in _grids(structures[-1])}
        self.left_out = LeftOut([recording.ranks * recording.seconds for recording in structures])
        kinds = {_kind(place) for place in flat(structures[-1].tree) if place.visits > 1}
        if "stream" in kinds and not kinds.isdisjoint(ROOTED):
            self.warnings["operations with a root between messages of a pipeline are inexact"] = (
                None
            )

    def document(self) -> General:
        phases = self.phases([recording.tree for recording in self.structures], "")
        app = {"name": named(self.name), "iterations": 1, "phases": phases}
        if len(phases) == 1 and "repeat" in phases[0] and "step" not in phases[0]["repeat"]:
            app |= {"iterations": phases[0]["repeat"]["times"],
                    "phases": phases[0]["repeat"]["phases"]}  # fmt: skip
        omitted = max(recording.omitted for recording in self.structures) + self.left_out.share
        if self.left_out.positions:
            self.warnings[self.left_out.warning()] = None
        if omitted:
            app["omitted"] = float(f"{omitted:.2g}")
        if small := bounded([recording.small for recording in self.structures]):
            app["bounded"] = small
        document = {"isochrone": "app/1", "runs": ["alone"], "apps": [app]}
        return General(document, list(self.warnings), self.spread, self.open, self.without)

    def refuse(self, where: str, problem: str) -> InputError:
        counts = ", ".join(map(str, self.ranks))
        return InputError(
            "the program cannot be extrapolated to other numbers of ranks: "
            f"{problem}", where=f"{self.name} {where}",
            hint=f"recorded on {counts} ranks",
        )  # fmt: skip

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
            return self.place(places, f"{path} ({_kind(nodes[0])})")
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

    def aligned(
        self, trees: Sequence[Tree], where: str
    ) -> list[tuple[Place | Again, ...]]:  # fmt: skip
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
                listing = ", ".join(f"{k} at {p}" for k, p in zip(kinds, self.ranks, strict=True))
                position = f"position {where}.{number}".replace(" .", " ")
                raise self.refuse(position, f"its ranks are {listing}")
            for k in ends:
                head = remaining[k].pop(0)
                assert isinstance(head, Place)
                share = computed(head) / max(sum(map(computed, flat(trees[k]))), 1e-12)
                if share > NEGLIGIBLE:
                    self.warnings[
                        f"{share:.1%} of the computation on {self.ranks[k]} ranks is at a place of "
                        "its own and left out"
                    ] = None
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
                phases.append(self.phase("exchange", self.farm(farms, path)))
            else:
                phases.append(self.phase(op, self.collective(places, path)))
        elif rounds[-1].messages:
            phases.append(self.phase("exchange", self.exchange(places, period, path)))
        return phases

    def phase(self, kind: str, value: Any) -> Written:
        """Return a phase, and note the functions that were fitted for it."""
        self.open.append(self.fitted)
        self.fitted = {}
        return {kind: value}

    def value(
        self, values: Sequence[float], subject: str, path: str, *, first: str = "",
        noise: float = 0.0, visits: Sequence[int] = (),
    ) -> Any:  # fmt: skip
        """Return values, NaN where there are none, as a function of p."""
        by_ranks = {p: v for p, v in zip(self.ranks, values, strict=True) if not math.isnan(v)}
        by_visits = dict(zip(self.ranks, visits, strict=True)) if visits else None
        for error in (noise, max(noise, MAX_FUNCTION_ERROR)):
            formula = growth(by_ranks, first, noise=error, below=self.below, grids=self.grids,
                           visits=by_visits)  # fmt: skip
            if formula is not None:
                break
        listing = ", ".join(f"{value:.4g}" for value in by_ranks.values())
        if formula is None:
            raise self.refuse(
                f"position {path}",
                f"{subject} is not a known function of the number of ranks p: {listing}",
            )
        if formula.error > max(MAX_FUNCTION_ERROR, MAX_MEAN_ERRORS * noise):
            self.warnings[
                f"position {path}: {subject} follows no function of p ({listing}); the nearest one "
                f"is {formula.error:.0%} off"
            ] = None
        self.fitted[f"position {path}: {subject}"] = formula
        return _plain(formula.text)

    def whole(
        self, values: Sequence[int], subject: str, path: str, *, levels: bool = False
    ) -> Any:  # fmt: skip
        """Return whole numbers as the function of p that has exactly these values."""
        text = whole(dict(zip(self.ranks, values, strict=True)), levels=levels)
        if text is None:
            listing = ", ".join(map(str, values))
            raise self.refuse(f"position {path}", f"{subject} are {listing}")
        return _plain(text)

    def computing(self, places: Sequence[Place], side: int, period: int, path: str) -> Any | None:
        """Return the computation of a place: that of the most ranks, times a function of p.

        What is negligible need follow no rule.
        """
        spent = [(place.round.before, place.round.within)[side] for place in places]
        seen = [[of_rank.mean for of_rank in by_rank.values()] or [0.0] for by_rank in spent]
        means = np.array([sum(of) for of in seen]) / self.ranks
        if not means[-1]:
            return None
        longest = np.array([max(of) for of in seen])
        visits = [place.visits for place in places]
        share = float(
            max(longest * visits / [max(recording.seconds, 1e-12) for recording in self.structures])
        )
        slowest = longest / np.maximum(means, 1e-12)
        varies = noise(spent)
        try:
            uneven = float(max(slowest) / min(slowest))
            if uneven > UNEVEN + MAX_MEAN_ERRORS * varies:
                slowest_ranks = [max(by, key=lambda rank: by[rank].mean, default=0) for by in spent]
                if len(set(slowest_ranks)) == 1:
                    return self.of_slowest(spent, slowest_ranks, str(slowest_ranks[0]), path)
                if all(rank == p - 1 for rank, p in zip(slowest_ranks, self.ranks, strict=True)):
                    return self.of_slowest(spent, slowest_ranks, "", path)
                self.spread += share * (uneven - 1)
                self.warnings[
                    f"position {path}: the slowest rank computes {min(slowest):.2g} to "
                    f"{max(slowest):.2g} times as long as the mean: factors are drawn at random"
                ] = None
            written = computation(spent[-1], self.ranks[-1], period)
            ratios = np.maximum(means / means[-1], 1e-9).tolist()
            by = self.value(ratios, "the computation before it", path, noise=varies, visits=visits)
        except InputError as error:
            if share < NEGLIGIBLE:
                return seconds(means[-1])
            if share > MIN_UNRULED_SHARE:
                raise
            self.spread += share
            self.warnings[f"{error.where}: all ranks are taken to compute as long before it"] = None
            return seconds(means[-1])
        compute = written | {"time": _times(written["time"], by)}
        imbalance = compute.pop("imbalance", None)
        if imbalance:
            factors = [float(imbalance.get(str(r), 1.0)) for r in range(self.ranks[-1])]
            if np.std(factors) > SPREAD * np.mean(factors):
                chosen = sorted(factors)[:: -(-len(factors) // FACTORS)]
                compute["imbalance"] = {"empirical": [float(f"{f:.4g}") for f in chosen]}
            else:
                compute["time"] = _times(compute["time"], f"{np.mean(factors):.4g}")
        return plain(compute)

    def of_slowest(
        self,
        spent: Sequence[Mapping[int, Spent]],
        slowest_ranks: Sequence[int],
        key: str,
        here: str,
    ) -> Written:
        """Return computation of one rank that is another function of p than that of the others.

        `key` is its number; empty: it is the last.
        """
        longest = [1e6 * by[rank].mean for by, rank in zip(spent, slowest_ranks, strict=True)]
        totals = [1e6 * sum(one.mean for one in by.values()) for by in spent]
        means = [
            max((total - time) / (p - 1), REST * time)
            for time, total, p in zip(longest, totals, self.ranks, strict=True)
        ]
        usual = self.value(means, "its computation", here)
        slow = self.value(longest, f"the computation of rank {slowest_ranks[-1]}", here)
        factor = f"({slow})/({usual})"
        return {"time": f"1us*({usual})", "imbalance": {key: factor} if key else factor}

    def collective(self, places: Sequence[Place], path: str) -> Written:
        calls = [place.round.call for place in places if place.round.call is not None]
        op = calls[0].op
        options = {}
        if op != "barrier":
            options["bytes"] = self.value([call.bytes for call in calls], f"the size of {op}", path)
        among = [place.round.among for place in places]
        size: Any = "p"
        if any(groups != [list(range(p))] for groups, p in zip(among, self.ranks, strict=True)):
            options["among"] = self.groups(among, op, path)
            size = options["among"]["size"]
        roots = [call.root for call in calls]
        if any(place.turns for place in places):
            options["root"] = self.rotating(places, str(size), path)
        elif op in ROOTED and max(roots) > 0:
            options["root"] = self.whole(roots, f"the roots of {op}", path)
        return options

    def rotating(self, places: Sequence[Place], size: str, path: str) -> str:
        """Return roots that differ from turn to turn as a formula of the step."""
        step, times = self.loops[-1]
        roots = {
            p: [turn.call.root for turn in place.turns or [place.round] * place.period if turn.call]
            for p, place in zip(self.ranks, places, strict=True)
        }
        text = formula(roots, step, rotations(roots, step, times, size))
        if text is None:
            listing = "; ".join(", ".join(map(str, of[:8])) for of in roots.values())
            raise self.refuse(f"position {path}", f"its roots follow no rule: {listing}")
        if any(len(place.round.among) > 1 for place in places) and ROTATING not in self.warnings:
            self.warnings[ROTATING] = None
            self.spread += DOUBTFUL
        return text

    def groups(self, among: Sequence[Sequence[Sequence[int]]], op: str, path: str) -> Written:
        """Return groups as rows or columns: their size, and the distance of their ranks."""
        pairs = map(_size_and_stride, among, self.ranks)
        shapes = [shape for shape in pairs if shape]
        if len(shapes) < len(among):
            raise self.refuse(
                f"position {path}", f"the groups of {op} are neither rows nor columns"
            )
        sizes, strides = zip(*shapes, strict=True)
        return {
            "size": self.whole(sizes, f"the sizes of groups of {op}", path),
            "stride": self.whole(strides, f"the distances of ranks in groups of {op}", path),
        }

    def farm(self, farms: Sequence[Farm], path: str) -> Written:
        exchange = farms[-1].exchange(self.ranks[-1])
        exchange["tasks"] = self.value([farm.tasks for farm in farms], "the number of tasks", path)
        for key in ("task", "result"):
            name = {"task": "bytes", "result": "reply"}[key]
            values = [getattr(farm, key) for farm in farms]
            exchange[name] = self.value(values, f"the size of a {key}", path)
        if "compute" in exchange:
            by = self.per_task([farm.spent for farm in farms], "a task", path)
            exchange["compute"] = {"time": _times(exchange["compute"]["time"], by)}
        if "dispatch" in exchange:
            by = self.per_task([farm.dispatch for farm in farms], "the master for a task", path)
            exchange["dispatch"] = _times(exchange["dispatch"], by)
        return exchange

    def per_task(self, spent: Sequence[Spent], subject: str, path: str) -> Any:
        """Return seconds for a task as parts of those on the most ranks."""
        noise = max(of_farm.error() / max(of_farm.mean, 1e-12) for of_farm in spent)
        means = [of_farm.mean / spent[-1].mean for of_farm in spent]
        return self.value(means, f"the time of {subject}", path, noise=noise)

    def exchange(self, places: Sequence[Place], period: int, path: str) -> Written:
        rounds = [place.round for place in places]
        kind = rounds[0].kind
        if kind not in ("exchange", "stream"):
            raise self.refuse(f"position {path}", f"its messages are of the flow {kind}")
        messages = [round_.messages for round_ in rounds]
        rows = [row_of(sent, p) for sent, p in zip(messages, self.ranks, strict=True)]
        alike = [row for row in rows if row is not None]
        bits = len(alike) == len(rows)
        grid = offsets(messages, self.ranks)
        if grid is not None and not (bits and grid.grid.dimensions > LIKELY_DIMENSIONS):
            exchange = {"topology": self.on_grid(places, grid, path), "flow": rounds[0].flow}
        elif kind == "exchange":
            topology = self.butterfly(alike, path) if bits else self.irregular(messages, path)
            sizes = [sum(size for _, _, size in m) / len(m) for m in messages]
            size = self.value(sizes, "the mean size of messages", path)
            exchange = {"topology": topology, "flow": "exchange", "bytes": f"round({size})"}
        else:
            raise self.refuse(f"position {path}", "its messages are not offsets on a grid")
        within = self.computing(places, 1, period, path)
        if within is not None:
            exchange["compute"] = within
        return exchange

    def on_grid(self, places: Sequence[Place], grid: Offsets, path: str) -> Written:
        """Return messages to offsets; where their sizes differ between ranks, means are kept."""
        share = self.left_out.share_of([[place] for place in places])
        if grid.uneven * share > MIN_UNRULED_SHARE:
            self.spread += grid.uneven * share
            self.warnings[
                f"position {path}: sizes of messages differ by up to {grid.uneven:.0%} between "
                "ranks: their means are kept"
            ] = None
        listed = []
        for offset in grid.sizes[-1]:
            size = self.value(
                [by.get(offset, math.nan) for by in grid.sizes],
                f"the size of messages to {offset}", path,
                first=faces(offset, grid.grid.dimensions),
            )  # fmt: skip
            listed.append({"to": list(offset), "bytes": size})
        options: Written = {"dimensions": grid.grid.dimensions, "list": listed}
        if grid.grid.periodic:
            options["periodic"] = True
        if grid.grid.order == "F":
            options["first-fastest"] = True
        return {"offsets": options}

    def butterfly(self, rows: Sequence[tuple[int, int]], path: str) -> Written | str:
        """Return a butterfly of all ranks, or of groups of them."""
        sizes, strides = zip(*rows, strict=True)
        if list(sizes) == self.ranks:
            return "butterfly"
        size = self.whole(sizes, "the sizes of groups of a butterfly", path)
        stride = self.whole(strides, "the distances of ranks in a butterfly", path)
        return {"butterfly": {"size": size, "stride": stride}}

    def irregular(self, messages: Sequence[Messages], path: str) -> Written:
        """Return a random graph of as many neighbours.

        Each rank has the fewest neighbours of a rank on a ring, and random ones in addition.
        """
        if offsets(messages[-1:], self.ranks[-1:]) is not None:
            problem = (
                "its neighbours are offsets on a grid, but not on the same at all numbers of ranks"
            )
            raise self.refuse(f"position {path}", problem)
        degrees = [len(m) / p for m, p in zip(messages, self.ranks, strict=True)]
        pairs = all(len({a for a, _, _ in m}) == len(m) for m in messages)
        if pairs and not any(p % 2 for p in self.ranks):  # of some, others alone
            self.warnings[
                f"position {path}: partners are no offsets on a grid; a random one of each rank is "
                "taken"
            ] = None
            return {"random-regular": {"degree": 1}}
        sent = np.bincount([a for a, _, _ in messages[-1]], minlength=self.ranks[-1])
        ring: Any = max(2, 2 * (int(sent.min()) // 2))
        extra: Any = float(f"{min(max(degrees[-1] / ring - 1, 0.0), 1.0):.3g}")
        if degrees[-1] > MOST_GROWTH * degrees[-2]:
            degree = f"min({self.value(degrees, 'the number of neighbours', path)}, p - 1)"
            ring = f"max(2, 2*floor({degree}/2))"
            extra = f"max({degree}/{ring} - 1, 0)"
        self.warnings[
            f"position {path}: neighbours are no offsets on a grid; random ones are taken, "
            f"{degrees[-1]:.1f} of each rank"
        ] = None
        return {"networkx": {"generator": "newman_watts_strogatz_graph", "n": "p", "k": ring,
                             "p": extra}}  # fmt: skip


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
            if grid is not None:
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


def _plain(text: str) -> Any:
    """Return a whole number as such."""
    return int(text) if text.isdecimal() else text


def _times(value: Any, factor: Any) -> Any:
    """Return a time or a distribution that is so many times as long."""
    if str(factor) == "1":
        return value
    if isinstance(value, str):
        return f"{value}*{factor}"
    ((name, of),) = value.items()
    if name == "empirical":
        return {name: {f"{time}*{factor}": weight for time, weight in of.items()}}
    return {name: {**of, "median": f"{of['median']}*{factor}"}}


def _size_and_stride(groups: Sequence[Sequence[int]], ranks: int) -> tuple[int, int] | None:
    """Return the size of groups and the distance of their ranks, if they part all ranks alike."""
    size = len(groups[0])
    stride = groups[0][1] - groups[0][0] if size > 1 else 1
    expected = sorted(
        [first + k * stride for k in range(size)]
        for first in range(ranks) if first // stride % size == 0
    )  # fmt: skip
    return (size, stride) if sorted(map(list, groups)) == expected else None
