"""Records of a latency map: pairs, which every kind of result may have."""

from isochrone.runfile.records import Result

RESULT = Result(
    experiments={"latency-map": {}, "synthetic": {"made_up": True}},
    foreign=("sample",),
    renamed={"order": "schedule"},
    separated=True,
)
