"""Checks every file that is read: each record is as it was declared, in `runfile.records`.

A file that breaks a rule is refused by every command.
"""

from collections.abc import Callable
from functools import cache
from itertools import pairwise
from math import inf

import numpy as np
from msgspec import inspect

from isochrone.base.arrays import Array, Bools
from isochrone.base.errors import InputError
from isochrone.base.record import Members, Record
from isochrone.base.stats import distinct
from isochrone.base.table import Table
from isochrone.runfile.records import Declared, Pair, declared_records, result
from isochrone.runfile.run import NO_END, NO_RESULT, Run
from isochrone.runfile.samples import MARKS

_BELOW_RESOLUTION = "below-resolution"
"""Code of the warning that times are 0."""

DAMAGED = "the file is damaged: copy it again, or measure again"

_COARSEST = 0.1
"""Seconds: the ticks of the coarsest clock in use are ten times finer."""
_FLOAT_ROUNDING = 1e-9
"""Two statistics of the same times may contradict by this part, as they are computed in floats."""


class Rule(Record):
    """Which numbers a member of a record may hold, or which texts.

    Attributes
    ----------
    least, most
        Limits; ``most`` may depend on the number of ranks.
    whole
        Only whole numbers.
    above_zero
        Smallest nonzero value.
    needed
        Each record has it, …
    may_lack
        … but a file may be without.
    text
        Whether it is one of these texts, any if none is listed; None for a number.
    """

    least: float = -inf
    most: float | Callable[[int], float] = inf
    whole: bool = False
    above_zero: float = 0
    needed: bool = False
    may_lack: bool = False
    text: tuple[str, ...] | None = None

    def fault(self, values: Array, ranks: int) -> Bools:
        """Mark the values that break the rule."""
        if self.text is not None:
            texts = values.tolist()
            return np.array([not isinstance(t, str) or t not in (self.text or (t,)) for t in texts])
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


@cache
def rules_of(record: type[Declared]) -> dict[str, Rule]:
    """Return the rules of the members of a record, which follow from its declaration."""
    rules = {}
    for field in inspect.type_info(record).fields:  # type: ignore[attr-defined]
        kind = field.type
        extra: Members = {}
        if isinstance(kind, inspect.UnionType):
            kind = next(k for k in kind.types if not isinstance(k, inspect.NoneType))
        if isinstance(kind, inspect.Metadata):
            extra = kind.extra or {}
            kind = kind.type
        needed = field.default is not None
        if isinstance(kind, inspect.IntType | inspect.FloatType):
            limits = {
                name: limit
                for name, limit in (("least", kind.ge), ("most", kind.le))
                if limit is not None
            }
            rules[field.encode_name] = Rule(
                **{**limits, **extra},
                whole=isinstance(kind, inspect.IntType),
                needed=needed,
                may_lack=not field.required,
            )
        elif not isinstance(kind, inspect.BoolType):
            words = kind.values if isinstance(kind, inspect.LiteralType) else ()
            rules[field.encode_name] = Rule(
                needed=True, may_lack=not field.required, text=tuple(map(str, words))
            )
    return rules


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
    declared = declared_records(run.kind)
    for name, table in run.tables.items():
        if name in declared and len(table):
            record = declared[name]
            if record is None:
                raise _damaged(run, f"a run of kind '{run.kind}' cannot have a '{name}' record")
            _check_table(run, name, table, record)
    _warn_of_zeros(run)
    samples = run.tables.get("sample")
    if result(run.kind).curves and samples is not None and len(samples):
        _check_curves(run, samples)


def below_resolution(run: Run) -> str:
    """Return why a run with times of 0 cannot be compared; empty if it can."""
    codes = {warning.get("code"): warning for warning in run.warnings}
    return str(codes[_BELOW_RESOLUTION]["text"]) if _BELOW_RESOLUTION in codes else ""


def why_incomparable(run: Run) -> str:
    """Return why a run says nothing about others; empty if it does."""
    if not run.complete:
        return NO_END
    return below_resolution(run) or ("" if run.tables else NO_RESULT)


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


def _check_table(run: Run, name: str, table: Table, record: type[Declared]) -> None:
    for key, rule in rules_of(record).items():
        if key not in table:
            if rule.needed and not rule.may_lack:
                raise _damaged(run, f"a '{name}' record has no '{key}'")
            continue
        values = table[key]
        if rule.text is None and values.dtype.kind not in (
            "i" if rule.whole and rule.needed else "if"
        ):
            raise _damaged(
                run, f"the '{key}' of a '{name}' record is not a {'whole ' * rule.whole}number"
            )
        fault = "is out of range" if rule.text is None else "is not a known word"
        _refuse(run, name, rule.fault(values, run.size), f"'{key}' {fault}")
    for keys in record.ordered:
        for low, high in pairwise(key for key in keys if key in table):
            wrong = table[low] > table[high] * (1 + _FLOAT_ROUNDING)
            _refuse(run, name, wrong, f"'{low}' is above '{high}'")
    for key in record.refers:
        targets = run.tables.get(key, Table()).columns.get(key, np.empty(0))
        problem = f"its '{key}' is not in the '{key}' records"
        _refuse(run, name, ~np.isin(table[key], targets), problem)
    if record is Pair:
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
            np.isnan(values)
            if values.dtype.kind in "if"
            else np.array([not isinstance(value, str) for value in values.tolist()])
        )
        _refuse(run, "sample", unknown, f"'{name}' is neither a number nor a text")
    if {"i", "j"} <= {*run.by}:
        _refuse(run, "sample", samples["i"] == samples["j"], "'i' and 'j' are the same rank")
