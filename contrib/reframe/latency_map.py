"""ReFrame check: measures a latency map, reports its levels, and fails if anything is slow.

reframe -C site.py -c latency_map.py -r
"""

import json
from pathlib import Path

import reframe as rfm
import reframe.utility.sanity as sn


@rfm.simple_test
class LatencyMap(rfm.RunOnlyRegressionTest):
    """Fail if a node, rank or pair is slow for its level."""

    descr = "Latency map of all ranks"
    valid_systems = ["*"]  # noqa: RUF012 (ReFrame reads class variables)
    valid_prog_environs = ["*"]  # noqa: RUF012
    num_tasks = 4  # reframe -S LatencyMap.num_tasks=256 for more
    sourcesdir = None
    executable = "isochrone-probe"
    executable_opts = ["latency-map", "--out", "map.jsonl"]  # noqa: RUF012
    postrun_cmds = ["isochrone show map.jsonl --json > map.json"]  # noqa: RUF012
    keep_files = ["map.jsonl", "map.json"]  # noqa: RUF012

    @deferrable  # noqa: F821
    def found(self):
        """Return the analysis by `isochrone show`."""
        return json.loads(Path(self.stagedir, "map.json").read_text())

    @sanity_function  # noqa: F821
    def nothing_is_slow(self):
        """Check that the run is complete and nothing is slow."""
        found = self.found()
        return sn.all([sn.assert_true(found["complete"]), sn.assert_eq(found["slow"], [])])

    @performance_function("us")  # noqa: F821
    def nearest(self):
        """Round trip at the nearest level."""
        return self.found()["levels"][0]["median"] * 1e6

    @performance_function("us")  # noqa: F821
    def farthest(self):
        """Round trip at the farthest level."""
        return self.found()["levels"][-1]["median"] * 1e6
