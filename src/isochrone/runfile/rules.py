"""What the records of a run file may hold: one table, applied to every file that is read.

A file that breaks a rule is refused by every command. Missing values are allowed unless
`Rule.needed`.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from math import inf

import numpy as np

from isochrone.base.arrays import Array, Bools
from isochrone.base.errors import InputError
from isochrone.base.record import Record
from isochrone.base.stats import distinct
from isochrone.base.table import Table
from isochrone.runfile.columns import MAX_SECONDS, MIN_SECONDS
from isochrone.runfile.run import Run
from isochrone.runfile.samples import MARKS

_BELOW_RESOLUTION = "below-resolution"
"""Code of the warning that times are 0."""

DAMAGED = "the file is damaged: copy it again, or measure again"

_MAX_BYTES = 1 << 60
_MAX_COUNT = 10**12
"""More repetitions than fit into a measurement."""
_MAX_RATE = 1e18  # bytes per second; what a machine of 2040 may do, and no damaged number
_COARSEST = 0.1
"""Seconds: the ticks of the coarsest clock in use are ten times finer."""
_FLOAT_ROUNDING = 1e-9
"""Two statistics of the same times may contradict by this part, as they are computed in floats."""


class Rule(Record):
    """Which numbers a member of a record may hold.

    Attributes
    ----------
    least, most
        Limits; ``most`` may depend on the number of ranks.
    whole
        Only whole numbers.
    above_zero
        Smallest nonzero value.
    needed
        Each record has it.
    """

    least: float = 0
    most: float | Callable[[int], float] = inf
    whole: bool = False
    above_zero: float = 0
    needed: bool = False

    def fault(self, values: Array, ranks: int) -> Bools:
        """Mark the values that break the rule."""
        largest = self.most(ranks) if callable(self.most) else self.most
        wrong = (values < self.least) | (values > largest)
        if self.above_zero:
            wrong |= (values > 0) & (values < self.above_zero)
        if values.dtype.kind == "f":
            if self.whole:
                wrong |= values != np.floor(values)
            missing = np.isnan(values)
            wrong = wrong | missing if self.needed else wrong & ~missing
        return np.asarray(wrong, dtype=bool)


_RANK = Rule(most=lambda ranks: ranks - 1, whole=True)
_BYTES = Rule(most=_MAX_BYTES, whole=True, needed=True)
_COUNT = Rule(least=1, most=_MAX_COUNT, whole=True)
_TIME = Rule(most=MAX_SECONDS, above_zero=MIN_SECONDS)
_SPREAD = Rule(most=MAX_SECONDS)
_SOME_RANKS = Rule(least=1, most=lambda ranks: ranks, whole=True)


class Rules(Record):
    """What holds for the records of one name.

    Attributes
    ----------
    members
        Numbers, by name.
    texts
        Texts that each record has, by name, and which there are; any if none is listed.
    ordered
        Members none of which is less than the one before it.
    refers
        Members that are a number of another record: its name, which has the member, too.
    pairs
        Whether a record is of two different ranks, the lower one first.
    may_lack
        Members that a file may be without, though each record has them if any has.
    """

    members: Mapping[str, Rule]
    texts: Mapping[str, Sequence[str]] = {}
    ordered: Sequence[Sequence[str]] = ()
    refers: Mapping[str, str] = {}
    pairs: bool = False
    may_lack: Sequence[str] = ()


_WHOLE = Rule(most=1 << 53, whole=True, needed=True)
_MAYBE_WHOLE = Rule(most=1 << 53, whole=True)
_ONE_OR_MORE = Rule(least=1, most=1 << 53, whole=True, needed=True)
_KNOWN_RANK = Rule(most=lambda ranks: ranks - 1, whole=True, needed=True)
_SECONDS = Rule(most=MAX_SECONDS, needed=True)
_SIGNED = Rule(least=-MAX_SECONDS, most=MAX_SECONDS, needed=True)
_ANY_WHOLE = Rule(least=-inf, whole=True, needed=True)
_OPS = {"op": ("write", "read")}
_MESSAGES = Rule(most=lambda ranks: 2 * ranks**2, whole=True, needed=True)
"""One each way between each hot process and each rank."""

PAIR = Rules(
    {
        "i": _KNOWN_RANK, "j": _KNOWN_RANK,
        "bytes": _BYTES, "n": _COUNT, "batch": _COUNT, "mean": _TIME, "stddev": _SPREAD,
        "min": _TIME, "median": Rule(most=MAX_SECONDS, above_zero=MIN_SECONDS, needed=True),
        "p95": _TIME, "max": _TIME, "low": _SPREAD, "high": _TIME,
        "forward": _TIME, "reverse": _TIME,
    },
    ordered=(("min", "median", "max"), ("min", "mean", "max"), ("low", "high")), pairs=True,
    may_lack=("median",),
)  # fmt: skip
_SAMPLE = Rules(
    {
        "bytes": _BYTES, "i": _RANK, "j": _RANK,
        "p": _SOME_RANKS,
        "pairs": Rule(least=1, most=lambda ranks: ranks // 2, whole=True),
        "groups": Rule(most=lambda ranks: ranks, whole=True), "n": _COUNT,
        "operations": Rule(most=_MAX_BYTES, whole=True),
        "seconds": Rule(most=MAX_SECONDS, above_zero=MIN_SECONDS, needed=True),
        "rate": Rule(most=_MAX_RATE, above_zero=1 / MAX_SECONDS),
        "phase_p": _SOME_RANKS,
        "phase_bytes": Rule(most=_MAX_BYTES, whole=True),
        "min": _TIME, "mean": _TIME, "max": _TIME,
    },
    ordered=(("min", "mean", "max"),),
)  # fmt: skip


def _whole(*names: str) -> dict[str, Rule]:
    return dict.fromkeys(names, _WHOLE)


def _times(*names: str) -> dict[str, Rule]:
    return dict.fromkeys(names, _SECONDS)


RULES = {
    ("", "pair"): PAIR,
    ("", "sync"): Rules(dict.fromkeys(("residual_median", "residual_max", "drift_max"), _SIGNED)),
    ("", "offset"): Rules({
        "i": _KNOWN_RANK, "j": _KNOWN_RANK, "seconds": _SIGNED, "bound": _SIGNED, "age": _SIGNED,
    }),
    ("sweep", "sample"): _SAMPLE,
    ("hotspot", "sample"): Rules(
        {
            **dict.fromkeys(("intra", "in", "out"), _MESSAGES), "bytes": _BYTES,
            "hot": Rule(most=lambda ranks: ranks, whole=True, needed=True),
            "busy": Rule(most=1), **_times("seconds"),
        },
        {"order": ()},
    ),
    ("hotspot", "role"): Rules({"rank": _KNOWN_RANK, **_whole("group", "index")}, {"role": ()}),
    ("hotspot", "unreachable"): Rules({}, {"why": ()}),
    ("tile-io", "sample"): Rules(
        {
            "p": Rule(least=1, most=lambda ranks: ranks, whole=True, needed=True),
            "bytes": _BYTES, **_times("seconds"), "rounds": _MAYBE_WHOLE,
            **dict.fromkeys(
                ("open", "offsets", "counts", "exchange", "file", "close", "total"), _SPREAD
            ),
        },
        {**_OPS, "phase": ("file", "exchange")},
    ),
    ("tile-io", "aggregator"): Rules(
        {"rank": _KNOWN_RANK, **_whole("domain", "node")}, {"source": ()}
    ),
    ("tile-io", "file-io"): Rules({"rank": _KNOWN_RANK, "bytes": _BYTES, **_whole("node")}, _OPS),
    ("tile-io", "node"): Rules(_whole("node", "intra", "in", "out")),
    ("tile-io", "hint"): Rules({}, {"key": (), "value": ()}),
    ("emulation", "app"): Rules(_whole("app", "iterations"), {"name": (), "ranks": ()}),
    ("emulation", "phase"): Rules(_whole("app", "phase"), {"name": ()}, refers={"app": "app"}),
    ("emulation", "launch"): Rules(_whole("launch", "repeat"), {"together": ()}),
    ("emulation", "wall"): Rules(
        {
            **_whole("launch", "app"), "overlap": _SPREAD,
            "iterations": _ONE_OR_MORE,
            "seconds": Rule(least=MIN_SECONDS, most=MAX_SECONDS, needed=True),
        },
        refers={"launch": "launch", "app": "app"},
    ),
    ("emulation", "iterations"): Rules(_whole("launch", "app"), refers={"app": "app"}),
    ("emulation", "rank_time"): Rules(
        {**_whole("launch", "app", "rank", "switches"),
         **_times("seconds", "communication", "asked", "delivered")},
        refers={"app": "app"},
    ),
    ("emulation", "phase_time"): Rules(
        {**_whole("launch", "app", "phase"), **_times("mean", "max")},
        ordered=(("mean", "max"),), refers={"app": "app"},
    ),
    ("emulation", "event"): Rules(
        {**_whole("launch", "app", "rank", "phase"), **_times("begin", "end")}, {"what": ()},
        ordered=(("begin", "end"),), refers={"app": "app"},
    ),
    ("emulation", "edge"): Rules(
        _whole("app", "from", "to", "messages", "bytes"), refers={"app": "app"}
    ),
    ("recording", "edge"): Rules({
        "from": _KNOWN_RANK, "to": _KNOWN_RANK, **_whole("messages", "bytes"), **_times("seconds"),
    }),
    ("recording", "operation"): Rules(
        {
            **_whole("bytes", "members", "calls"), **_times("seconds", "most"),
            "group": _ANY_WHOLE,
            "moved": Rule(most=_MAX_RATE, needed=True),
        },
        {"op": ()},
    ),
    ("recording", "rank_time"): Rules({
        "rank": _KNOWN_RANK, **_whole("calls", "threads"),
        **_times("seconds", "communication", "computation", "recording"),
    }),
    ("recording", "site"): Rules(
        {"rank": _KNOWN_RANK, **_whole("site", "offset")}, {"file": ()}
    ),
    ("io-recording", "file"): Rules(_whole("file", "opens"), {"name": ()}),
    ("io-recording", "hint"): Rules(_whole("file"), {"key": ()}),
    ("io-recording", "pattern"): Rules(
        _whole("pattern", "file", "bytes", "calls", "pieces"), _OPS, refers={"file": "file"}
    ),
    ("io-recording", "piece"): Rules({
        **_whole("pattern", "offset", "length", "stride"), "rank": _KNOWN_RANK,
        "count": _ONE_OR_MORE,
    }),
    ("io-recording", "call"): Rules(
        {
            **_whole("call", "pattern"), "rounds": _MAYBE_WHOLE,
            "shift": _ANY_WHOLE, **_times("seconds"),
            **dict.fromkeys(("late", "offsets", "counts", "exchange", "file"), _SPREAD),
        },
        {"name": ()}, refers={"pattern": "pattern"},
    ),
    ("io-recording", "time"): Rules(
        {
            "rank": _KNOWN_RANK, **_whole("file", "last"), "calls": _ONE_OR_MORE,
            **dict.fromkeys(("bytes", "pieces", "span", "empty"), _MAYBE_WHOLE),
            **_times("seconds", "waiting", "access", "late"),
        },
        {"call": ()}, refers={"file": "file"},
    ),
    ("io-recording", "independent"): Rules(
        {**_whole("file", "calls", "bytes", "ranks"), **_times("seconds")}, _OPS
    ),
}  # fmt: skip
"""By the kind of result, empty for any, and the name of the record; others are read as they are."""

_FOREIGN = {"latency-map": ("sample",), "sweep": ("pair",)}
"""Samples that a kind of result cannot hold: its header is that of another measurement."""


def check(run: Run) -> None:
    """Apply the rules to a run.

    Raises
    ------
    InputError
        If one is broken; names the file, the record and the member.
    """
    clock = run.about.clock
    for key, value in (("granularity", clock.granularity), ("cost", clock.cost)):
        if value is not None and not 0 <= value <= _COARSEST:
            raise _damaged(run, f"the 'run' record has an impossible 'clock.{key}' of {value:g} s")
    for name in _FOREIGN.get(run.kind, ()):
        if name in run.tables:
            raise _damaged(run, f"a run of kind '{run.kind}' cannot have a '{name}' record")
    for name, table in run.tables.items():
        rules = RULES.get((run.kind, name)) or RULES.get(("", name))
        if rules is not None and len(table):
            _check_table(run, name, table, rules)
    _warn_of_zeros(run)
    samples = run.tables.get("sample")
    if run.kind == "sweep" and samples is not None and len(samples):
        _check_curves(run, samples)


def below_resolution(run: Run) -> str:
    """Return why a run with times of 0 cannot be compared; empty if it can."""
    codes = {warning.get("code"): warning for warning in run.warnings}
    return str(codes[_BELOW_RESOLUTION]["text"]) if _BELOW_RESOLUTION in codes else ""


def _warn_of_zeros(run: Run) -> None:
    """Add a warning to the run where times are below the resolution of the clock."""
    zeros = sum(
        int(np.sum(table[key] == 0))
        for name, key in (("pair", "median"), ("sample", "seconds"))
        if (table := run.tables.get(name)) is not None and key in table
    )
    if zeros and all(warning.get("code") != _BELOW_RESOLUTION for warning in run.warnings):
        text = f"{zeros} times are 0: they are below the resolution of the clock"
        run.warnings.append({"code": _BELOW_RESOLUTION, "text": text})


def _check_table(run: Run, name: str, table: Table, rules: Rules) -> None:
    for key, rule in rules.members.items():
        if key not in table:
            if rule.needed and key not in rules.may_lack:
                raise _damaged(run, f"a '{name}' record has no '{key}'")
            continue
        values = table[key]
        if values.dtype.kind not in ("i" if rule.whole and rule.needed else "if"):
            raise _damaged(
                run, f"the '{key}' of a '{name}' record is not a {'whole ' * rule.whole}number"
            )
        _refuse(run, name, rule.fault(values, run.size), f"'{key}' is out of range")
    for keys in rules.ordered:
        present = [key for key in keys if key in table]
        for low, high in pairwise(present):
            wrong = table[low] > table[high] * (1 + _FLOAT_ROUNDING)
            _refuse(run, name, wrong, f"'{low}' is above '{high}'")
    for key, allowed in rules.texts.items():
        texts = table[key].tolist() if key in table else [None] * len(table)
        odd = [not isinstance(text, str) or bool(allowed and text not in allowed) for text in texts]
        _refuse(run, name, np.array(odd), f"'{key}' is not a known word")
    for key, referred in rules.refers.items():
        known_ones = run.tables.get(referred, Table())
        targets = known_ones[key] if key in known_ones else np.empty(0)
        _refuse(
            run,
            name,
            ~np.isin(table[key], targets),
            f"its '{key}' is not in the '{referred}' records",
        )
    if rules.pairs:
        _refuse(run, name, table["i"] >= table["j"], f"its ranks are not 0 <= i < j < {run.size}")
        _refuse(
            run, name, _contradicting(table, run.size), "another record of this pair contradicts it"
        )


def _damaged(run: Run, problem: str) -> InputError:
    return InputError(problem, where=run.where, hint=DAMAGED)


def _refuse(run: Run, name: str, wrong: Bools, problem: str) -> None:
    """Raise an error that names the first record that is wrong, if there is one."""
    if wrong.any():
        number = int(np.argmax(wrong)) + 1
        raise _damaged(run, f"'{name}' record {number}: {problem}")


def _contradicting(table: Table, ranks: int) -> Bools:
    """Mark pairs that were measured twice with different times, but without a mark.

    A mark decides which of two measurements is used.
    """
    rows = np.flatnonzero(~table.flag(*MARKS))
    key = "median" if "median" in table else "mean"
    wrong = np.zeros(len(table), dtype=bool)
    if key not in table:
        return wrong
    pair = table["i"][rows].astype(np.int64) * ranks + table["j"][rows]
    if ranks**2 <= 8 * len(rows) and len(distinct(table["bytes"])) == 1:
        seen = np.zeros(ranks**2, dtype=bool)
        seen[pair] = True
        if np.count_nonzero(seen) == len(pair):  # each once; sorting takes far longer
            return wrong
    order = np.lexsort((pair, table["bytes"][rows]))
    rows, pair = rows[order], pair[order]
    size, time = table["bytes"][rows], table[key][rows]
    same = (pair[1:] == pair[:-1]) & (size[1:] == size[:-1]) & (time[1:] != time[:-1])
    wrong[rows[1:][same]] = True
    return wrong


def _check_curves(run: Run, samples: Table) -> None:
    """Refuse samples without a number or text for each key of their curve."""
    if not run.by:
        raise _damaged(run, "'by' of the 'run' record is not a member of the samples")
    for name in run.by:
        if name not in samples:
            raise _damaged(run, f"a 'sample' record has no '{name}'")
        values = samples[name]
        unknown = (
            np.isnan(values) if values.dtype.kind in "if"
            else np.array([not isinstance(value, str) for value in values.tolist()])
        )  # fmt: skip
        _refuse(run, "sample", unknown, f"'{name}' is neither a number nor a text")
    if {"i", "j"} <= {*run.by}:
        _refuse(run, "sample", samples["i"] == samples["j"], "'i' and 'j' are the same rank")
