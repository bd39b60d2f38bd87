"""Models of random laws: errors and intervals where nothing was measured, against baselines."""

from __future__ import annotations

import json
import subprocess
import warnings
from collections import defaultdict
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from extrapolation import _scores
from matplotlib.figure import Figure

import isochrone
from evaluated import baselines
from evaluated.section import (
    TIMEOUT,
    Bed,
    Page,
    Rows,
    Section,
    Table,
    chart,
    label,
    leading,
    percent,
    span,
)
from isochrone.base.errors import InputError
from made_up.library_laws import asked, known_law, library_law, measured

TITLE = "Models, compared with Extra-P and simple formulas"
TABLES = ("models",)
CAPTION = "Median error of models where nothing was measured"
PLACES = {"inside": "ranks between", "between": "sizes between", "2x": "2x", "4x": "4x", "8x": "8x"}
"""Points asked for, and their names in the tables."""
OURS, EXTRAP, FORM, POWER = "Isochrone", "Extra-P", "normal form of Extra-P", "power law"
MODELS = (OURS, EXTRAP, FORM, POWER)
COLUMNS = (
    "laws",
    "model",
    "where",
    "laws answered",
    "mean error",
    "median error",
    "coverage of interval",
    "interval score",
)

REAL = """**Real machines.** Others measured 19 tables of collectives: on a POWER9 cluster, three clouds, and partitions with EPYC and
Xeon processors. Part of each table is fitted, and the rest is predicted (`bench/field_models.py`). The rival is what a user would try in a
spreadsheet: a straight line between the neighbours, or a power law of each size. These tables are not part of the checkout.

| question | tables | Isochrone | rival | Isochrone is better | interval covers | interval score | interval score at first |
| --- | --- | --- | --- | --- | --- | --- | --- |
| ranks between | 11 | 15.7 % | 15.7 % | 4 | 97 % | 1.4 | 2.7 |
| 2x | 17 | 43 % | 37 % | 10 | 93 % | 3.7 | 7.0 |
| 4x | 15 | 47 % | 42 % | 9 | 93 % | 3.5 | 6.0 |

Errors are medians. The *interval score* (Gneiting and Raftery 2007) of the logarithm of a time is its width, and 40 times what lies outside:
less is better. The rules were chosen on these tables and on half of 63 others, so this is no test on unseen data.

**Generated laws.** """
"""Measured with `bench/field_models.py`, which needs data that are not in the checkout."""

Scores = dict[tuple[str, str, str], list[dict[str, float]]]


def evaluate(bed: Bed) -> Section:
    """Fit random laws with each model, and ask for what was not measured."""
    found: Scores = defaultdict(list)
    cases: list[dict[str, Any]] = []
    refused = 0
    seeds = range(7000, 7000 + bed.many(12, 96))
    for seed in seeds:
        for kind, law in (("known", known_law(seed)), ("unseen", library_law(seed))):
            refused += _one(found, cases, kind, law, seed)
    failed = _with_extrap(bed, found, cases)
    rows = []
    for kind, model in product(("known", "unseen"), MODELS):
        if found[kind, model, "inside"]:
            rows += [_row(found, kind, model, place) for place in PLACES]
    if not bed.peers:
        rows += [row for row in bed.measured_before("models") if row[1] == EXTRAP]
        rows.sort(key=lambda row: (row[0], MODELS.index(row[1])))
    if refused:
        failed.append(f"{refused} laws are refused: too few points for any formula.")
    worst = max(one["error"] for one in found["unseen", OURS, "8x"])
    facts = {"laws": str(len(seeds)), "largest": percent(worst)}
    return Section([Table("models", COLUMNS, rows)], facts, failed, _figure(rows))


def page(facts: dict[str, str], tables: dict[str, Rows]) -> Page:
    """Say what the table shows."""
    rows = tables["models"]
    median = {row[:3]: row[5] for row in rows}
    table = []
    for kind, model in product(("known", "unseen"), MODELS):
        own = [row for row in rows if row[:2] == (kind, model)]
        if own:
            covers = "–" if own[0][6] == "–" else span([row[6] for row in own])
            table.append(
                (kind, model, *(median[kind, model, place] for place in PLACES.values()), covers)
            )
    ours = median["unseen", OURS, "4x"]
    return Page(
        "How accurate are models outside the measured range?",
        f"median error at 4x the ranks: 47 % on real machines, {median['known', OURS, '4x']} for formulas that Isochrone knows, {ours} for others",
        "on real machines, a power law of each size is as good, and intervals are a factor of 3.7",
        f"{REAL}A *law* is a synthetic formula for the time of an operation. {facts['laws']} laws are *known*: they come from "
        f"model families of Isochrone. {facts['laws']} are *unseen*: they follow algorithms of MPI libraries, and "
        "no family contains them. Models are fitted to noisy times of each law, on up to 32 or 64 ranks. The table has the median error "
        "at other points:\n\n"
        "- *ranks between*: numbers of ranks between the measured numbers;\n"
        "- *sizes between*: message sizes between the measured sizes;\n"
        "- *2x*, *4x*, *8x*: multiples of the largest measured number of ranks.\n\n"
        "*Interval covers* is the share of true times in the 95 % prediction interval. The share "
        "differs between the five columns, so the table has the smallest and the largest one.\n\n"
        "Extra-P has its default settings. It minimises absolute errors, so small times have "
        "large relative errors. Therefore the table also has "
        "the *normal form of Extra-P*: a formula of the same kind, but fitted to relative errors.",
        ("laws", "model", *PLACES.values(), "interval covers"),
        table,
        "",
        [
            *_fails(rows),
            f"At 8x the ranks, the largest error of Isochrone on an unseen law is {facts['largest']}.",
            "The comparison favours Isochrone, because it has the formulas of the known laws. Only Isochrone may use several formulas, each for a range of sizes.",
        ],
    )


