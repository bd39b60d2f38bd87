"""Records of a synchronisation of clocks: offsets, which every kind of result may have."""

from isochrone.runfile.records import Result

RESULT = Result(experiments={"clock-sync": {}}, separated=True)
