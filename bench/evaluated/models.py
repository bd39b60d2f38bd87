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

import isochrone
from evaluated import baselines
from evaluated.section import TIMEOUT, Bed, Section, Table, chart, label, percent
from isochrone.base.errors import InputError
from made_up.library_laws import asked, known_law, library_law, measured

TITLE = "Models against simple baselines"
PLACES = ("inside", "between", "2x", "4x", "8x")
OURS, EXTRAP, FORM, POWER = "Isochrone", "Extra-P", "normal form of Extra-P", "power law"
MODELS = (OURS, EXTRAP, FORM, POWER)
COLUMNS = ("laws", "model", "where", "laws answered", "mean error", "median error", "coverage of interval",
           "interval score")  # fmt: skip

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
        if found[kind, model, PLACES[0]]:
            rows += [_row(found, kind, model, place) for place in PLACES]
    if not bed.peers:
        rows += [row for row in bed.measured_before("models") if row[1] == EXTRAP]
        rows.sort(key=lambda row: (row[0], MODELS.index(row[1])))
    ours, form = (_middle(found, "unseen", model, "4x") for model in (OURS, FORM))
    ours_known, form_known = (_middle(found, "known", model, "4x") for model in (OURS, FORM))
    held = {kind: _mean(found, kind, OURS, "4x", "covers") for kind in ("known", "unseen")}
    return Section(
        f"{len(seeds)} laws from families that Isochrone has (known), and {len(seeds)} that follow "
        "algorithms of MPI libraries and belong to no family (unseen). Each is measured with noise on "
        "up to 32 or 64 ranks and asked for up to 8 times as many. Extra-P has its defaults; "
        "its normal form was also programmed here, with two terms and relative residuals.",
        [f"At 4x the ranks the median error of unseen laws is {percent(ours)}, that of the normal "
         f"form {percent(form)}; of known laws {percent(ours_known)} and {percent(form_known)}. The "
         f"95 % interval covers the truth at {percent(held['known'])} of the points of known and "
         f"{percent(held['unseen'])} of unseen laws.", *_found_by_extrap(rows)],
        [*_fails(found, held, refused), *failed],
        [Table("models", COLUMNS, rows, shown=40)],
        _figure(found),
    )  # fmt: skip


def _found_by_extrap(rows: list[tuple[object, ...]]) -> list[str]:
    """Say what its rows say, also if they were measured before."""
    median = {row[0]: row[5] for row in rows if row[1] == EXTRAP and row[2] == "4x"}
    if not median:
        return []
    return [
        f"Extra-P itself has a median error of {median['unseen']} and {median['known']}, and gives no intervals. "
        "It minimises absolute errors, so that the relative errors of small times are large."
    ]


def _with_extrap(bed: Bed, found: Scores, cases: list[dict[str, Any]]) -> list[str]:
    """Score Extra-P, if it is given, on all laws at once; return what failed."""
    if "extrap" not in bed.peers:
        return []
    script = Path(__file__).with_name("extrap_fit.py")
    asked_of_it = [{key: case[key] for key in ("p", "b", "seconds", "asked")} for case in cases]
    answer = subprocess.run([bed.peers["extrap"], script], input=json.dumps(asked_of_it), text=True,
                            capture_output=True, timeout=TIMEOUT, check=True)  # fmt: skip
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
    case: dict[str, Any] = {"kind": kind, "p": p.tolist(), "b": b.tolist(), "asked": {}, "truth": {},
                            "seconds": samples.seconds.tolist()}  # fmt: skip
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
        more = (percent(_mean(found, kind, model, place, "covers")),
                f"{_mean(found, kind, model, place, 'score'):.2f}")  # fmt: skip
    return kind, model, place, len(own), percent(np.mean(errors)), percent(np.median(errors)), *more


def _mean(found: Scores, kind: str, model: str, place: str, what: str) -> float:
    return float(np.mean([one[what] for one in found[kind, model, place]]))


def _middle(found: Scores, kind: str, model: str, place: str) -> float:
    return float(np.median([one["error"] for one in found[kind, model, place]]))


def _fails(found: Scores, held: dict[str, float], refused: int) -> list[str]:
    said = []
    for kind, place in product(held, PLACES):
        share = _mean(found, kind, OURS, place, "covers")
        if share < 0.95:
            said.append(
                f"Intervals of {kind} laws cover {percent(share)} of the points ({place}), not 95 %."
            )
    for kind, model in product(held, (EXTRAP, FORM)):
        worse = [place for place in PLACES if found[kind, model, place]
                 and _middle(found, kind, model, place) < _middle(found, kind, OURS, place)]  # fmt: skip
        if worse:
            said.append(
                f"{model} has the smaller median error on {kind} laws at: {', '.join(worse)}."
            )
    worst = max(one["error"] for one in found["unseen", OURS, "8x"])
    said.append(f"At 8x the ranks the largest error of an unseen law is {percent(worst)}.")
    said.append(
        "Known laws are drawn from Isochrone's own families, and a normal form has one segment: "
        "the comparison favours Isochrone."
    )
    if refused:
        said.append(f"{refused} laws are refused: too few points for any formula.")
    return said


def _figure(found: Scores) -> tuple[object, str]:
    figure, panels = chart(7.2, 3.2, 2)
    for axes, kind in zip(panels, ("known", "unseen"), strict=True):
        for model in MODELS:
            if not found[kind, model, PLACES[0]]:
                continue
            axes.plot(PLACES, [100 * _middle(found, kind, model, place) for place in PLACES],
                      marker="o", label=model)  # fmt: skip
        axes.set_yscale("log")
        label(axes, f"points asked for, {kind} laws", "median error, %")
    return figure, "Median error of models where nothing was measured"
