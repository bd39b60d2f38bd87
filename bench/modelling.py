"""How well models predict times whose law is known, and how often their intervals hold it.

make bench, or alone, for any checkout of the package:
PYTHONPATH=CHECKOUT/src:tests .venv/bin/python bench/modelling.py --draws 100 --json out.json
"""

from __future__ import annotations

import argparse
import csv
import json
import re
import tempfile
import time
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import isochrone
from isochrone.base.errors import InputError
from isochrone.models import Model
from made_up.tables import (
    BIG_JUMP,
    DESIGNS,
    Questions,
    big_jump_questions,
    draw,
    noisy_medians,
    questions,
)
from made_up.truths import TRUTHS, Truth, named, random_truth

Array = NDArray[np.float64]
Row = dict[str, Any]

PLACES = ("inside", "between", "2x", "4x")
SIMULATED = Path(__file__).parents[1] / "tests/golden/simgrid"
FITTED = 32
"""Simulated collectives are fitted on up to so many ranks."""
NOISE = {"exact": (0.0, 1), "3 % noise": (0.03, 5)}
"""Standard deviation and repetitions of what is put on simulated times."""


def modelling(
    draws: int = 20, only: str = "", file: Path | None = None, before: Path | None = None
) -> None:
    """Fit truths and simulated collectives, and ask for what was not measured."""
    print(f"\nModels of known truths, {draws} draws each, by {Path(isochrone.__file__).parent}:")
    wanted = re.compile(only)
    rows = [
        row
        for name, make in _sources().items()
        if wanted.search(name)
        for row in _shown(name, [_drawn(name, make(k), k) for k in range(draws)])
    ]
    _summary(rows)
    jumps = _big_jump(draws) if wanted.search("big jump") else []
    simulated = list(_simulated(wanted))
    if before is not None:
        _compare(json.loads(before.read_text())["truths"], rows)
    if file is not None:
        found = {
            "engine": isochrone.__file__,
            "truths": rows,
            "big jump": jumps,
            "simulated": simulated,
        }
        file.write_text(json.dumps(found, indent=1))


def _sources() -> dict[str, Callable[[int], Truth]]:
    """Return what makes the truth of each draw: always the same, or one of its own."""
    fixed: dict[str, Callable[[int], Truth]] = {t.name: (lambda k, t=t: t) for t in TRUTHS}
    return fixed | {
        "random, usual forms": lambda k: random_truth(k),
        "random, strange forms": lambda k: random_truth(k, known=False),
    }


def _drawn(name: str, truth: Truth, number: int) -> Row:
    """Fit one draw, and judge what the model says."""
    label, design = list(DESIGNS.items())[number % len(DESIGNS)]
    row: Row = {"truth": name, "draw": number, "design": label, "known": truth.known}
    model = _fitted(draw(truth, design, number), row)
    if model is None:
        return row
    row["places"] = {
        where: _judged(model, asked, noisy_medians(truth, design, asked, number))
        for where, asked in questions(truth, design).items()
    }
    return row


def _fitted(measured: Any, row: Row) -> Model | None:
    """Fit as `isochrone fit` does, and note what was taken and how long it took, or why not."""
    start = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = isochrone.fit(measured)
    except InputError as refusal:
        row["refused"] = str(refusal)
        return None
    except Exception as failure:
        row["failed"] = f"{type(failure).__name__}: {failure}"
        return None
    finally:
        row["seconds"] = time.perf_counter() - start
    families = list(dict.fromkeys(segment.family for segment in model.segments))
    row["taken"] = f"{'+'.join(families)}, {len(model.segments)}"
    return model


