"""A ReFrame check: a latency map, its levels as performance variables, and nothing slow.

    reframe -C site.py -c latency_map.py -r
"""

import json

import reframe as rfm
import reframe.utility.sanity as sn


@rfm.simple_test
class LatencyMap(rfm.RunOnlyRegressionTest):
    """Fails if a node, rank or pair is slow for its level."""

    descr = "Latency map of all ranks"
    valid_systems = ["*"]
    valid_prog_environs = ["*"]
    num_tasks = variable(int, value=4)  # noqa: F821 (a ReFrame builtin)
    sourcesdir = None
    executable = "isochrone-probe"
    executable_opts = ["latency-map", "--out", "map.jsonl"]
    postrun_cmds = ["isochrone show map.jsonl --json > map.json"]
    keep_files = ["map.jsonl", "map.json"]

    @deferrable  # noqa: F821
    def found(self):
        """Return what `isochrone show` says."""
        with open(f"{self.stagedir}/map.json") as stream:
            return json.load(stream)

    @sanity_function  # noqa: F821
    def nothing_is_slow(self):
        """Name what is slow, if anything is."""
        found = self.found()
        return sn.all([sn.assert_true(found["complete"]), sn.assert_eq(found["slow"], [])])

    @performance_function("us")  # noqa: F821
    def nearest(self):
        """Round trip at the closest level."""
        return self.found()["levels"][0]["median"] * 1e6

    @performance_function("us")  # noqa: F821
    def farthest(self):
        """Round trip at the farthest level."""
        return self.found()["levels"][-1]["median"] * 1e6
