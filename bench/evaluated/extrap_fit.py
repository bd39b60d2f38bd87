"""Model with Extra-P, by its defaults: run by a Python that has it, JSON in and out.

Reads a list of ``{"p": […], "b": […], "seconds": […], "asked": {place: [[p…], [b…]]}}`` and writes a
list of ``{place: [seconds…]}``, or null where Extra-P fails.
"""

import json
import sys
import warnings
from collections import defaultdict

from extrap.entities.callpath import Callpath
from extrap.entities.coordinate import Coordinate
from extrap.entities.experiment import Experiment
from extrap.entities.measurement import Measurement
from extrap.entities.metric import Metric
from extrap.entities.parameter import Parameter
from extrap.modelers.model_generator import ModelGenerator


def answered(case):
    """Return times where they are asked for. A column that does not vary is no parameter."""
    names = [name for name in ("p", "b") if len(set(case[name])) > 1]
    points = defaultdict(list)
    for place, seconds in zip(
        zip(*(case[name] for name in names), strict=True), case["seconds"], strict=True
    ):
        points[place].append(seconds)
    experiment, path, metric = Experiment(), Callpath("operation"), Metric("time")
    experiment.add_callpath(path)
    experiment.add_metric(metric)
    for name in names:
        experiment.add_parameter(Parameter(name))
    for place, seconds in sorted(points.items()):
        where = Coordinate(*place)
        experiment.add_coordinate(where)
        experiment.add_measurement(Measurement(where, path, metric, seconds))
    generator = ModelGenerator(experiment)
    generator.model_all()
    function = generator.models[path, metric].hypothesis.function
    found = {}
    for place, (p, b) in case["asked"].items():
        columns = {"p": p, "b": b}
        rows = zip(*(columns[name] for name in names), strict=True)
        found[place] = [
            float(function.evaluate(list(row) if len(row) > 1 else row[0])) for row in rows
        ]
    return found


def main():
    """Answer all cases."""
    warnings.simplefilter("ignore")
    said = []
    for case in json.load(sys.stdin):
        try:
            said.append(answered(case))
        except Exception as error:  # a law that Extra-P cannot model is a result
            print(f"{type(error).__name__}: {error}", file=sys.stderr)
            said.append(None)
    json.dump(said, sys.stdout)


if __name__ == "__main__":
    main()