def _judged(model: Model, asked: Questions, later: Array | None = None) -> Row:
    """Ask a model; errors and coverage are of those points that it answers."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            said = model.predict(asked.variables)
    except InputError as refusal:
        return {"refused": str(refusal)}
    except Exception as failure:
        return {"failed": f"{type(failure).__name__}: {failure}"}
    answered = np.isfinite(said.seconds)
    if not answered.any():
        return {"refused": "no time"}
    truth, seconds = asked.seconds[answered], np.asarray(said.seconds)[answered]
    low, high = np.asarray(said.low)[answered], np.asarray(said.high)[answered]
    error = np.abs(seconds / truth - 1)
    row: Row = {
        "answered": float(np.mean(answered)),
        "error": float(np.mean(error)),
        "worst": float(np.max(error)),
        "covers": float(np.mean((low <= truth) & (truth <= high))),
        "width": float(np.median((high - low) / 2 / truth)),
    }
    if later is not None:
        later = later[answered]
        row["covers later"] = float(np.mean((low <= later) & (later <= high)))
    return row


def _shown(name: str, rows: list[Row]) -> list[Row]:
    """Print one truth as a line, and return its draws."""
    taken = Counter(row["taken"] for row in rows if "taken" in row).most_common(1)
    words = f"{taken[0][0]} ({taken[0][1]}x)" if taken else "nothing"
    seconds = float(np.median([row["seconds"] for row in rows]))
    cells = "  ".join(
        _cell(where, [row["places"].get(where) for row in rows if "places" in row])
        for where in PLACES
    )
    lost = {what: sum(what in row for row in rows) for what in ("refused", "failed")}
    said = "".join(f"  {count} {what}" for what, count in lost.items() if count)
    print(f"  {name:29} {cells}  {seconds:5.2f} s  {words[:46]}{said}", flush=True)
    return rows


def _cell(where: str, judged: Iterable[Row | None]) -> str:
    """Say the mean error, how often the truth is covered, and half the width of the interval."""
    every = [one for one in judged if one is not None]
    known = [one for one in every if "error" in one]
    if not known:
        return f"{where} {'refused' if every else '':>22}"
    error, covers = (100 * np.mean([one[what] for one in known]) for what in ("error", "covers"))
    width = 100 * np.median([one["width"] for one in known])
    unknown = f"-{len(every) - len(known)}" if len(known) < len(every) else ""
    return f"{where} {error:6.1f}% {covers:4.0f}% ±{min(width, 9999):5.1f}%{unknown}"


def _summary(rows: Sequence[Row]) -> None:
    """Print means over the draws of a kind, and by what was measured."""
    print("  (where: mean error, 95 % intervals that hold the truth, half their width)")
    groups: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        groups["usual forms" if row["known"] else "other forms"].append(row)
        groups["measured " + row["design"]].append(row)
    for name, found in groups.items():
        _shown(f"all: {name}"[:29], found)


def _compare(before: Sequence[Row], after: Sequence[Row]) -> None:
    """Print what another engine, whose figures were kept, made of the same draws."""
    print("\nBefore and now, mean error, coverage and ratio of the widths, of the same draws:")
    kept = {(row["truth"], row["draw"]): row for row in before}
    found: dict[str, list[tuple[Row, Row]]] = defaultdict(list)
    for row in after:
        old = kept.get((row["truth"], row["draw"]), {})
        if "places" in row and "places" in old:
            found[row["truth"]].append((old["places"], row["places"]))
    for name, pairs in found.items():
        print(f"  {name:29} {'  '.join(_change(where, pairs) for where in PLACES)}")


def _change(where: str, pairs: Sequence[tuple[Row, Row]]) -> str:
    both = [
        (old[where], new[where])
        for old, new in pairs
        if "error" in old.get(where, {}) and "error" in new.get(where, {})
    ]
    if not both:
        return f"{where} {'':>34}"
    error, covers = (
        " >".join(f"{100 * np.mean([one[k][what] for one in both]):6.1f}%" for k in (0, 1))
        for what in ("error", "covers")
    )
    width = np.median([new["width"] / old["width"] for old, new in both])
    return f"{where} {error} {covers} x{min(width, 999):5.2f}"


def _big_jump(draws: int) -> list[Row]:
    """Fit a jump by a factor of three, of whose place only a gap is known (limit 1.5 %)."""
    truth = named("big jump")
    asked = big_jump_questions(truth)
    rows = []
    for number in range(draws):
        row: Row = {"draw": number}
        model = _fitted(draw(truth, BIG_JUMP, number), row)
        rows.append(row | ({} if model is None else {"places": {"held": _judged(model, asked)}}))
    print("Held-out points of a big jump, 80 points of 2 % noise (limit 1.5 %):")
    print(f"  {_cell('held', [row['places']['held'] for row in rows if 'places' in row])}")
    return rows


def _simulated(wanted: re.Pattern[str]) -> Iterable[Row]:
    """Fit simulated collectives of libraries' own selection, and ask for more ranks."""
    for path in sorted(SIMULATED.glob("*.csv")):
        for noise in NOISE:
            title = f"simulated {path.stem}, {noise}"
            if not wanted.search(title):
                continue
            print(f"\n{title}, fitted on 2 to {FITTED} ranks:")
            rows = list(_of_file(path, noise))
            for on in ("all", "powers of two"):
                print(f"  {on}:")
                mine = [row for row in rows if row["fitted on"] == on]
                for row in mine:
                    _show_simulated(row["op"], [row])
                _show_simulated("all", mine)
            yield from ({"file": path.stem, "noise": noise, **row} for row in rows)