def _with_extrap(bed: Bed, found: Scores, cases: list[dict[str, Any]]) -> list[str]:
    """Score Extra-P, if it is given, on all laws at once; return what failed."""
    if "extrap" not in bed.peers:
        return []
    script = Path(__file__).with_name("extrap_fit.py")
    asked_of_it = [{key: case[key] for key in ("p", "b", "seconds", "asked")} for case in cases]
    answer = subprocess.run(
        [bed.peers["extrap"], script],
        input=json.dumps(asked_of_it),
        text=True,
        capture_output=True,
        timeout=TIMEOUT,
        check=True,
    )
    failed = 0
    for case, said in zip(cases, json.loads(answer.stdout), strict=True):
        failed += said is None
        for place, seconds in (said or {}).items():
            error = float(np.mean(np.abs(np.array(seconds) / case["truth"][place] - 1)))
            found[case["kind"], EXTRAP, place].append({"error": error})
    return [f"Extra-P gives no model of {failed} of {len(cases)} laws."] if failed else []


def _one(found: Scores, cases: list[dict[str, Any]], kind: str, law: Any, seed: int) -> int:
    """Score all models on one law, and keep it for Extra-P; return 1 if Isochrone refuses it."""
    design = ("mixed", "mixed to 32")[seed // 12 % 2]
    samples = measured(law, design, seed)
    p, b = samples.variables["p"], samples.variables.get("b", np.zeros(len(samples.seconds)))
    lost = 0
    case: dict[str, Any] = {
        "kind": kind,
        "p": p.tolist(),
        "b": b.tolist(),
        "asked": {},
        "truth": {},
        "seconds": samples.seconds.tolist(),
    }
    cases.append(case)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model = isochrone.fit(samples)
        except InputError:
            model, lost = None, 1
        for place, (variables, truth) in asked(law, design).items():
            if place not in PLACES:
                continue
            points = variables["p"], variables.get("b", np.zeros(len(truth)))
            case["asked"][place] = [points[0].tolist(), points[1].tolist()]
            case["truth"][place] = truth
            said = {FORM: baselines.normal_form(p, b, samples.seconds, *points)}
            power = baselines.power_law(p, b, samples.seconds, *points)
            said_power = SimpleNamespace(seconds=power[0], low=power[1], high=power[2])
            found[kind, POWER, place].append(_scores(said_power, truth))
            if model is not None:
                ours = _scores(model.predict(variables), truth)
                if ours["answered"]:
                    found[kind, OURS, place].append(ours)
            error = float(np.mean(np.abs(said[FORM] / truth - 1)))
            found[kind, FORM, place].append({"error": error})
    return lost


def _row(found: Scores, kind: str, model: str, place: str) -> tuple[object, ...]:
    own = found[kind, model, place]
    errors = [one["error"] for one in own]
    more: tuple[str, ...] = ("–", "–")
    if own and "score" in own[0]:
        more = (
            percent(_mean(found, kind, model, place, "covers")),
            f"{_mean(found, kind, model, place, 'score'):.2f}",
        )
    return (
        kind,
        model,
        PLACES[place],
        len(own),
        percent(np.mean(errors)),
        percent(np.median(errors)),
        *more,
    )


def _mean(found: Scores, kind: str, model: str, place: str, what: str) -> float:
    return float(np.mean([one[what] for one in found[kind, model, place]]))


def _fails(rows: Rows) -> list[str]:
    said = []
    for kind, model, place, *_, covers, _score in rows:
        if model == OURS and leading(covers) < 95:
            said.append(
                f"Isochrone's 95 % intervals of {kind} laws cover only {covers} of the points in column *{place}*."
            )
    median = {row[:3]: leading(row[5]) for row in rows}
    for kind, model in product(("known", "unseen"), (EXTRAP, FORM)):
        worse = [
            place
            for place in PLACES.values()
            if median.get((kind, model, place), np.inf) < median[kind, OURS, place]
        ]
        if worse:
            said.append(
                f"{model} has the smaller median error on {kind} laws at: {', '.join(worse)}."
            )
    return said


def _figure(rows: Rows) -> Figure:
    median = {row[:3]: leading(row[5]) for row in rows}
    figure, panels = chart(7.2, 3.2, 2)
    for axes, kind in zip(panels, ("known", "unseen"), strict=True):
        for model in MODELS:
            if (kind, model, "2x") not in median:
                continue
            axes.plot(
                [place.replace(" ", "\n") for place in PLACES.values()],
                [median[kind, model, place] for place in PLACES.values()],
                marker="o",
                label=model,
            )
        axes.set_yscale("log")
        label(axes, f"points asked for, {kind} laws", "median error, %")
    panels[-1].get_legend().remove()  # it would hide points, and is the same
    return figure
