"""ReFrame check: measures a latency map and fails if a node, rank or pair is slow for its level.

    reframe -C site.py -c latency_map.py -r
    reframe -C site.py -c latency_map.py -r -S LatencyMap.num_tasks=256

`isochrone` has to be on PATH in the job; it knows where its probe is (`isochrone build`). What a
failure says is what `isochrone check` says: which part is slow, by how much, on which hosts. What
is not known fails, too: give six ranks or more on four nodes or more, or a baseline.

Times fail only if they are told what they should be. Take those of a good night, in microseconds:

    reframe … -S LatencyMap.nearest_us=0.9 -S LatencyMap.farthest_us=4.1

or let the runs of earlier nights say it (`isochrone baseline add nights map.jsonl`):

    reframe … -S LatencyMap.baseline=/path/to/nights
"""

import json
import shlex
from pathlib import Path

import reframe as rfm
from reframe.core.exceptions import SanityError

LINES = 20
"""As many lines of what a failed command said are shown."""


@rfm.simple_test
class LatencyMap(rfm.RunOnlyRegressionTest):
    """Fail if a node, rank or pair is slow for its level, or slower than it was."""

    descr = "Latency map of all ranks"
    valid_systems = ["*"]  # noqa: RUF012 (ReFrame reads class variables)
    valid_prog_environs = ["*"]  # noqa: RUF012
    num_tasks = 8
    sourcesdir = None
    executable = '"$probe"'
    keep_files = ["map.jsonl", "check.json", "bad-hosts.txt"]  # noqa: RUF012

    experiment = variable(str, value="latency-map")  # noqa: F821 (ReFrame puts these here)
    baseline = variable(str, value="")  # noqa: F821
    nearest_us = variable(float, value=0.0)  # noqa: F821
    farthest_us = variable(float, value=0.0)  # noqa: F821
    tolerance = variable(float, value=0.25)  # noqa: F821

    @run_before("run")  # noqa: F821
    def write_job(self):
        """Measure, then judge; each command leaves its exit status behind."""
        self.executable_opts = [*shlex.split(self.experiment), "--out", "map.jsonl"]
        check = "isochrone check map.jsonl --hosts-out bad-hosts.txt --json"
        if self.baseline:
            check += f" --baseline {shlex.quote(self.baseline)}"
        self.prerun_cmds = [
            "rm -f map.jsonl bad-hosts.txt *.json *.status",  # --dont-restage
            """probe=$(isochrone build | sed -n 's/^probe *//p')""",
            "probe=${probe:-isochrone-probe}",
        ]
        self.postrun_cmds = [
            "echo $? > measure.status",
            f"{check} > check.json 2> check.err; echo $? > check.status",
            "isochrone show map.jsonl --json > show.json 2> show.err; echo $? > show.status",
        ]

    @run_before("performance")  # noqa: F821
    def set_references(self):
        """Take what times should be from the command line, if it is there."""
        for name, usec in (("nearest", self.nearest_us), ("farthest", self.farthest_us)):
            if usec > 0:
                self.reference[f"{self.current_system.name}:{name}"] = (
                    usec, None, self.tolerance, "us",
                )  # fmt: skip

    @sanity_function  # noqa: F821
    def nothing_is_slow(self):
        """Look at exit statuses before anything is parsed, and say why it failed."""
        self.ended_well("measure", "isochrone-probe", (0,), str(self.stderr))
        self.ended_well("check", "isochrone check", (0, 1, 4), "check.err")
        self.ended_well("show", "isochrone show", (0,), "show.err")
        found = self.document("check.json")
        if found["exit"] != 0:
            raise SanityError(evidence(found))
        return True

    @performance_function("us")  # noqa: F821
    def nearest(self):
        """Round trip at the nearest level."""
        return self.document("show.json")["levels"][0]["median"] * 1e6

    @performance_function("us")  # noqa: F821
    def farthest(self):
        """Round trip at the farthest level."""
        return self.document("show.json")["levels"][-1]["median"] * 1e6

    def ended_well(self, step, command, good, log):
        """Fail with what a command said, if it did not end as it should."""
        status = self.text(f"{step}.status").strip()
        if status not in map(str, good):
            lines = self.text(log).strip().splitlines()[-LINES:]
            said = "\n".join(lines) or "it said nothing"
            why = f"ended with status {status}" if status else "was not reached"
            raise SanityError(f"{command} {why}:\n{said}")

    def document(self, name):
        """Return one JSON document."""
        try:
            return json.loads(self.text(name))
        except ValueError as error:
            raise SanityError(f"{name} is no JSON: {error}") from error

    def text(self, name):
        """Return what a file of the job holds; nothing if there is none."""
        path = Path(self.stagedir, name)
        return path.read_text(errors="replace") if path.is_file() else ""


def evidence(found):
    """Say what is slow, by how much and where, as `isochrone check` does."""
    lines = [f"verdict: {found['verdict']}"]
    for run in found["runs"]:
        lines += [
            f"{one['verdict']}: {one['who']}: {one['evidence']}"
            for one in run["findings"]
            if not one["allowed"]
        ]
        lines += [f"not known: {doubt}" for doubt in run["doubts"]]
    if found["bad_hosts"]:
        lines.append(f"bad hosts: {', '.join(found['bad_hosts'])}")
    return "\n".join(lines)