def _show_simulated(name: str, rows: Sequence[Row]) -> None:
    places = dict.fromkeys(place for row in rows for place in row.get("places", {}))
    cells = "  ".join(
        _cell(where, [row["places"].get(where) for row in rows if "places" in row])
        for where in places
    )
    words = rows[0].get("taken") or rows[0].get("refused") or rows[0].get("failed", "")
    print(f"  {name:10} {cells}  {words[:46] if len(rows) == 1 else ''}", flush=True)


def _of_file(path: Path, noise: str) -> Iterable[Row]:
    with path.open(newline="") as stream:
        table = list(csv.DictReader(stream))
    for op in dict.fromkeys(row["op"] for row in table):
        own = [row for row in table if row["op"] == op]
        small = [row for row in own if int(row["p"]) <= FITTED]
        even = [row for row in small if not int(row["p"]) & int(row["p"]) - 1]
        odd = [row for row in small if int(row["p"]) & int(row["p"]) - 1]
        asked = {f"p={p}": [one for one in own if int(one["p"]) == p] for p in (48, 64, 96, 128)}
        row: Row = {"op": op, "fitted on": "all", "places": {}}
        yield _ask(row, _fit_rows(small, noise, row), asked)
        del asked["p=48"], asked["p=96"]
        row = {"op": op, "fitted on": "powers of two", "places": {}}
        yield _ask(row, _fit_rows(even, noise, row), asked | {"off powers": odd})


def _ask(row: Row, model: Model | None, asked: Mapping[str, Sequence[Mapping[str, str]]]) -> Row:
    for where, rows in asked.items():
        if model is not None and rows:
            row["places"][where] = _judged(model, _asked(model, rows))
    return row


def _fit_rows(rows: Sequence[Mapping[str, str]], noise: str, row: Row) -> Model | None:
    """Fit rows as a user's CSV, so that an engine takes the columns that it knows."""
    sigma, repeats = NOISE[noise]
    dice = np.random.default_rng(1)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "measured.csv"
        with path.open("w", newline="") as stream:
            names = [name for name in rows[0] if name != "b" or rows[0]["op"] != "barrier"]
            writer = csv.DictWriter(stream, names, extrasaction="ignore")
            writer.writeheader()
            for one in rows:
                for factor in dice.lognormal(0, sigma, repeats).tolist():
                    writer.writerow({**one, "seconds": repr(float(one["seconds"]) * factor)})
        return _fitted(path, row)


def _asked(model: Model, rows: Sequence[Mapping[str, str]]) -> Questions:
    names = [
        name
        for name in ("p", "b", "nodes", "ppn")
        if name in rows[0] and (name in ("p", "b") or name in model.variables)
    ]
    if rows[0]["op"] == "barrier":
        names.remove("b")
    columns = {name: np.array([float(row[name]) for row in rows]) for name in names}
    return Questions(columns, np.array([float(row["seconds"]) for row in rows]))


def main() -> None:
    """Run this benchmark alone."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=20, help="draws of each truth")
    parser.add_argument("--only", default="", help="truths and files that match, e.g. 'tree|mpich'")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures to a file")
    parser.add_argument("--against", type=Path, metavar="FILE", help="what --json wrote before")
    options = parser.parse_args()
    modelling(options.draws, options.only, options.json, options.against)


if __name__ == "__main__":
    main()
